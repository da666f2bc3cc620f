import { ConnectionStreams, type StreamHost } from './connectionStreams';
import type { HubConnection } from './hubConnection';
import type { HubMessage } from '../hubProtocol/hubMessage';
import { payloadFrames, type DeliveryFrames, encodedOnce } from '../hubProtocol/payloadFrames';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';

/** Whom a payload is for. */
export type Audience =
  | { readonly kind: 'all' }
  | { readonly kind: 'client'; readonly id: string }
  | { readonly kind: 'group'; readonly name: string };

/** What the bench methods work on. */
export interface BenchContext extends StreamHost {
  readonly contracts: Contracts;
  /**
   * Hands a message to everybody in the audience.
   * @returns false when it cannot be said in a protocol of theirs
   */
  send(caller: HubConnection, frames: DeliveryFrames, audience: Audience): boolean;
  /**
   * Calls a client from the hub; a delivery is what the knobs act on.
   */
  call(client: HubConnection, frame: Buffer, isDelivery: boolean): void;
  /** Whether the group has been joined or left, at once or once that is known. */
  changeGroup(
    client: HubConnection,
    group: string,
    change: 'join' | 'leave',
  ): boolean | Promise<boolean>;
}

/**
 * `failed` is an exception in the method, `unbound` an argument of the wrong type; `streams` means that
 * items and the completion follow later.
 */
export type Outcome =
  | { readonly result: string }
  | { readonly error: string }
  | 'done'
  | 'streams'
  | 'failed'
  | 'unbound';

/** One method of the hub contract. */
export interface BenchMethod {
  readonly name: string;
  /** Which of the contracts it belongs to; that of the dictionaries when absent. */
  readonly contract?: 'measure' | 'both';
  readonly argumentCount: number;
  /** Streams it takes: one or none. */
  readonly streams?: 1;
  /** Answers with a stream. */
  readonly isStreaming?: true;
  /** Whether its callbacks are the deliveries that the knobs act on. */
  readonly delivers: boolean;
  run(
    context: BenchContext,
    caller: HubConnection,
    message: HubMessage,
  ): Outcome | Promise<Outcome>;
}

const maxGroupNameLength = 1024;

function isDictionary({ protocol }: HubConnection, { bytes, firstStart }: HubMessage): boolean {
  return protocol.isDictionary(bytes, firstStart);
}

function payloadText(
  { protocol }: HubConnection,
  { bytes, firstStart, firstEnd }: HubMessage,
  key: string,
): string | undefined {
  return protocol.member(bytes, firstStart, firstEnd, key);
}

/** A method that takes the payload and hands it to somebody. */
function delivering(
  name: string,
  audienceOf: (caller: HubConnection, message: HubMessage) => Audience | undefined,
): BenchMethod {
  return {
    name,
    argumentCount: 1,
    delivers: true,
    run: (context, caller, message) => {
      if (!isDictionary(caller, message)) return 'unbound';
      const audience = audienceOf(caller, message);
      const isSent =
        audience !== undefined &&
        context.send(caller, payloadFrames(caller.protocol, message), audience);
      return isSent ? 'done' : 'failed';
    },
  };
}

const echo: BenchMethod = {
  name: 'Echo',
  argumentCount: 1,
  delivers: true,
  run: (context, caller, message) => {
    if (!isDictionary(caller, message)) return 'unbound';
    const { bytes, argumentsStart, argumentsEnd } = message;
    const frame = caller.protocol.recordLatencyFrame(bytes, argumentsStart, argumentsEnd);
    context.call(caller, frame, true);
    return 'done';
  },
};

/** Its callback has its own name. */
function membership(name: string, change: 'join' | 'leave'): BenchMethod {
  return {
    name,
    contract: 'both',
    argumentCount: 1,
    delivers: false,
    run: (context, caller, { bytes, firstStart, firstEnd }) => {
      const { protocol } = caller;
      if (protocol.isNull(bytes, firstStart)) return 'failed';
      const group = protocol.text(bytes, firstStart, firstEnd);
      if (group === undefined) return 'unbound';
      if (group.length > maxGroupNameLength) return 'failed';
      const answer = (isChanged: boolean): Outcome => {
        if (isChanged) context.call(caller, protocol.callbackFrame(name), false);
        return isChanged ? 'done' : 'failed';
      };
      const changed = context.changeGroup(caller, group, change);
      return typeof changed === 'boolean' ? answer(changed) : changed.then(answer);
    },
  };
}

const streamingEcho: BenchMethod = {
  name: 'StreamingEcho',
  argumentCount: 1,
  streams: 1,
  isStreaming: true,
  // Its items are deliveries; the call itself causes none.
  delivers: false,
  run: (context, caller, message) => {
    const { bytes, firstStart, firstEnd } = message;
    const delayMs = caller.protocol.integer(bytes, firstStart, firstEnd);
    if (delayMs === undefined) return 'unbound';
    return streamed(streamsOf(context, caller).start(message, delayMs));
  },
};

/** Answers with the number of items that came up; that answer is the delivery. */
const streamingUpload: BenchMethod = {
  name: 'StreamingUpload',
  argumentCount: 0,
  streams: 1,
  delivers: false,
  run: (context, caller, message) => streamed(streamsOf(context, caller).startUpload(message)),
};

