import { hubMessageType, type HubMessage } from '../../wire/message/hubMessage';
import { isHubMessage, type Recording, type RecordedEvent, type OpenEvent } from '../recording';

/** What clients did, call by call, as it is needed to find a pattern in it. Times are microseconds since the recording began. */
export interface Trace {
  readonly clients: readonly TracedClient[];
  /** Of all clients, in the order in which they left. */
  readonly calls: readonly TracedCall[];
  /** Of all clients, in the order in which they came. */
  readonly callbacks: readonly TracedCallback[];
  /** Streams that went on while their clients made other calls: a session waits for the end of one. They are none of `calls`. */
  readonly streamsBeside: readonly TracedCall[];
  /** Messages of the hub protocol, without pings. */
  readonly messages: number;
  /** Of the last event. */
  readonly endUs: number;
  /** What was not read, and how often. */
  readonly leftOut: ReadonlyMap<string, number>;
}

export interface TracedClient {
  readonly id: number;
  readonly open: OpenEvent;
  /** Absent when it was there at the end. */
  closedUs?: number;
  readonly calls: TracedCall[];
  /** What the hub called, in order. */
  readonly callbacks: TracedCallback[];
  /** It sent something that is none of its calls: not understood, or left out. */
  sentOther?: true;
}

/** How a call wants its answer: one, items of a stream, or none. */
export type CallForm = 'call' | 'stream' | 'send';

export interface TracedCall {
  readonly client: TracedClient;
  /** Among the calls of its client, from 0. */
  index: number;
  readonly form: CallForm;
  readonly method: string;
  /** The same text for the same form and method. */
  readonly key: string;
  readonly arguments: readonly unknown[];
  readonly bytes: number;
  readonly atUs: number;
  /** Of its answer, the end of its stream too. */
  endUs: number | undefined;
  result: unknown;
  error: string | undefined;
  /** That came back. */
  items: number;
  /** Of all of them, as JSON. */
  itemBytes: number;
  firstItemUs: number | undefined;
  lastItemUs: number | undefined;
  /** Its client ended the stream. */
  isCancelled: boolean;
}

export interface TracedCallback {
  readonly client: TracedClient;
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly bytes: number;
  readonly atUs: number;
  /** The call that made the server send it, as far as that could be found. */
  cause: TracedCall | undefined;
}

/** Of a method's name in words on what was left out. */
const longestNamed = 60;
const shortName = (method: string): string =>
  method.length > longestNamed ? `${method.slice(0, longestNamed)}…` : method;
/** Of the calls of a method that is left out, so many were answered with an error. */
const nearlyAlways = 0.9;

/** What is analysed at most: beyond it a recording says nothing new, and memory ends. */
const mostMessages = 1_000_000;
const mostBytes = 256 * 1024 * 1024;

/** Reads the events of a recording, as many as are analysed. */
export async function traceOf({ events }: Recording): Promise<Trace> {
  const builder = new TraceBuilder();
  for await (const event of events) if (!builder.add(event)) break;
  return builder.trace();
}

class TraceBuilder {
  private readonly clients = new Map<number, TracedClient>();
  private readonly calls: TracedCall[] = [];
  private readonly callbacks: TracedCallback[] = [];
  private readonly leftOut = new Map<string, number>();
  /** Those without an answer yet, by client and id. */
  private readonly open = new Map<TracedClient, Map<string, TracedCall>>();
  /** Ids of the streams that go up. */
  private readonly uploads = new Map<TracedClient, Set<string>>();
  private readonly keys = {
    call: new Map<string, string>(),
    stream: new Map<string, string>(),
    send: new Map<string, string>(),
  };
  private messages = 0;
  private bytes = 0;
  private endUs = 0;

