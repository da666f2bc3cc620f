import { addCount, getOrCreate } from '../../base/collect';
import {
  hubMessageType,
  type Completion,
  type Invocation,
  type StreamInvocation,
  type StreamItem,
} from '../../wire/message/hubMessage';
import {
  newConversation,
  readConversations,
  type RecordingListener,
  type RecordedConversation,
} from '../readConversations';
import type { OpenEvent, RawEvent, Recording } from '../recording';
import { upTo } from './presence';

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

export interface TracedClient extends RecordedConversation<TracedCall> {
  readonly id: number;
  calls: TracedCall[];
  /** What the hub called, in order. */
  readonly callbacks: TracedCallback[];
  /** Ids of its streams that go up. */
  readonly uploads: Set<string>;
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
  readonly atUs: number;
  /** Of its answer, the end of its stream too. */
  endUs?: number;
  result?: unknown;
  error?: string;
  /** That came back. */
  items: number;
  /** Of all of them, as JSON. */
  itemBytes: number;
  firstItemUs?: number;
  lastItemUs?: number;
  /** Its client ended the stream. */
  isCancelled?: true;
}

export interface TracedCallback {
  readonly client: TracedClient;
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly atUs: number;
  /** The call that made the server send it, as far as that could be found. */
  cause?: TracedCall;
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
export async function readTrace(recording: Recording): Promise<Trace> {
  const builder = new TraceBuilder();
  const { clients, endUs } = await readConversations(recording, builder);
  return builder.trace(clients, endUs);
}

class TraceBuilder implements RecordingListener<TracedClient, TracedCall> {
  readonly leftOut = new Map<string, number>();
  private calls: TracedCall[] = [];
  private readonly callbacks: TracedCallback[] = [];
  private messages = 0;
  private bytes = 0;

  get isFull(): boolean {
    return this.messages >= mostMessages || this.bytes > mostBytes;
  }

  opened(open: OpenEvent): TracedClient {
    const { client: id } = open;
    return { ...newConversation(open), id, calls: [], callbacks: [], uploads: new Set() };
  }

  counted(bytes: number): void {
    this.messages += 1;
    this.bytes += bytes;
  }

  called(
    client: TracedClient,
    message: Invocation | StreamInvocation,
    atUs: number,
  ): TracedCall | undefined {
    const { type, target: method, invocationId, streamIds = [] } = message;
    if (streamIds.length > 0) {
      // No session has one: without its streams the hub would refuse the call.
      client.sentOther = true;
      for (const id of streamIds) client.uploads.add(id);
      addCount(this.leftOut, `call of ${shortName(method)}, to which the client streams`);
      return undefined;
    }
    const answered = invocationId === undefined ? 'send' : 'call';
    const form = type === hubMessageType.streamInvocation ? 'stream' : answered;
    const call: TracedCall = {
      client,
      index: client.calls.length,
      form,
      method,
      key: `${form} ${method}`,
      arguments: message.arguments,
      atUs,
      items: 0,
      itemBytes: 0,
    };
    client.calls.push(call);
    this.calls.push(call);
    return call;
  }

  cancelled(_client: TracedClient, call: TracedCall | undefined): void {
    if (call === undefined) addCount(this.leftOut, 'stream that a client gave up');
    else call.isCancelled = true;
  }

  wentUp({ uploads }: TracedClient, { type, invocationId }: StreamItem | Completion): void {
    if (type === hubMessageType.streamItem) addCount(this.leftOut, 'item of a stream of a client');
    // The end of what goes up, or what a client answers to a question of the server.
    else if (!uploads.delete(invocationId))
      addCount(
        this.leftOut,
        'answer of a client that the server asked for, and that a run does not give',
      );
  }

  heard(client: TracedClient, message: Invocation, atUs: number): void {
    const callback = { client, target: message.target, arguments: message.arguments, atUs };
    client.callbacks.push(callback);
    this.callbacks.push(callback);
  }

  itemCame(_client: TracedClient, call: TracedCall, { item }: StreamItem, atUs: number): void {
    call.items += 1;
    call.itemBytes += Buffer.byteLength(JSON.stringify(item ?? null));
    call.firstItemUs ??= atUs;
    call.lastItemUs = atUs;
  }

