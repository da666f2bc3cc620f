import { ConnectionStreams, type StreamHost } from './connectionStreams';
import type { HubConnection } from './hubConnection';
import type { HubMessage } from '../hubProtocol/hubEnvelope';
import { encodedOnce, payloadFrames, type DeliveryFrames } from '../hubProtocol/payloadFrames';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';
import { hubMethods } from '../../usecases/registry';
import type { HubDeed, HubMethod } from '../../usecases/useCase';
import type { StreamDirection } from '../../usecases/streams';

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

type Deliver = Extract<HubDeed, { kind: 'deliver' }>;

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

/** A method that takes the dictionary and hands it to somebody. */
function delivering(name: string, does: Deliver): BenchMethod {
  return {
    name,
    argumentCount: 1,
    delivers: true,
    run: (context, caller, message) => {
      if (!isDictionary(caller, message)) return 'unbound';
      // The caller gets what it has sent as it stands.
      if (does.to === 'caller') {
        const { bytes, argumentsStart, argumentsEnd } = message;
        const frame = caller.protocol.recordLatencyFrame(bytes, argumentsStart, argumentsEnd);
        context.call(caller, frame, true);
        return 'done';
      }
      const receiver = 'receiverKey' in does ? payloadText(caller, message, does.receiverKey) : '';
      if (receiver === undefined) return 'failed';
      const frames = payloadFrames(caller.protocol, message);
      return context.send(caller, frames, audienceOf(does, receiver, caller)) ? 'done' : 'failed';
    },
  };
}

/** @param receiver id or name of who is not known by the deed alone */
function audienceOf({ to }: Deliver, receiver: string, { id }: HubConnection): Audience {
  switch (to) {
    case 'caller':
      return { kind: 'client', id };
    case 'everyone':
      return { kind: 'all' };
    case 'client':
      return { kind: 'client', id: receiver };
    case 'group':
      return { kind: 'group', name: receiver };
  }
}

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

const streaming: Readonly<Record<StreamDirection, Omit<BenchMethod, 'name' | 'delivers'>>> = {
  both: {
    argumentCount: 1,
    streams: 1,
    isStreaming: true,
    run: (context, caller, message) => {
      const { bytes, firstStart, firstEnd } = message;
      const delayMs = caller.protocol.integer(bytes, firstStart, firstEnd);
      if (delayMs === undefined) return 'unbound';
      return streamed(streamsOf(context, caller).start(message, delayMs));
    },
  },
  /** Answers with the number of items that came up; that answer is the delivery. */
  upload: {
    argumentCount: 0,
    streams: 1,
    run: (context, caller, message) => streamed(streamsOf(context, caller).startUpload(message)),
  },
  /** Gives the dictionary back a number of times, numbered, one item each time the delay is over. */
  download: {
    argumentCount: 3,
    isStreaming: true,
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
  },
};

function streamsOf(context: BenchContext, caller: HubConnection): ConnectionStreams {
  const { streams } = caller;
  if (streams instanceof ConnectionStreams) return streams;
  return (caller.streams = new ConnectionStreams(caller, context));
}

const streamed = (error: string | undefined): Outcome =>
  error === undefined ? 'streams' : { error };

/** What the embedded hub does for a method of the dictionary contract. */
function methodOf({ name, does }: HubMethod): BenchMethod {
  switch (does.kind) {
    case 'deliver':
      return delivering(name, does);
    case 'membership':
      return membership(name, does.change);
    case 'stream':
      // Its items are deliveries; the call itself causes none.
      return { ...streaming[does.direction], name, delivers: false };
    case 'id':
      return {
        name,
        argumentCount: 0,
        delivers: false,
        run: (context, caller) => {
          if (does.by === 'result') return { result: caller.id };
          context.call(caller, caller.protocol.callbackFrame(name, caller.id), false);
          return 'done';
        },
      };
  }
}

/**
 * What it does for one of the newer contract: ticks and payload, behind the receiver where there is one, go to
 * the callback `Measure` as they came.
 */
function measured(name: string, does: Deliver): BenchMethod {
  const receiverFirst = 'receiverKey' in does;
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
      const audience = audienceOf(does, receiver, caller);
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

/** Methods by name in lower case, those of all contracts. */
const byName = new Map<string, BenchMethod[]>();
const add = (method: BenchMethod): void => {
  const name = method.name.toLowerCase();
  byName.set(name, [...(byName.get(name) ?? []), method]);
};
for (const method of hubMethods()) {
  add(methodOf(method));
  const { measureName, does } = method;
  if (measureName !== undefined && does.kind === 'deliver') add(measured(measureName, does));
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