  /** @returns whether more is wanted */
  add(event: RecordedEvent): boolean {
    this.endUs = Math.max(this.endUs, event.t);
    if (event.ev === 'open') {
      const { client: id } = event;
      this.clients.set(id, { id, open: event, calls: [], callbacks: [] });
      return true;
    }
    if (event.ev === 'gap') {
      this.leave('event that was not recorded in time', event.events);
      return true;
    }
    const client = this.clients.get(event.client);
    if (client === undefined) return true;
    if (event.ev === 'close') {
      client.closedUs ??= event.t;
      this.open.delete(client);
      this.uploads.delete(client);
      return true;
    }
    if ('raw' in event) {
      if (event.ev === 'out') client.sentOther = true;
      const from = event.ev === 'out' ? 'from clients' : 'from the server';
      this.leave(`message ${from}, not understood: ${event.why}`);
      return true;
    }
    if (this.messages >= mostMessages || this.bytes > mostBytes) {
      this.leave('everything behind the first part, which is analysed');
      return false;
    }
    if (!isHubMessage(event.m)) {
      this.leave(`message of Web PubSub of type ${event.m.type}`);
      return true;
    }
    if (event.ev === 'out') this.sent(client, event.m, event);
    else this.came(client, event.m, event);
    return true;
  }

  trace(): Trace {
    this.leaveFailing();
    const streamsBeside = this.takeStreamsBeside();
    const { calls, callbacks, messages, endUs, leftOut } = this;
    const clients = [...this.clients.values()];
    return { clients, calls, callbacks, streamsBeside, messages, endUs, leftOut };
  }

  /** A session breaks off at an answer with an error, and waits for an item that does not come; its client went on. */
  private leaveFailing(): void {
    const answers = new Map<string, { all: number; errors: number; items: number }>();
    for (const { key, error, items } of this.calls) {
      const seen = answers.get(key) ?? { all: 0, errors: 0, items: 0 };
      answers.set(key, seen);
      seen.all += 1;
      seen.items += items;
      if (error !== undefined) seen.errors += 1;
    }
    const whyLeft = ({ key, form }: TracedCall): string | undefined => {
      const { all, errors, items } = answers.get(key)!;
      if (errors >= all * nearlyAlways) return 'answered with an error';
      return form === 'stream' && items === 0 ? 'a stream that brought no items' : undefined;
    };
    for (const call of this.take((each) => whyLeft(each) !== undefined)) {
      call.client.sentOther = true;
      this.leave(`call of ${shortName(call.method)}, ${whyLeft(call)!}`);
    }
  }

  private takeStreamsBeside(): readonly TracedCall[] {
    const streams = new Map<string, { all: number; beside: number }>();
    for (const { form, key, client, index, endUs, lastItemUs } of this.calls) {
      if (form !== 'stream') continue;
      const seen = streams.get(key) ?? { all: 0, beside: 0 };
      streams.set(key, seen);
      seen.all += 1;
      const next = client.calls[index + 1];
      // One that nobody ended goes on, whether it brings items or not.
      const overUs = Math.max(lastItemUs ?? 0, endUs ?? Infinity);
      if (next !== undefined && overUs > next.atUs) seen.beside += 1;
    }
    const areBeside = (key: string): boolean => {
      const { all, beside } = streams.get(key) ?? { all: 0, beside: 0 };
      return beside * 2 > all;
    };
    return this.take(({ key }) => areBeside(key));
  }

  /** Takes calls out of all, and of those of their clients. */
  private take(isTaken: (call: TracedCall) => boolean): readonly TracedCall[] {
    const taken = this.calls.filter(isTaken);
    if (taken.length === 0) return taken;
    for (const calls of [this.calls, ...[...this.clients.values()].map((each) => each.calls)]) {
      const kept = calls.filter((call) => !isTaken(call));
      if (kept.length === calls.length) continue;
      calls.length = 0;
      for (const call of kept) calls.push(call);
    }
    for (const { calls } of this.clients.values())
      for (const [index, call] of calls.entries()) call.index = index;
    return taken;
  }

