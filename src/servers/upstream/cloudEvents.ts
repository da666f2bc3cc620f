import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Application } from './hubEvents';
import { isSigned, wrongSignature } from './signatureCheck';

/** Whether a request belongs to Azure Web PubSub; all of its events have this header. */
export const isCloudEvent = ({ headers }: IncomingMessage): boolean =>
  headers['ce-type'] !== undefined;

/** The handshake against abuse: this handler agrees to get events from whoever can sign them. */
export function agreeToEvents(response: ServerResponse): void {
  response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'Content-Length': 0 });
  response.end();
}

/**
 * Answers an event of Azure Web PubSub: what a client sends goes back to it, everything else is let be.
 * Source: "CloudEvents extension for Azure Web PubSub", heading "Events".
 */
export function answerCloudEvent(
  { headers }: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  { accessKey, onProblem }: Pick<Application, 'accessKey' | 'onProblem'>,
): void {
  const header = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  if (!isSigned(header('ce-signature'), header('ce-connectionid'), accessKey)) {
    onProblem(wrongSignature);
    response.writeHead(401, { 'Content-Length': 0 });
    response.end();
  } else if (header('ce-type')?.startsWith('azure.webpubsub.user.') === true && body.length > 0) {
    response.writeHead(200, {
      'Content-Type': headers['content-type'] ?? 'application/octet-stream',
      'Content-Length': body.length,
    });
    response.end(body);
  } else {
    response.writeHead(204);
    response.end();
  }
}