/** Gives the dictionary back a number of times, numbered, one item each time the delay is over. */
const streamingDownload: BenchMethod = {
  name: 'StreamingDownload',
  argumentCount: 3,
  isStreaming: true,
  delivers: false,
  run: (context, caller, message) => {
    const { protocol } = caller;
    const { bytes, argumentsStart, argumentsEnd, firstStart, firstEnd } = message;
    const [, countPlace, delayPlace] = protocol.places(bytes, argumentsStart, argumentsEnd);
    if (!isDictionary(caller, message)) return 'unbound';
    const items = protocol.integer(bytes, ...countPlace!);
    const delayMs = protocol.integer(bytes, ...delayPlace!);
    if (items === undefined || delayMs === undefined) return 'unbound';
    if (protocol.isNull(bytes, firstStart)) return 'failed';
    const item = Buffer.from(bytes.subarray(firstStart, firstEnd));
    return streamed(streamsOf(context, caller).startDownload(message, item, items, delayMs));
  },
};

function streamsOf(context: BenchContext, caller: HubConnection): ConnectionStreams {
  const { streams } = caller;
  if (streams instanceof ConnectionStreams) return streams;
  return (caller.streams = new ConnectionStreams(caller, context));
}

const streamed = (error: string | undefined): Outcome =>
  error === undefined ? 'streams' : { error };

/**
 * A method of the newer contract: ticks and payload, behind the receiver where there is one, go to the
 * callback `Measure` as they came.
 *
 * @param receiverFirst whether the receiver's id or name is the first argument
 */
function measured(
  name: string,
  receiverFirst: boolean,
  audienceOf: (receiver: string, caller: HubConnection) => Audience,
): BenchMethod {
  return {
    name,
    contract: 'measure',
    argumentCount: receiverFirst ? 3 : 2,
    delivers: true,
    run: (context, caller, message) => {
      const { bytes, firstStart, firstEnd } = message;
      const { protocol } = caller;
      const receiver = receiverFirst ? protocol.text(bytes, firstStart, firstEnd) : '';
      const measure = measureOf(protocol, message, receiverFirst);
      if (receiver === undefined || measure === undefined) return 'unbound';
      const audience = audienceOf(receiver, caller);
      return context.send(caller, encodedOnce(measure), audience) ? 'done' : 'failed';
    },
  };
}

/** Makes the callback in any protocol; undefined when the arguments are of the wrong types. */
function measureOf(
  sent: ServerProtocol,
  message: HubMessage,
  receiverFirst: boolean,
): ((protocol: ServerProtocol) => Buffer) | undefined {
  const { bytes, argumentsEnd } = message;
  const [ticksStart, ticksEnd, payloadStart, payloadEnd] = receiverFirst
    ? [message.secondStart, message.secondEnd, message.thirdStart, message.thirdEnd]
    : [message.firstStart, message.firstEnd, message.secondStart, message.secondEnd];
  const ticks = sent.wideInteger(bytes, ticksStart, ticksEnd);
  const isNull = sent.isNull(bytes, payloadStart);
  const payload = isNull ? null : sent.text(bytes, payloadStart, payloadEnd);
  if (ticks === undefined || payload === undefined) return undefined;
  return (protocol) =>
    protocol === sent
      ? protocol.measureFrame(bytes, ticksStart, argumentsEnd)
      : protocol.measureFrameOf(ticks, payload);
}

const measureMethods: readonly BenchMethod[] = [
  measured('Echo', false, (_none, { id }) => ({ kind: 'client', id })),
  measured('Broadcast', false, () => ({ kind: 'all' })),
  measured('SendToConnection', true, (id) => ({ kind: 'client', id })),
  measured('GroupBroadcast', true, (name) => ({ kind: 'group', name })),
];

const methods: readonly BenchMethod[] = [
  echo,
  delivering('Broadcast', () => ({ kind: 'all' })),
  delivering('SendToClient', (caller, message) => {
    const id = payloadText(caller, message, 'information.ConnectionId');
    return id === undefined ? undefined : { kind: 'client', id };
  }),
  delivering('SendToGroup', (caller, message) => {
    const name = payloadText(caller, message, 'information.GroupName');
    return name === undefined ? undefined : { kind: 'group', name };
  }),
  {
    name: 'ConnectionId',
    argumentCount: 0,
    delivers: false,
    run: (context, caller) => {
      context.call(caller, caller.protocol.callbackFrame('ConnectionId', caller.id), false);
      return 'done';
    },
  },
  {
    name: 'GetConnectionId',
    argumentCount: 0,
    delivers: false,
    run: (_context, caller) => ({ result: caller.id }),
  },
  membership('JoinGroup', 'join'),
  membership('LeaveGroup', 'leave'),
  streamingEcho,
  streamingUpload,
  streamingDownload,
  ...measureMethods,
];

/** Methods by name in lower case, those of all contracts. */
const byName = new Map<string, BenchMethod[]>();
for (const method of methods) {
  const name = method.name.toLowerCase();
  byName.set(name, [...(byName.get(name) ?? []), method]);
}

/** Contracts that a hub has: the names they share have different numbers of arguments. */
export type Contracts = 'both' | 'recordLatency' | 'measure';

/** The method a client calls, its name in any case; undefined when the hub has none of that name. */
export function benchMethod(
  target: string,
  argumentCount: number,
  contracts: Contracts = 'both',
): BenchMethod | undefined {
  const named = (byName.get(target.toLowerCase()) ?? []).filter(
    ({ contract = 'recordLatency' }) =>
      contracts === 'both' || contract === 'both' || contract === contracts,
  );
  return named.find((method) => method.argumentCount === argumentCount) ?? named[0];
}
