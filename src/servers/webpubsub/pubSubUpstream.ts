import { isLoopbackHost } from '../../base/endpoint';
import { isUtf8 } from 'node:buffer';
import { isJson } from '../../wire/message/jsonScan';
import type { DataType, Payload } from '../../wire/webpubsub/pubSubMessage';
import {
  fillUrlTemplate,
  matchesPattern,
  encodeHeaderValue,
  UpstreamHandlers,
  type UpstreamAnswer,
} from '../service/upstreamCalls';

export const systemEvents = ['connect', 'connected', 'disconnected'] as const;

type SystemEvent = (typeof systemEvents)[number];

type EventKind = 'sys' | 'user';

interface CloudEvent {
  readonly kind: EventKind;
  readonly name: string;
  readonly contentType: string;
  readonly body: Buffer;
}

export interface EventSource {
  readonly hub: string;
  readonly connectionId: string;
  readonly userId: string | undefined;
  readonly subprotocol: string | undefined;
  readonly connectionState: string | undefined;
}

const jsonType = 'application/json; charset=utf-8';

const contentTypes: Readonly<Record<DataType, string>> = {
  json: jsonType,
  text: 'text/plain; charset=utf-8',
  binary: 'application/octet-stream',
  protobuf: 'application/x-protobuf',
};

export function readPayload(contentType: string | undefined, bytes: Buffer): Payload | undefined {
  const typeOf = (text: string): string => text.split(';', 1)[0]!.trim().toLowerCase();
  const type = typeOf(contentType ?? contentTypes.binary);
  const types = Object.keys(contentTypes) as DataType[];
  const dataType = types.find((each) => typeOf(contentTypes[each]) === type);
  return dataType && { dataType, bytes };
}

/** What is wrong with a payload, to follow "is". */
export function payloadProblem({ dataType, bytes }: Payload): string | undefined {
  if ((dataType === 'json' || dataType === 'text') && !isUtf8(bytes)) return 'not UTF-8 text';
  return dataType === 'json' && !isJson(bytes) ? 'not JSON, or nested too deeply' : undefined;
}

export const createSystemEvent = (name: SystemEvent, body: object): CloudEvent => ({
  kind: 'sys',
  name,
  contentType: jsonType,
  body: Buffer.from(JSON.stringify(body)),
});

export const createUserEvent = (name: string, { dataType, bytes }: Payload): CloudEvent => ({
  kind: 'user',
  name,
  contentType: contentTypes[dataType],
  body: bytes,
});

export interface EventHandler {
  readonly url: string;
  /** See {@link matchesPattern}; absent is all. */
  readonly userEvents?: string | undefined;
  readonly systemEvents?: readonly SystemEvent[] | undefined;
}

const maxAnswerBytes = 1024 * 1024;

/** Sends events to handlers on this machine. */
export class PubSubUpstream extends UpstreamHandlers<EventHandler> {
  origin = '';
  private lastId = 0;
  private readonly asked = new WeakMap<EventHandler, Promise<string | undefined>>();

  constructor(
    common: readonly EventHandler[],
    timeoutMs: number,
    accessKeys: () => readonly string[],
  ) {
    super(common, { timeoutMs, maxAnswerBytes }, accessKeys);
  }

  wants(hub: string, kind: EventKind, name: string): boolean {
    return this.handlerOf(hub, kind, name) !== undefined;
  }

  /** Fails when no handler wants the event; never rejects. */
  async send(event: CloudEvent, source: EventSource): Promise<UpstreamAnswer> {
    const handler = this.handlerOf(source.hub, event.kind, event.name);
    if (handler === undefined) return { failure: 'The hub has no event handler.' };
    const url = fillUrlTemplate(handler.url, { hub: source.hub, event: event.name });
    if ('failure' in url) return url;
    const refusal = await this.askOnce(handler, source.hub);
    if (refusal !== undefined) return { failure: refusal };
    const headers = this.headersOf(event, source);
    return this.call({ method: 'POST', url, headers, body: event.body });
  }