  answered(_client: TracedClient, call: TracedCall, answer: Completion, atUs: number): void {
    call.endUs = atUs;
    call.error = answer.error;
    if (answer.error === undefined) call.result = answer.result;
  }

  notUnderstood(client: TracedClient, { ev, why }: RawEvent): void {
    if (ev === 'out') client.sentOther = true;
    const from = ev === 'out' ? 'from clients' : 'from the server';
    addCount(this.leftOut, `message ${from}, not understood: ${why}`);
  }

  trace(clients: readonly TracedClient[], endUs: number): Trace {
    this.leaveFailing(clients);
    const streamsBeside = this.takeStreamsBeside(clients);
    const { calls, callbacks, messages, leftOut } = this;
    return { clients, calls, callbacks, streamsBeside, messages, endUs, leftOut };
  }

  /** A session breaks off at an answer with an error, and waits for an item that does not come; its client went on. */
  private leaveFailing(clients: readonly TracedClient[]): void {
    const answers = new Map<string, { all: number; errors: number; items: number }>();
    for (const { key, error, items } of this.calls) {
      const seen = getOrCreate(answers, key, () => ({ all: 0, errors: 0, items: 0 }));
      seen.all += 1;
      seen.items += items;
      if (error !== undefined) seen.errors += 1;
    }
    const whyLeft = ({ key, form }: TracedCall): string | undefined => {
      const { all, errors, items } = answers.get(key)!;
      if (errors >= all * nearlyAlways) return 'answered with an error';
      return form === 'stream' && items === 0 ? 'a stream that brought no items' : undefined;
    };
    for (const call of this.take(clients, (each) => whyLeft(each) !== undefined)) {
      call.client.sentOther = true;
      addCount(this.leftOut, `call of ${shortName(call.method)}, ${whyLeft(call)!}`);
    }
  }

  private takeStreamsBeside(clients: readonly TracedClient[]): readonly TracedCall[] {
    const streams = new Map<string, { all: number; beside: number }>();
    for (const { form, key, client, index, endUs, lastItemUs } of this.calls) {
      if (form !== 'stream') continue;
      const seen = getOrCreate(streams, key, () => ({ all: 0, beside: 0 }));
      seen.all += 1;
      const next = client.calls[index + 1];
      // One that nobody ended goes on, whether it brings items or not.
      const overUs = Math.max(lastItemUs ?? 0, endUs ?? Infinity);
      if (next !== undefined && overUs > next.atUs) seen.beside += 1;
    }
    return this.take(clients, ({ key }) => {
      const { all, beside } = streams.get(key) ?? { all: 0, beside: 0 };
      return beside * 2 > all;
    });
  }

  /** Takes calls out of all, and of those of their clients. */
  private take(
    clients: readonly TracedClient[],
    isTaken: (call: TracedCall) => boolean,
  ): readonly TracedCall[] {
    const taken = this.calls.filter(isTaken);
    if (taken.length === 0) return taken;
    this.calls = this.calls.filter((call) => !isTaken(call));
    for (const client of clients) {
      client.calls = client.calls.filter((call) => !isTaken(call));
      for (const [index, call] of client.calls.entries()) call.index = index;
    }
    return taken;
  }
}

/** Of streams among these calls, the longest up to its last item. */
export const longestStreamOf = (calls: readonly TracedCall[]): number =>
  calls.reduce(
    (longest, { form, atUs, lastItemUs = atUs }) =>
      form === 'stream' ? Math.max(longest, lastItemUs - atUs) : longest,
    0,
  );

/** The first callback of that name which came to the caller before its next call; if it can, one that the call caused. */
export function firstCallbackAfter(call: TracedCall, target: string): TracedCallback | undefined {
  const { callbacks, calls } = call.client;
  const untilUs = calls[call.index + 1]?.atUs ?? Infinity;
  const from = upTo(callbacks, call.atUs, ({ atUs }) => atUs);
  let first: TracedCallback | undefined;
  for (let at = from; at < callbacks.length && callbacks[at]!.atUs <= untilUs; at++) {
    const callback = callbacks[at]!;
    if (callback.target !== target) continue;
    if (callback.cause === call) return callback;
    first ??= callback;
  }
  return first;
}
