/** The side of the application: answers the events that a service sends over HTTP. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Endpoint, ServiceAccess, ServicePass } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { AccessTokens } from '../../wire/connect/accessTokens';
import { RestCalls } from '../../wire/rest/restCalls';
import {
  listenOnLoopback,
  loopbackHost,
  loopbackServer,
  stopServer,
  readBody,
} from '../http/loopbackServer';
import { answerHubEvent, isSigned, wrongSignature, type Application } from './hubEvents';

/** Longest event; the services carry at most 1 MB, in JSON of Web PubSub a third more for base64. */
const maximumBodyBytes = 2 * 1024 * 1024;

interface HandlerSettings {
  readonly endpoint: Endpoint;
  readonly service: ServiceAccess;
  readonly publicHost?: string;
}

/**
 * The handler as its process starts it.
 * @param settings {@link HandlerSettings} as JSON, from the process that runs the load
 * @throws ExpectedError as {@link startUpstreamHandler}, and when there are no settings
 */
export function upstreamHandler(
  settings: string | undefined,
  port: number,
  onProblem: (text: string) => void,
): Promise<UpstreamHandler> {
  if (settings === undefined)
    throw new ExpectedError('upstream', 'An upstream handler is started by runs that need one.');
  const { endpoint, service, publicHost } = JSON.parse(settings) as HandlerSettings;
  return startUpstreamHandler(endpoint, service, port, onProblem, publicHost);
}

interface UpstreamHandler {
  readonly url: string;
  /** From now on its calls show tokens made with this pass. */
  renew(pass: ServicePass): void;
  dispose(): Promise<void>;
}

/**
 * Serves the application's side of both services on loopback: what clients send comes as HTTP requests,
 * and is answered as the bench methods of a hub are.
 * @param endpoint how to reach the service's REST API
 * @param port 0 takes any free one
 * @param onProblem gets why an event was not answered as it should be
 * @param publicHost under which a service elsewhere reaches it: that of a tunnel
 * @throws ExpectedError `port-taken` or `port-refused`
 */
export async function startUpstreamHandler(
  endpoint: Endpoint,
  service: ServiceAccess,
  port: number,
  onProblem: (text: string) => void,
  publicHost?: string,
): Promise<UpstreamHandler> {
  const accessKey = 'accessKey' in service ? service.accessKey : undefined;
  const tokens = new AccessTokens(service);
  const calls = new RestCalls(endpoint, service, tokens);
  const answer = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
    const application = { accessKey, calls, onProblem };
    if (isCloudEvent(request)) answerCloudEvent(request, response, body, application);
    else void answerHubEvent(request, response, body, application);
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.method === 'OPTIONS') {
      agreeToEvents(response);
      return;
    }
    const tooLong = (): void => {
      response.writeHead(413, { Connection: 'close', 'Content-Length': 0 });
      response.end();
    };
    readBody(
      request,
      response,
      maximumBodyBytes,
      (body) => answer(request, response, body),
      tooLong,
    );
  };
  const server = loopbackServer({ answer: handle, publicHost });
  const taken = await listenOnLoopback(server, port);
  return {
    url: `http://${loopbackHost}:${taken}/`,
    renew: (pass) => tokens.renew(pass),
    dispose: () => {
      calls.close();
      return stopServer(server);
    },
  };
}

const isCloudEvent = ({ headers }: IncomingMessage): boolean => headers['ce-type'] !== undefined;

/** The handshake against abuse: this handler agrees to get events from whoever can sign them. */
function agreeToEvents(response: ServerResponse): void {
  response.writeHead(200, { 'WebHook-Allowed-Origin': '*', 'Content-Length': 0 });
  response.end();
}

/**
 * Answers an event of Azure Web PubSub: what a client sends goes back to it, everything else is let be.
 * Source: "CloudEvents extension for Azure Web PubSub", heading "Events".
 */
function answerCloudEvent(
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