  private headersOf(event: CloudEvent, source: EventSource): Record<string, string> {
    const { hub, connectionId, userId, subprotocol, connectionState } = source;
    return {
      'Content-Type': event.contentType,
      'Content-Length': String(event.body.length),
      'WebHook-Request-Origin': this.origin,
      'ce-specversion': '1.0',
      'ce-type': encodeHeaderValue(`azure.webpubsub.${event.kind}.${event.name}`),
      'ce-source': `/hubs/${hub}/client/${connectionId}`,
      'ce-id': String(++this.lastId),
      'ce-time': new Date().toISOString(),
      'ce-signature': this.signature(connectionId),
      'ce-hub': hub,
      'ce-connectionId': connectionId,
      'ce-eventName': encodeHeaderValue(event.name),
      'ce-awpsversion': '1.0',
      ...(userId !== undefined && { 'ce-userId': encodeHeaderValue(userId) }),
      ...(subprotocol !== undefined && { 'ce-subprotocol': encodeHeaderValue(subprotocol) }),
      ...(connectionState !== undefined && { 'ce-connectionState': connectionState }),
    };
  }

  private handlerOf(hub: string, kind: EventKind, name: string): EventHandler | undefined {
    return this.handlersOf(hub).find(({ userEvents, systemEvents: system = systemEvents }) =>
      kind === 'user' ? matchesPattern(userEvents, name) : system.some((event) => event === name),
    );
  }

  /** Validates a handler once; after a refusal again, since it may not have been up yet. */
  private askOnce(handler: EventHandler, hub: string): Promise<string | undefined> {
    let answer = this.asked.get(handler);
    if (answer === undefined) {
      answer = this.ask(handler, hub).then((refusal) => {
        if (refusal !== undefined) this.asked.delete(handler);
        return refusal;
      });
      this.asked.set(handler, answer);
    }
    return answer;
  }

  protected override async problemOf(
    handler: EventHandler,
    hub: string,
  ): Promise<string | undefined> {
    return eventHandlerProblem(handler.url) ?? (await this.askOnce(handler, hub));
  }

  /** Abuse protection of CloudEvents webhooks, section 4. */
  private async ask({ url: template }: EventHandler, hub: string): Promise<string | undefined> {
    const url = fillUrlTemplate(template, { hub, event: 'validate' });
    if ('failure' in url) return url.failure;
    const headers = { 'WebHook-Request-Origin': this.origin, 'ce-awpsversion': '1.0' };
    const answer = await this.call({ method: 'OPTIONS', url, headers });
    if ('failure' in answer) return answer.failure;
    if (answer.status < 200 || answer.status > 299)
      return `The event handler answered OPTIONS with ${answer.status}.`;
    const allowed = [answer.headers['webhook-allowed-origin'] ?? []]
      .flat()
      .flatMap((value) => value.split(','))
      .map((value) => value.trim().toLowerCase());
    const [host = ''] = this.origin.split(':', 1);
    if (['*', this.origin, host].some((origin) => allowed.includes(origin))) return undefined;
    return `The event handler does not allow events from ${this.origin}: its answer to OPTIONS has no fitting WebHook-Allowed-Origin.`;
  }
}

export function eventHandlerProblem(template: string): string | undefined {
  const plain = template.replaceAll(/\{(hub|event)\}/g, 'x');
  if (template.length > 2000 || !URL.canParse(plain))
    return 'The URL of the event handler is not a URL.';
  const { protocol, hostname } = new URL(plain);
  if (protocol !== 'http:') return 'The URL of the event handler has to start with http://.';
  if (!isLoopbackHost(hostname)) return 'The event handler has to be on this machine (loopback).';
  if (/^http:\/\/[^/?#]*\{/i.test(template))
    return 'The host of the event handler cannot hold {hub} or {event}.';
  return undefined;
}
