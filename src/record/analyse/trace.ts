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

/** The calls of all clients. Times are microseconds since the recording began. */
export interface Trace {
  readonly clients: readonly TracedClient[];
  /** In the order of their times. */
  readonly calls: readonly TracedCall[];
  /** In the order of their times. */
  readonly callbacks: readonly TracedCallback[];
  /** Streams during which their clients made other calls: a session would wait for their end. They are not among `calls`. */
  readonly streamsBeside: readonly TracedCall[];
  readonly messages: number;
  readonly endUs: number;
  readonly leftOut: ReadonlyMap<string, number>;
}

export interface TracedClient extends RecordedConversation<TracedCall> {
  readonly id: number;
  calls: TracedCall[];
  readonly callbacks: TracedCallback[];
  /** Ids of streams from the client. */
  readonly uploads: Set<string>;
  /** It sent something that is no call here: not understood, or left out. */
  sentOther?: true;
}

export type CallForm = 'call' | 'stream' | 'send';

export interface TracedCall {
  readonly client: TracedClient;
  index: number;
  readonly form: CallForm;
  readonly method: string;
  readonly key: string;
  readonly arguments: readonly unknown[];
  readonly atUs: number;
  /** Of the answer, or of the end of the stream. */
  endUs?: number;
  result?: unknown;
  error?: string;
  items: number;
  itemBytes: number;
  firstItemUs?: number;
  lastItemUs?: number;
  isCancelled?: true;
}

export interface TracedCallback {
  readonly client: TracedClient;
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly atUs: number;
  /** Absent where no cause was found. */
  cause?: TracedCall;
}

const longestNamed = 60;
const shortName = (method: string): string =>
  method.length > longestNamed ? `${method.slice(0, longestNamed)}…` : method;
/** A rule holds for this share of the cases: start and end of a recording cut some off. */
export const nearlyAll = 0.9;

/** More says nothing new, and needs too much memory. */
const mostMessages = 1_000_000;
const mostBytes = 256 * 1024 * 1024;

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
      // The hub would refuse the call without its streams, which no session has.
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

  /** Such calls are left out: a session would break off at the error, or wait for an item that never comes. */
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
      if (errors >= all * nearlyAll) return 'answered with an error';
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
      const overUs = Math.max(lastItemUs ?? 0, endUs ?? Infinity);
      if (next !== undefined && overUs > next.atUs) seen.beside += 1;
    }
    return this.take(clients, ({ key }) => {
      const { all, beside } = streams.get(key) ?? { all: 0, beside: 0 };
      return beside * 2 > all;
    });
  }

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

/** From the call to the last item, of the longest stream. */
export const longestStreamOf = (calls: readonly TracedCall[]): number =>
  calls.reduce(
    (longest, { form, atUs, lastItemUs = atUs }) =>
      form === 'stream' ? Math.max(longest, lastItemUs - atUs) : longest,
    0,
  );

/** The first callback of that name before the client's next call, preferably one that the call caused. */
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

export function upTo<Value>(
  values: readonly Value[],
  limit: number,
  numberOf = (value: Value): number => Number(value),
): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numberOf(values[middle]!) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