  private sent(
    client: TracedClient,
    message: HubMessage,
    { t, bytes }: { readonly t: number; readonly bytes: number },
  ): void {
    const { invocation, streamInvocation, streamItem, completion, cancelInvocation } =
      hubMessageType;
    switch (message.type) {
      case invocation:
      case streamInvocation: {
        this.count(bytes);
        const { target: method, invocationId, streamIds = [] } = message;
        if (streamIds.length > 0) {
          this.upload(client, method, streamIds);
          return;
        }
        const answered = invocationId === undefined ? 'send' : 'call';
        const form = message.type === streamInvocation ? 'stream' : answered;
        const call: TracedCall = {
          client,
          index: client.calls.length,
          form,
          method,
          key: this.keyOf(form, method),
          arguments: message.arguments,
          bytes,
          atUs: t,
          endUs: undefined,
          result: undefined,
          error: undefined,
          items: 0,
          itemBytes: 0,
          firstItemUs: undefined,
          lastItemUs: undefined,
          isCancelled: false,
        };
        client.calls.push(call);
        this.calls.push(call);
        if (invocationId !== undefined) idsOf(this.open, client).set(invocationId, call);
        return;
      }
      case streamItem:
        this.count(bytes);
        this.leave('item of a stream of a client');
        return;
      case completion:
        this.count(bytes);
        // The end of what goes up, or what a client answers to a question of the server.
        if (this.uploads.get(client)?.delete(message.invocationId) !== true)
          this.leave('answer of a client that the server asked for, and that a run does not give');
        return;
      case cancelInvocation: {
        this.count(bytes);
        const call = this.open.get(client)?.get(message.invocationId);
        if (call === undefined) this.leave('stream that a client gave up');
        else call.isCancelled = true;
        return;
      }
      default:
    }
  }

  private came(
    client: TracedClient,
    message: HubMessage,
    { t, bytes }: { readonly t: number; readonly bytes: number },
  ): void {
    const { invocation, streamItem, completion } = hubMessageType;
    switch (message.type) {
      case invocation: {
        this.count(bytes);
        const { target, arguments: values } = message;
        const callback = { client, target, arguments: values, bytes, atUs: t, cause: undefined };
        client.callbacks.push(callback);
        this.callbacks.push(callback);
        return;
      }
      case streamItem: {
        this.count(bytes);
        const call = this.open.get(client)?.get(message.invocationId);
        if (call === undefined) return;
        call.items += 1;
        call.itemBytes += Buffer.byteLength(JSON.stringify(message.item ?? null));
        call.firstItemUs ??= t;
        call.lastItemUs = t;
        return;
      }
      case completion: {
        this.count(bytes);
        const ids = this.open.get(client);
        const call = ids?.get(message.invocationId);
        if (call === undefined) return;
        ids!.delete(message.invocationId);
        call.endUs = t;
        if (message.error === undefined) call.result = message.result;
        else call.error = message.error;
        return;
      }
      default:
    }
  }

  /** No session has one: without its streams the hub would refuse the call. */
  private upload(client: TracedClient, method: string, streamIds: readonly string[]): void {
    client.sentOther = true;
    let ids = this.uploads.get(client);
    if (ids === undefined) this.uploads.set(client, (ids = new Set()));
    for (const id of streamIds) ids.add(id);
    this.leave(`call of ${shortName(method)}, to which the client streams`);
  }

  private keyOf(form: CallForm, method: string): string {
    const keys = this.keys[form];
    let key = keys.get(method);
    if (key === undefined) keys.set(method, (key = `${form} ${method}`));
    return key;
  }

  private count(bytes: number): void {
    this.messages += 1;
    this.bytes += bytes;
  }

  private leave(what: string, times = 1): void {
    this.leftOut.set(what, (this.leftOut.get(what) ?? 0) + times);
  }
}

/** Of streams among these calls, the longest up to its last item. */
export const longestOf = (calls: readonly TracedCall[]): number =>
  calls.reduce(
    (longest, { form, atUs, lastItemUs = atUs }) =>
      form === 'stream' ? Math.max(longest, lastItemUs - atUs) : longest,
    0,
  );

/** The first callback of that name which came to the caller before its next call; if it can, one that the call caused. */
export function heardAfter(call: TracedCall, target: string): TracedCallback | undefined {
  const { callbacks, calls } = call.client;
  const untilUs = calls[call.index + 1]?.atUs ?? Infinity;
  let [low, high] = [0, callbacks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (callbacks[middle]!.atUs <= call.atUs) low = middle + 1;
    else high = middle;
  }
  let first: TracedCallback | undefined;
  for (let at = low; at < callbacks.length && callbacks[at]!.atUs <= untilUs; at++) {
    const callback = callbacks[at]!;
    if (callback.target !== target) continue;
    if (callback.cause === call) return callback;
    first ??= callback;
  }
  return first;
}

function idsOf(
  all: Map<TracedClient, Map<string, TracedCall>>,
  client: TracedClient,
): Map<string, TracedCall> {
  let ids = all.get(client);
  if (ids === undefined) all.set(client, (ids = new Map<string, TracedCall>()));
  return ids;
}
