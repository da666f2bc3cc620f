import { groupBy } from '../../base/collect';
import { faultReason } from '../http/loopbackServer';
import { ConnectionStreams } from './connectionStreams';
import type { BenchCaller } from './hubConnection';
import type { Deliveries } from './hubDeliveries';
import { callbacks } from '../../base/message';
import { type Envelope, hubMessageType } from '../../wire/message/hubMessage';
import {
  invocationFrames,
  encodeOncePerProtocol,
  findProtocol,
  type FrameSource,
} from '../hubProtocol/protocols';
import { hubMethods } from '../../usecases/registry';
import type { DeliverAction, HubMethod } from '../../usecases/useCase';
import type { StreamDirection } from '../../usecases/streams';

export type Audience =
  | { readonly kind: 'all' }
  | { readonly kind: 'client'; readonly id: string }
  | { readonly kind: 'group'; readonly name: string };

export type GroupChange = 'join' | 'leave';

export interface BenchContext {
  readonly deliveries: Deliveries;
  readonly contracts: BenchContracts;
  readonly chat: ChatRooms;
  /** Error text of a failed call; default as in ASP.NET Core. */
  errorOf?(message: Envelope): string;
  /** @returns false when the message has no form in a receiver's protocol */
  send(caller: BenchCaller, frames: FrameSource, audience: Audience): boolean;
  /** @param isDelivery whether the knobs act on it */
  call(client: BenchCaller, frame: Buffer, isDelivery: boolean): void;
  changeGroup(client: BenchCaller, group: string, change: GroupChange): boolean | Promise<boolean>;
}

/**
 * `failed`: an exception in the method. `unbound`: an argument of the wrong type. `streams`: the completion
 * follows later.
 */
type Outcome =
  | { readonly result: unknown }
  | { readonly error: string }
  | 'done'
  | 'streams'
  | 'failed'
  | 'unbound';

type Run = (
  context: BenchContext,
  caller: BenchCaller,
  message: Envelope,
) => Outcome | Promise<Outcome>;

interface BenchMethod {
  readonly name: string;
  readonly contract: 'recordLatency' | 'measure' | 'both';
  readonly argumentCount: number;
  readonly streams?: 1;
  readonly isStreaming?: true;
  readonly delivers?: true;
  readonly run: Run;
}

const maxGroupNameLength = 1024;

/** Sends the caller's dictionary to `RecordLatency`, byte for byte. */
const delivered =
  (action: DeliverAction): Run =>
  (context, caller, message) => {
    const { protocol } = caller;
    const dictionary = message.argument(0);
    if (!protocol.isDictionary(dictionary)) return 'unbound';
    const callback = callbacks.recordLatency;
    if (action.to === 'caller') {
      context.call(caller, protocol.invocationFrame(callback, message.allArguments), true);
      return 'done';
    }
    const receiver =
      'receiverKey' in action ? protocol.textMember(dictionary, action.receiverKey) : '';
    if (receiver === undefined) return 'failed';
    const frames = invocationFrames(protocol, callback, message.allArguments);
    const audience = audienceOf(action, receiver, caller);
    return context.send(caller, frames, audience) ? 'done' : 'failed';
  };

/** Sends ticks and payload to `Measure`. */
const measured =
  (action: DeliverAction): Run =>
  (context, caller, message) => {
    const { protocol: sent } = caller;
    const ticksAt = 'receiverKey' in action ? 1 : 0;
    const receiver = ticksAt === 1 ? sent.text(message.argument(0)) : '';
    const ticks = sent.wideInteger(message.argument(ticksAt));
    const blob = message.argument(ticksAt + 1);
    const payload = sent.isNull(blob) ? null : sent.text(blob);
    if (receiver === undefined || ticks === undefined || payload === undefined) return 'unbound';
    const frames = encodeOncePerProtocol((name) => {
      if (name === sent.name) return sent.measureFrame(message.argumentsFrom(ticksAt));
      const protocol = findProtocol(name);
      const list = protocol?.encodeArguments([ticks, payload]);
      return list && protocol?.invocationFrame(callbacks.measure, list);
    });
    const audience = audienceOf(action, receiver, caller);
    return context.send(caller, frames, audience) ? 'done' : 'failed';
  };

