import { Agent } from 'node:http';
import { isLoopbackHost } from '../../wire/isLoopback';
import {
  eventHeaders,
  signature,
  systemEvents,
  type CloudEvent,
  type EventSource,
  type SystemEvent,
} from './cloudEvent';
import { callUpstream, type UpstreamAnswer } from './upstreamRequest';

/** Where the events of a hub go. */
interface Handler {
  /** With `{hub}` and `{event}` where those belong. */
  readonly template: string;
  /** Those it wants besides the events that clients send. */
  readonly systemEvents: readonly SystemEvent[];
  /** Whether it has agreed to get events, asked once; undefined before. */
  agreed: Promise<string | undefined> | undefined;
}

export interface UpstreamOptions {
  readonly accessKeys: readonly string[];
  /** Handler of hubs for which none is registered. */
  readonly url?: string | undefined;
  /** For each answer, default 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** Sockets to handlers that are open at once; further events wait for one. */
const maxSockets = 256;
/** Hubs with a handler of their own. */
const maxHandlers = 1000;

/** Sends the events of clients to handlers of the application, over HTTP and on this machine only. */
export class Upstream {
  /** Host and port of the emulator, known once it listens. */
  origin = '';
  private readonly agent = new Agent({ keepAlive: true, maxSockets });
  private readonly handlers = new Map<string, Handler>();
  private readonly otherHubs: Handler | undefined;
  private readonly timeoutMs: number;
  private lastId = 0;
  /** Events are signed with each of them. */
  accessKeys: readonly string[];

  constructor(options: UpstreamOptions) {
    this.accessKeys = options.accessKeys;
    this.timeoutMs = options.timeoutMs ?? 10_000;
    const { url } = options;
    this.otherHubs =
      url === undefined ? undefined : { template: url, systemEvents, agreed: undefined };
  }

  /** Registers the handler of a hub. @returns what speaks against it, undefined when it was accepted */
  async register(
    hub: string,
    url: string,
    wanted: readonly SystemEvent[] = systemEvents,
  ): Promise<string | undefined> {
    const problem = handlerProblem(url);
    if (problem !== undefined) return problem;
    if (!this.handlers.has(hub) && this.handlers.size >= maxHandlers) {
      return `There are ${maxHandlers} event handlers already.`;
    }
    const handler: Handler = { template: url, systemEvents: wanted, agreed: undefined };
    const refusal = await this.askOnce(handler, hub);
    if (refusal === undefined) this.handlers.set(hub, handler);
    return refusal;
  }

  /** Whether a handler was registered for this hub. */
  unregister(hub: string): boolean {
    return this.handlers.delete(hub);
  }

  /** Whether there is a handler for what clients of the hub send. */
  hasHandler(hub: string): boolean {
    return this.handlerOf(hub) !== undefined;
  }

  /** Whether the handler of the hub wants to hear of this. */
  wants(hub: string, event: SystemEvent): boolean {
    return this.handlerOf(hub)?.systemEvents.includes(event) === true;
  }

  /** Delivers one event; a hub without a handler is a failure as well. Never rejects. */
  async send(event: CloudEvent, source: EventSource): Promise<UpstreamAnswer> {
    const handler = this.handlerOf(source.hub);
    if (handler === undefined) return { failure: 'The hub has no event handler.' };
    const refusal = await this.askOnce(handler, source.hub);
    if (refusal !== undefined) return { failure: refusal };
    const headers = eventHeaders(event, source, {
      id: ++this.lastId,
      signature: signature(this.accessKeys, source.connectionId),
      origin: this.origin,
    });
    const url = handlerUrl(handler.template, source.hub, event.name);
    const { agent, timeoutMs } = this;
    return callUpstream({ agent, timeoutMs, method: 'POST', url, headers, body: event.body });
  }

  dispose(): void {
    this.agent.destroy();
  }

  private handlerOf(hub: string): Handler | undefined {
    return this.handlers.get(hub) ?? this.otherHubs;
  }

  /** Events go only to who wants them. A refusal is asked again: the handler may not have been up yet. */
  private askOnce(handler: Handler, hub: string): Promise<string | undefined> {
    handler.agreed ??= this.ask(handler, hub).then((refusal) => {
      if (refusal !== undefined) handler.agreed = undefined;
      return refusal;
    });
    return handler.agreed;
  }

  /** The handshake against abuse of the CloudEvents webhook specification, section 4. */
  private async ask({ template }: Handler, hub: string): Promise<string | undefined> {
    const answer = await callUpstream({
      agent: this.agent,
      timeoutMs: this.timeoutMs,
      method: 'OPTIONS',
      url: handlerUrl(template, hub, 'validate'),
      headers: {
        'WebHook-Request-Origin': this.origin,
        'ce-awpsversion': '1.0',
      },
      body: undefined,
    });
    if ('failure' in answer) return answer.failure;
    if (answer.status < 200 || answer.status > 299) {
      return `The event handler answered OPTIONS with ${answer.status}.`;
    }
    const allowed = [answer.headers['webhook-allowed-origin'] ?? []]
      .flat()
      .flatMap((value) => value.split(','))
      .map((value) => value.trim().toLowerCase());
    const [host = ''] = this.origin.split(':', 1);
    if (['*', this.origin, host].some((origin) => allowed.includes(origin))) return undefined;
    return `The event handler does not allow events from ${this.origin}: its answer to OPTIONS has no fitting WebHook-Allowed-Origin.`;
  }
}

/** What speaks against the URL of an event handler; undefined when nothing does. */
export function handlerProblem(template: string): string | undefined {
  const plain = template.replaceAll(/\{(hub|event)\}/g, 'x');
  if (template.length > 2000 || !URL.canParse(plain))
    return 'The URL of the event handler is no URL.';
  const { protocol, hostname } = new URL(plain);
  if (protocol !== 'http:') return 'The URL of the event handler has to start with http://.';
  if (!isLoopbackHost(hostname)) return 'The event handler has to be on this machine (loopback).';
  if (/^http:\/\/[^/?#]*\{/i.test(template)) {
    return 'The host of the event handler cannot hold {hub} or {event}.';
  }
  return undefined;
}

function handlerUrl(template: string, hub: string, event: string): URL {
  const values = { hub, event };
  const url = template.replaceAll(/\{(hub|event)\}/g, (_, name: 'hub' | 'event') =>
    // By way of UTF-8, since a name may hold half of a character.
    encodeURIComponent(Buffer.from(values[name], 'utf8').toString('utf8')),
  );
  return new URL(url);
}
