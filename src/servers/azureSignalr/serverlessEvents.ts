import { inBackground } from '../../base/async';
import { isUtf8 } from 'node:buffer';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';
import { type Envelope, hubMessageType } from '../../wire/message/hubMessage';
import type { UpstreamTemplate } from '../service/emulatorOptions';
import {
  fillUrlTemplate,
  matchesPattern,
  encodeHeaderValue,
  UpstreamHandlers,
  type UrlRefusal,
  type UpstreamAnswer,
} from '../service/upstreamCalls';
import { HubConnection, type ConnectionHost } from '../hub/hubConnection';
import type { HubTransport } from '../http/transports';
import {
  claimPairs,
  closeWithTokenMs,
  handshakeTimeoutMs,
  type ClientIdentity,
} from './clientIdentity';
import type { ServiceClient } from './serviceHub';

/** Clients could not read anything but whole completions. */
function areCompletions(protocol: ServerProtocol, body: Buffer): boolean {
  if (protocol.isText && !isUtf8(body)) return false;
  for (let start = 0; start < body.length;) {
    const end = protocol.messageEnd(undefined, body, start, body.length);
    if (typeof end === 'string') return false;
    if (protocol.read(body, start, end)?.type !== hubMessageType.completion) return false;
    start = end;
  }
  return true;
}

function answerFrame(protocol: ServerProtocol, id: string, answer: UpstreamAnswer): Buffer {
  if ('failure' in answer) {
    return protocol.errorFrame(id, `Invocation failed. ${answer.failure}`);
  }
  const { status, body } = answer;
  if (status !== 200 && status !== 204) {
    return protocol.errorFrame(id, `Invocation failed, status code ${status}`);
  }
  if (status === 204 || body.length === 0) return protocol.streamEndFrame(id);
  if (!areCompletions(protocol, body)) {
    const error = 'Invocation failed, the answer of the upstream is not a completion.';
    return protocol.errorFrame(id, error);
  }
  return protocol.frame(body);
}

/** A client in serverless mode: the service answers it, and calls the upstream. */
export class ServerlessClient extends HubConnection implements ServiceClient {
  isWaitingForUpstream = false;

  constructor(
    id: string,
    host: ConnectionHost,
    transport: HubTransport,
    readonly identity: ClientIdentity,
  ) {
    super(id, host, transport, handshakeTimeoutMs(identity.claims));
  }

  get userId(): string | undefined {
    return this.identity.userId;
  }

  get protocolName(): string {
    return this.protocol.name;
  }

  override tick(nowMs: number, epochMs?: number): void {
    super.tick(nowMs);
    if ((epochMs ?? 0) >= (closeWithTokenMs(this.identity.claims) ?? Infinity)) {
      this.close('The access token has expired.');
    }
  }

  protected override get isFull(): boolean {
    return this.isWaitingForUpstream;
  }
}

/** As in Microsoft's emulator. */
const maxAnswerBytes = 16 * 1024 * 1024;
const maxHeaderChars = 8 * 1024;
const shortHeader = (text: string): string => encodeHeaderValue(text.slice(0, maxHeaderChars));

interface UpstreamEvent {
  readonly category: 'connections' | 'messages';
  readonly event: string;
  readonly contentType: 'application/json' | 'application/x-msgpack';
  readonly body: Buffer;
  readonly answered?: (answer: UpstreamAnswer) => void;
}

export class SignalrUpstream extends UpstreamHandlers<UpstreamTemplate> {
  constructor(
    templates: readonly UpstreamTemplate[],
    timeoutMs: number,
    accessKeys: () => readonly string[],
  ) {
    super(templates, { timeoutMs, maxAnswerBytes }, accessKeys);
  }

  sendInvocation(client: ServerlessClient, message: Envelope): void {
    const { target, invocationId, bytes, start, end } = message;
    const { protocol } = client;
    if (message.type === hubMessageType.streamInvocation) {
      const error = `A service in serverless mode has no streams, such as '${target}'.`;
      client.write(protocol.errorFrame(invocationId ?? '', error));
      return;
    }
    const url = this.urlFor(client.identity.hub, 'messages', target);
    // As in Microsoft's emulator, an unwanted message gets no completion.
    if (url === undefined) return;
    const answered = (answer: UpstreamAnswer): void => {
      if (invocationId !== undefined) client.write(answerFrame(protocol, invocationId, answer));
    };
    if ('failure' in url) {
      answered(url);
      return;
    }
    const contentType = protocol.isText ? 'application/json' : 'application/x-msgpack';
    const body = bytes.subarray(start, end);
    const event = { category: 'messages', event: target, contentType, body, answered } as const;
    this.post(url, client, event);
  }

  sendConnectionEvent(event: 'connected' | 'disconnected', client: ServerlessClient): void {
    const url = this.urlFor(client.identity.hub, 'connections', event);
    if (url === undefined || 'failure' in url) return;
    const body = Buffer.from(JSON.stringify({ type: event === 'connected' ? 10 : 11 }));
    const contentType = 'application/json';
    this.post(url, client, { category: 'connections', event, contentType, body });
  }

  private urlFor(hub: string, category: string, event: string): URL | UrlRefusal | undefined {
    const template = this.handlersOf(hub).find(
      ({ hubs, categories, events }) =>
        matchesPattern(hubs, hub) &&
        matchesPattern(categories, category) &&
        matchesPattern(events, event),
    );
    return template && fillUrlTemplate(template.url, { hub, category, event });
  }

  private post(url: URL, client: ServerlessClient, upstreamEvent: UpstreamEvent): void {
    const { category, event, contentType, body, answered } = upstreamEvent;
    const { hub, userId, claims, query } = client.identity;
    const pairs = claimPairs(claims).map(([type, value]) => `${type}: ${value}`);
    const headers = {
      'Content-Type': contentType,
      'Content-Length': String(body.length),
      'X-ASRS-Connection-Id': client.id,
      'X-ASRS-Hub': hub,
      'X-ASRS-Category': category,
      'X-ASRS-Event': shortHeader(event),
      ...(userId !== undefined && { 'X-ASRS-User-Id': shortHeader(userId) }),
      ...(pairs.length > 0 && { 'X-ASRS-User-Claims': shortHeader(pairs.join(', ')) }),
      ...(query !== '' && { 'X-ASRS-Client-Query': shortHeader(query) }),
      'X-ASRS-Signature': this.signature(client.id),
    };
    client.isWaitingForUpstream = true;
    inBackground(
      this.call({ method: 'POST', url, headers, body }).then((answer) => {
        answered?.(answer);
        client.isWaitingForUpstream = false;
        client.resumeReading();
      }),
    );
  }
}
