import { isLoopbackHost } from '../../wire/socket/isLoopback';
import { fitsPattern } from '../service/eventPattern';
import { filledUrl } from '../service/filledUrl';
import { UpstreamCalls, type UpstreamAnswer } from '../service/upstreamCalls';
import {
  eventHeaders,
  signature,
  systemEvents,
  type CloudEvent,
  type EventSource,
  type SystemEvent,
} from './cloudEvent';

/** Where events of a hub go, as one entry of its settings says. */
export interface HandlerSettings {
  /** With `{hub}` and `{event}` where those belong. */
  readonly url: string;
  /** Names of the events of clients that it wants, see {@link fitsPattern}; absent is all. */
  readonly userEvents?: string | undefined;
  /** Those it wants besides; absent is all. */
  readonly systemEvents?: readonly SystemEvent[] | undefined;
}

interface Handler extends HandlerSettings {
  /** Whether it has agreed to get events, asked once; undefined before. */
  agreed: Promise<string | undefined> | undefined;
}

export interface UpstreamOptions {
  readonly accessKeys: readonly string[];
  /** Handlers of hubs for which none are registered; the first that wants an event gets it. */
  readonly handlers: readonly HandlerSettings[];
  /** For each answer, default 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** Largest answer; what goes to clients may not be larger either. */
const maxAnswerBytes = 1024 * 1024;
/** Hubs with handlers of their own, and handlers of one hub. */
const maxHubs = 1000;
const maxHandlers = 100;

/** Sends the events of clients to handlers of the application, over HTTP and on this machine only. */
export class Upstream {
  /** Host and port of the emulator, known once it listens. */
  origin = '';
  /** Events are signed with each of them. */
  accessKeys: readonly string[];
  private readonly calls: UpstreamCalls;
  private readonly handlers = new Map<string, readonly Handler[]>();
  private readonly otherHubs: readonly Handler[];
  private lastId = 0;

  constructor({ accessKeys, handlers, timeoutMs = 10_000 }: UpstreamOptions) {
    this.accessKeys = accessKeys;
    this.calls = new UpstreamCalls({ timeoutMs, maxAnswerBytes });
    this.otherHubs = handlers.map((settings) => ({ ...settings, agreed: undefined }));
  }

  /**
   * Registers the handlers of a hub in the order in which they are asked.
   * @returns what speaks against one of them, undefined when all were accepted
   */
  async register(hub: string, settings: readonly HandlerSettings[]): Promise<string | undefined> {
    if (settings.length > maxHandlers) return `A hub has at most ${maxHandlers} event handlers.`;
    for (const { url } of settings) {
      const problem = handlerProblem(url);
      if (problem !== undefined) return problem;
    }
    if (!this.handlers.has(hub) && this.handlers.size >= maxHubs) {
      return `There are ${maxHubs} hubs with event handlers already.`;
    }
    const handlers = settings.map((each): Handler => ({ ...each, agreed: undefined }));
    for (const handler of handlers) {
      const refusal = await this.askOnce(handler, hub);
      if (refusal !== undefined) return refusal;
    }
    this.handlers.set(hub, handlers);
    return undefined;
  }

  /** Whether handlers were registered for this hub. */
  unregister(hub: string): boolean {
    return this.handlers.delete(hub);
  }

  /** Whether there is a handler for an event that clients of the hub send. */
  hasHandler(hub: string, event: string): boolean {
    return this.handlerOf(hub, { kind: 'user', name: event }) !== undefined;
  }

  /** Whether a handler of the hub wants to hear of this. */
  wants(hub: string, event: SystemEvent): boolean {
    return this.handlerOf(hub, { kind: 'sys', name: event }) !== undefined;
  }

  /** Delivers one event; an event that no handler wants is a failure as well. Never rejects. */
  async send(event: CloudEvent, source: EventSource): Promise<UpstreamAnswer> {
    const handler = this.handlerOf(source.hub, event);
    if (handler === undefined) return { failure: 'The hub has no event handler.' };
    const url = filledUrl(handler.url, { hub: source.hub, event: event.name });
    if ('failure' in url) return url;
    const refusal = await this.askOnce(handler, source.hub);
    if (refusal !== undefined) return { failure: refusal };
    const headers = eventHeaders(event, source, {
      id: ++this.lastId,
      signature: signature(this.accessKeys, source.connectionId),
      origin: this.origin,
    });
    return this.calls.call({ method: 'POST', url, headers, body: event.body });
  }

  dispose(): void {
    this.calls.dispose();
  }

  /** The first that wants the event, as the service has it. */
  private handlerOf(
    hub: string,
    { kind, name }: Pick<CloudEvent, 'kind' | 'name'>,
  ): Handler | undefined {
    const handlers = this.handlers.get(hub) ?? this.otherHubs;
    return handlers.find(({ userEvents, systemEvents: system = systemEvents }) =>
      kind === 'user' ? fitsPattern(userEvents, name) : system.some((event) => event === name),
    );
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
  private async ask({ url: template }: Handler, hub: string): Promise<string | undefined> {
    const url = filledUrl(template, { hub, event: 'validate' });
    if ('failure' in url) return url.failure;
    const answer = await this.calls.call({
      method: 'OPTIONS',
      url,
      headers: {
        'WebHook-Request-Origin': this.origin,
        'ce-awpsversion': '1.0',
      },
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
