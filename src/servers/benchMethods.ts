import { ConnectionStreams, type StreamHost } from './connectionStreams';
import type { HubConnection } from './hubConnection';
import { callbackFrame, recordLatencyFrame } from './hubFrames';
import type { HubGroups } from './hubGroups';
import { isDictionaryAt, type HubMessage } from './hubMessage';
import { stringAt, stringMember } from './jsonScan';

/** What the bench methods work on. */
export interface BenchContext extends StreamHost {
  readonly groups: HubGroups;
  /** All connections past their handshake, by id. */
  readonly connections: ReadonlyMap<string, HubConnection>;
}

/**
 * `failed` is an exception in the method, `unbound` an argument of the wrong type; `streams` means that
 * items and the completion follow later. A result is JSON text.
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
  readonly argumentCount: number;
  /** Takes one stream and answers with one. */
  readonly isStreaming?: true;
  /** Whether its callbacks are the deliveries that the knobs act on. */
  readonly delivers: boolean;
  run(context: BenchContext, caller: HubConnection, message: HubMessage): Outcome;
}

/** Longest group name, and most groups of one connection. */
const maxGroupNameLength = 1024;
const maxGroupsPerConnection = 10_000;

function isDictionary({ bytes, firstStart }: HubMessage): boolean {
  return isDictionaryAt(bytes, firstStart);
}

/** The first argument as a .NET `int`; undefined when it does not bind to one. */
function intArgument({ bytes, firstStart, firstEnd }: HubMessage): number | undefined {
  const text = bytes.toString('latin1', firstStart, Math.min(firstEnd, firstStart + 16));
  const value = Number(text);
  return /^-?[0-9]+$/.test(text) && value === (value | 0) ? value : undefined;
}

function payloadFrame(message: HubMessage): Buffer {
  return recordLatencyFrame(message.bytes, message.argumentsStart, message.argumentsEnd);
}

function payloadText(message: HubMessage, key: string): string | undefined {
  return stringMember(message.bytes, message.firstStart, message.firstEnd, key);
}

/** A method that takes the payload and hands it to somebody. */
function delivering(
  name: string,
  receivers: (
    context: BenchContext,
    caller: HubConnection,
    message: HubMessage,
  ) => Iterable<HubConnection> | undefined,
): BenchMethod {
  return {
    name,
    argumentCount: 1,
    delivers: true,
    run: (context, caller, message) => {
      if (!isDictionary(message)) return 'unbound';
      const all = receivers(context, caller, message);
      if (all === undefined) return 'failed';
      let frame: Buffer | undefined;
      for (const receiver of all) context.deliver(receiver, (frame ??= payloadFrame(message)));
      return 'done';
    },
  };
}

const echo: BenchMethod = {
  name: 'Echo',
  argumentCount: 1,
  delivers: true,
  run: (context, caller, message) => {
    if (!isDictionary(message)) return 'unbound';
    context.deliver(caller, payloadFrame(message));
    return 'done';
  },
};

/** Its callback has its own name. */
function membership(name: string, change: 'join' | 'leave'): BenchMethod {
  const frame = callbackFrame(name);
  return {
    name,
    argumentCount: 1,
    delivers: false,
    run: ({ groups }, caller, { bytes, firstStart, firstEnd }) => {
      if (bytes[firstStart] !== 0x22) return bytes[firstStart] === 0x6e ? 'failed' : 'unbound';
      const group = stringAt(bytes, firstStart, firstEnd);
      if (group === undefined) return 'unbound';
      const isFull = change === 'join' && (caller.groups?.size ?? 0) >= maxGroupsPerConnection;
      if (group.length > maxGroupNameLength || isFull) return 'failed';
      groups[change](caller, group);
      caller.write(frame);
      return 'done';
    },
  };
}

const streamingEcho: BenchMethod = {
  name: 'StreamingEcho',
  argumentCount: 1,
  isStreaming: true,
  // Its items are deliveries; the call itself causes none.
  delivers: false,
  run: (context, caller, message) => {
    const delayMs = intArgument(message);
    if (delayMs === undefined) return 'unbound';
    const streams = (caller.streams ??= new ConnectionStreams(caller, context));
    const error = streams.start(message, delayMs);
    return error === undefined ? 'streams' : { error };
  },
};

const methods: readonly BenchMethod[] = [
  echo,
  delivering('Broadcast', ({ connections }) => connections.values()),
  delivering('SendToClient', ({ connections }, _caller, message) => {
    const id = payloadText(message, 'information.ConnectionId');
    if (id === undefined) return undefined;
    const receiver = connections.get(id);
    return receiver === undefined ? [] : [receiver];
  }),
  delivering('SendToGroup', ({ groups }, _caller, message) => {
    const group = payloadText(message, 'information.GroupName');
    return group === undefined ? undefined : groups.membersOf(group);
  }),
  {
    name: 'ConnectionId',
    argumentCount: 0,
    delivers: false,
    run: (_context, caller) => {
      caller.write(callbackFrame('ConnectionId', caller.id));
      return 'done';
    },
  },
  {
    name: 'GetConnectionId',
    argumentCount: 0,
    delivers: false,
    run: (_context, caller) => ({ result: JSON.stringify(caller.id) }),
  },
  membership('JoinGroup', 'join'),
  membership('LeaveGroup', 'leave'),
  streamingEcho,
];

const byLowerCase = new Map(methods.map((method) => [method.name.toLowerCase(), method]));

/** The method a client names, in any case; undefined when the contract has none of that name. */
export function benchMethod(target: string): BenchMethod | undefined {
  return byLowerCase.get(target.toLowerCase());
}