function audienceOf({ to }: DeliverAction, receiver: string, { id }: BenchCaller): Audience {
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

const membership =
  (callback: string | undefined, change: GroupChange): Run =>
  (context, caller, message) => {
    const { protocol } = caller;
    const name = message.argument(0);
    if (protocol.isNull(name)) return 'failed';
    const group = protocol.text(name);
    if (group === undefined) return 'unbound';
    if (group.length > maxGroupNameLength) return 'failed';
    const answer = (isChanged: boolean): Outcome => {
      if (isChanged && callback !== undefined)
        context.call(caller, protocol.callbackFrame(callback), false);
      return isChanged ? 'done' : 'failed';
    };
    const changed = context.changeGroup(caller, group, change);
    return typeof changed === 'boolean' ? answer(changed) : changed.then(answer);
  };

const streaming: Readonly<Record<StreamDirection, Omit<BenchMethod, 'name' | 'contract'>>> = {
  both: {
    argumentCount: 1,
    streams: 1,
    isStreaming: true,
    run: (context, caller, message) => {
      const delayMs = caller.protocol.integer(message.argument(0));
      if (delayMs === undefined) return 'unbound';
      return streamed(streamsOf(context, caller).start(message, delayMs));
    },
  },
  upload: {
    argumentCount: 0,
    streams: 1,
    run: (context, caller, message) => streamed(streamsOf(context, caller).start(message, 0, 0)),
  },
  download: {
    argumentCount: 3,
    isStreaming: true,
    run: (context, caller, message) => {
      const { protocol } = caller;
      const dictionary = message.argument(0);
      if (!protocol.isDictionary(dictionary)) return 'unbound';
      const items = protocol.integer(message.argument(1));
      const delayMs = protocol.integer(message.argument(2));
      if (items === undefined || delayMs === undefined) return 'unbound';
      if (protocol.isNull(dictionary)) return 'failed';
      const item = Buffer.from(dictionary);
      const { invocationId: id = '' } = message;
      return streamed(streamsOf(context, caller).startDownload({ id, item, items, delayMs }));
    },
  },
};

function streamsOf(context: BenchContext, caller: BenchCaller): ConnectionStreams {
  const { streams } = caller;
  if (streams instanceof ConnectionStreams) return streams;
  return (caller.streams = new ConnectionStreams(caller, context.deliveries));
}

const streamed = (error: string | undefined): Outcome =>
  error === undefined ? 'streams' : { error };

function methodsOf({ name, measureName, action }: HubMethod): BenchMethod[] {
  switch (action.kind) {
    case 'deliver': {
      const run = delivered(action);
      const older = { name, contract: 'recordLatency', argumentCount: 1, delivers: true } as const;
      if (measureName === undefined) return [{ ...older, run }];
      const argumentCount = 'receiverKey' in action ? 3 : 2;
      const newer = { name: measureName, contract: 'measure', argumentCount } as const;
      return [
        { ...older, run },
        { ...newer, delivers: true, run: measured(action) },
      ];
    }
    case 'membership':
      return [{ name, contract: 'both', argumentCount: 1, run: membership(name, action.change) }];
    case 'stream':
      return [{ ...streaming[action.direction], name, contract: 'recordLatency' }];
    case 'id': {
      const run: Run = (context, caller) => {
        if (action.by === 'result') return { result: caller.id };
        context.call(caller, caller.protocol.callbackFrame(name, caller.id), false);
        return 'done';
      };
      return [{ name, contract: 'recordLatency', argumentCount: 0, run }];
    }
  }
}

const post: Run = (context, caller, message) => {
  const { protocol } = caller;
  const room = protocol.text(message.argument(0));
  const draft = message.argument(1);
  if (room === undefined || !protocol.isDictionary(draft)) return 'unbound';
  if (room.length > maxGroupNameLength || protocol.isNull(draft)) return 'failed';
  const { author = null, text } = protocol.value(draft) as { author?: unknown; text?: unknown };
  if (typeof text !== 'string') return 'unbound';
  const said = context.chat.post(room, author, text, draft.length);
  const posted = protocol.encodeArguments([said]);
  const frames = invocationFrames(protocol, 'MessagePosted', posted);
  return context.send(caller, frames, { kind: 'group', name: room }) ? 'done' : 'failed';
};

const history: Run = (context, caller, message) => {
  const { protocol } = caller;
  const room = protocol.text(message.argument(0));
  const count = protocol.integer(message.argument(1));
  if (room === undefined || count === undefined) return 'unbound';
  return { result: context.chat.history(room, count) };
};

const acknowledge: Run = (_context, caller, message) =>
  caller.protocol.text(message.argument(0)) === undefined ? 'unbound' : 'done';

/** A small chat, to try sessions with. */
const chatMethods: readonly BenchMethod[] = [
  { name: 'JoinRoom', contract: 'both', argumentCount: 1, run: membership(undefined, 'join') },
  { name: 'SendMessage', contract: 'both', argumentCount: 2, delivers: true, run: post },
  { name: 'GetHistory', contract: 'both', argumentCount: 2, run: history },
  { name: 'Acknowledge', contract: 'both', argumentCount: 1, run: acknowledge },
  { name: 'LeaveRoom', contract: 'both', argumentCount: 1, run: membership(undefined, 'leave') },
];

const byName = groupBy([...hubMethods().flatMap(methodsOf), ...chatMethods], ({ name }) =>
  name.toLowerCase(),
);

export type BenchContracts = BenchMethod['contract'];

/** Methods of both contracts may share a name, and differ in their number of arguments. */
function benchMethod(message: Envelope, contracts: BenchContracts): BenchMethod | undefined {
  const { target, argumentCount } = message;
  const named = (byName.get(target.toLowerCase()) ?? []).filter(
    ({ contract }) => contracts === 'both' || contract === 'both' || contract === contracts,
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
  unknown: (name: string) =>
    `Failed to invoke '${name}' due to an error on the server. HubException: Method does not exist.`,
};

function refusalOf(message: Envelope, method: BenchMethod): string | undefined {
  const { name, isStreaming = false, streams = 0 } = method;
  if (message.argumentCount !== method.argumentCount) return errorTexts.unbound(name);
  if ((message.type === hubMessageType.streamInvocation) !== isStreaming)
    return errorTexts[isStreaming ? 'streaming' : 'notStreaming'](name);
  if ((message.streamIds?.length ?? 0) === streams) return undefined;
  const why = `Client sent ${message.streamIds?.length ?? 0} stream(s), Hub method expects ${streams}.`;
  return `${errorTexts.failed(name)} HubException: ${why}`;
}

export function invokeBenchMethod(
  context: BenchContext,
  caller: BenchCaller,
  message: Envelope,
): void {
  const { target, invocationId } = message;
  const { protocol } = caller;
  const method = benchMethod(message, context.contracts);
  const delivers = method?.delivers ?? false;
  if (delivers) context.deliveries.startStallClock();
  const complete = (outcome: Outcome): void => {
    if (invocationId === undefined || outcome === 'streams') return;
    const failed = (error: string): Buffer =>
      protocol.errorFrame(invocationId, context.errorOf?.(message) ?? error);
    const completion =
      outcome === 'done'
        ? protocol.resultFrame(invocationId, null)
        : typeof outcome === 'string'
          ? failed(errorTexts[outcome](method?.name ?? target))
          : 'error' in outcome
            ? failed(outcome.error)
            : protocol.resultFrame(invocationId, outcome.result);
    if (delivers) context.deliveries.send(caller, completion);
    else caller.write(completion);
  };
  if (method === undefined) {
    complete({ error: errorTexts.unknown(target) });
    return;
  }
  const error = refusalOf(message, method);
  const outcome = error === undefined ? method.run(context, caller, message) : { error };
  if (outcome instanceof Promise)
    outcome.then(complete, (error: unknown) => complete({ error: faultReason(error) }));
  else complete(outcome);
}

interface ChatMessage {
  readonly id: string;
  readonly author: unknown;
  readonly text: string;
}

export const maxHistoryMessages = 100;
/** Larger messages are delivered, but not remembered. */
const largestBytes = 4096;
/** Of all rooms; the rooms that were silent for longest are forgotten first. */
export const maxHistoryBytes = 16 * 1024 * 1024;
const envelopeBytes = 256;

interface Room {
  readonly messages: ChatMessage[];
  readonly sizes: number[];
}

export class ChatRooms {
  private readonly rooms = new Map<string, Room>();
  private count = 0;
  private bytes = 0;

  post(room: string, author: unknown, text: string, draftBytes: number): ChatMessage {
    const message = { id: String((this.count += 1)), author, text };
    const isScalar = author === null || typeof author !== 'object';
    if (draftBytes <= largestBytes && isScalar)
      this.remember(room, message, 2 * (room.length + draftBytes) + envelopeBytes);
    return message;
  }

  private remember(name: string, message: ChatMessage, bytes: number): void {
    const room = this.rooms.get(name) ?? { messages: [], sizes: [] };
    // A map keeps insertion order: the room becomes the newest.
    this.rooms.delete(name);
    this.rooms.set(name, room);
    room.messages.push(message);
    room.sizes.push(bytes);
    this.bytes += bytes;
    if (room.messages.length > maxHistoryMessages) {
      room.messages.shift();
      this.bytes -= room.sizes.shift()!;
    }
    for (const [oldest, { sizes }] of this.rooms) {
      if (this.bytes <= maxHistoryBytes) return;
      this.rooms.delete(oldest);
      this.bytes -= sizes.reduce((sum, size) => sum + size, 0);
    }
  }

  history(room: string, count: number): ChatMessage[] {
    const latest = Math.max(0, Math.min(maxHistoryMessages, Math.floor(count)));
    return latest === 0 ? [] : (this.rooms.get(room)?.messages ?? []).slice(-latest).reverse();
  }
}
