import { ConnectionStreams, type StreamHost } from './connectionStreams';
import type { HubConnection } from './hubConnection';
import { callbacks } from '../../base/message';
import { hubMessageType } from '../../wire/message/hubMessage';
import {
  invocationFrames,
  encodedOnce,
  protocolNamed,
  type FrameSource,
} from '../hubProtocol/protocols';
import type { HubMessage } from '../hubProtocol/serverProtocol';
import { hubMethods } from '../../usecases/registry';
import type { HubDeed, HubMethod } from '../../usecases/useCase';
import type { StreamDirection } from '../../usecases/streams';

export type Audience =
  | { readonly kind: 'all' }
  | { readonly kind: 'client'; readonly id: string }
  | { readonly kind: 'group'; readonly name: string };

/** What the bench methods work on. */
export interface BenchContext extends StreamHost {
  readonly contracts: Contracts;
  /** Hands a message to everybody in the audience. @returns false when it cannot be said in a protocol of theirs */
  send(caller: HubConnection, frames: FrameSource, audience: Audience): boolean;
  /** Calls a client from the hub; a delivery is what the knobs act on. */
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

interface BenchMethod {
  readonly name: string;
  /** Which of the contracts it belongs to; that of the dictionaries when absent. */
  readonly contract?: 'measure' | 'both';
  readonly argumentCount: number;
  readonly streams?: 1;
  readonly isStreaming?: true;
  /** Whether its callbacks are the deliveries that the knobs act on. */
  readonly delivers: boolean;
  readonly run: (
    context: BenchContext,
    caller: HubConnection,
    message: HubMessage,
  ) => Outcome | Promise<Outcome>;
}

const maxGroupNameLength = 1024;

type Deliver = Extract<HubDeed, { kind: 'deliver' }>;

function delivering(name: string, does: Deliver): BenchMethod {
  return {
    name,
    argumentCount: 1,
    delivers: true,
    run: (context, caller, message) => {
      const { protocol } = caller;
      const { bytes, argumentsStart, argumentsEnd, firstStart, firstEnd } = message;
      if (!protocol.isDictionary(bytes, firstStart)) return 'unbound';
      const callback = callbacks.recordLatency;
      // The caller gets what it has sent as it stands.
      if (does.to === 'caller') {
        const frame = protocol.invocationFrame(callback, bytes, argumentsStart, argumentsEnd);
        context.call(caller, frame, true);
        return 'done';
      }
      const receiver =
        'receiverKey' in does ? protocol.member(bytes, firstStart, firstEnd, does.receiverKey) : '';
      if (receiver === undefined) return 'failed';
      const frames = invocationFrames(protocol, callback, bytes, argumentsStart, argumentsEnd);
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
    run: (context, caller, message) => streamed(streamsOf(context, caller).start(message, 0, 0)),
  },
  /** Gives the dictionary back a number of times, numbered, one item each time the delay is over. */
  download: {
    argumentCount: 3,
    isStreaming: true,
    run: (context, caller, message) => {
      const { protocol } = caller;
      const { bytes, firstStart, firstEnd } = message;
      if (!protocol.isDictionary(bytes, firstStart)) return 'unbound';
      const items = protocol.integer(bytes, message.secondStart, message.secondEnd);
      const delayMs = protocol.integer(bytes, message.thirdStart, message.thirdEnd);
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
      const { bytes, firstStart, firstEnd, secondStart, secondEnd, argumentsEnd } = message;
      const { protocol: sent } = caller;
      const receiver = receiverFirst ? sent.text(bytes, firstStart, firstEnd) : '';
      const [ticksStart, ticksEnd, payloadStart, payloadEnd] = receiverFirst
        ? [secondStart, secondEnd, message.thirdStart, message.thirdEnd]
        : [firstStart, firstEnd, secondStart, secondEnd];
      const ticks = sent.wideInteger(bytes, ticksStart, ticksEnd);
      const isNull = sent.isNull(bytes, payloadStart);
      const payload = isNull ? null : sent.text(bytes, payloadStart, payloadEnd);
      if (receiver === undefined || ticks === undefined || payload === undefined) return 'unbound';
      const frames = encodedOnce((name) => {
        if (name === sent.name) return sent.measureFrame(bytes, ticksStart, argumentsEnd);
        const protocol = protocolNamed(name);
        const list = protocol?.encodeArguments([ticks, payload]);
        return list && protocol?.invocationFrame(callbacks.measure, list, 0, list.length);
      });
      return context.send(caller, frames, audienceOf(does, receiver, caller)) ? 'done' : 'failed';
    },
  };
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
function benchMethod(
  target: string,
  argumentCount: number,
  contracts: Contracts,
): BenchMethod | undefined {
  const named = (byName.get(target.toLowerCase()) ?? []).filter(
    ({ contract = 'recordLatency' }) =>
      contracts === 'both' || contract === 'both' || contract === contracts,
  );
  return named.find((method) => method.argumentCount === argumentCount) ?? named[0];
}

/** Error texts of ASP.NET Core 10 with `EnableDetailedErrors` off. */
const errorTexts = {
  unbound: (name: string) => `Failed to invoke '${name}' due to an error on the server.`,
  failed: (name: string) => `An unexpected error occurred invoking '${name}' on the server.`,
  notStreaming: (name: string) =>
    `The client attempted to invoke the non-streaming '${name}' method with a streaming invocation.`,
  streaming: (name: string) =>
    `The client attempted to invoke the streaming '${name}' method with a non-streaming invocation.`,
};

const unknownMethod = 'HubException: Method does not exist.';

function wrongStreams(sent: number, expected: number): string {
  return `HubException: Client sent ${sent} stream(s), Hub method expects ${expected}.`;
}

/** The completion of a call: its result, or the error; undefined when it comes later. */
type Answer = { readonly result: string | null } | { readonly error: string } | undefined;

function answerOf(
  context: BenchContext,
  caller: HubConnection,
  message: HubMessage,
  method: BenchMethod | undefined,
): Answer | Promise<Answer> {
  if (method === undefined) {
    return { error: `${errorTexts.unbound(message.target)} ${unknownMethod}` };
  }
  const { name, isStreaming = false } = method;
  if (message.argumentCount !== method.argumentCount) return { error: errorTexts.unbound(name) };
  if ((message.type === hubMessageType.streamInvocation) !== isStreaming) {
    return { error: errorTexts[isStreaming ? 'streaming' : 'notStreaming'](name) };
  }
  const { streams = 0 } = method;
  if (message.streams !== streams) {
    return { error: `${errorTexts.failed(name)} ${wrongStreams(message.streams, streams)}` };
  }
  const outcome = method.run(context, caller, message);
  return outcome instanceof Promise
    ? outcome.then((each) => answerTo(each, name))
    : answerTo(outcome, name);
}

function answerTo(outcome: Outcome, name: string): Answer {
  if (outcome === 'done') return { result: null };
  if (outcome === 'streams') return undefined;
  return typeof outcome === 'object' ? outcome : { error: errorTexts[outcome](name) };
}

/** Runs an invocation and, when it carries an id, sends its completion once it is over. */
export function invoke(context: BenchContext, caller: HubConnection, message: HubMessage): void {
  const { target, invocationId } = message;
  const method = benchMethod(target, message.argumentCount, context.contracts);
  const delivers = method?.delivers ?? false;
  if (delivers) context.messageArrived();
  const complete = (answer: Answer): void => {
    if (invocationId === undefined || answer === undefined) return;
    const completion =
      'error' in answer
        ? caller.protocol.errorFrame(invocationId, answer.error)
        : caller.protocol.resultFrame(invocationId, answer.result);
    // Behind its delivery, which may be delayed.
    if (delivers) context.sendBehind(caller, completion);
    else caller.write(completion);
  };
  const answer = answerOf(context, caller, message, method);
  if (answer instanceof Promise) void answer.then(complete);
  else complete(answer);
}
