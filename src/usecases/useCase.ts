import { membershipMethods } from '../base/message';
import type { ClientPermission, Service } from '../base/serviceTraits';
import { largestGroup, numberParameter, type Parameters, type ParameterSpec } from './parameters';
import { type WireSize, type PayloadSize, weightedMean, parsePayloadSizes } from './payloadSizes';
import {
  deliveriesOfStep,
  isCounted,
  stepsIn,
  sumOverSession,
  type SessionRun,
  argumentsOfStep,
  listCalls,
} from './sessionSteps';
import {
  deliveriesOfStream,
  type StreamDirection,
  type StreamShape,
  itemBytes,
  ownStreamOf,
} from './streams';
import {
  parseArguments,
  rowPlaceholders,
  type RowPlaceholder,
  argumentBytes,
} from './ownArguments';

/** Once per connection, before the first step. */
export type Preparation = 'nothing' | 'connectionId' | 'joinGroups';

/** Receivers of a message; `client` is one other connection, `nobody`: nothing is sent. */
export type Audience = 'self' | 'client' | 'group' | 'everyone' | 'nobody';

export interface OwnCall {
  readonly method: string;
  /** JSON list, see {@link import('./ownArguments').parseArguments}. */
  readonly arguments: string;
  readonly reply: 'completion' | 'stream' | 'callback' | 'none';
  /** Client method that brings the text back. */
  readonly callback?: string;
}

export interface HubRun {
  readonly preparation: Preparation;
  readonly audience: Audience;
  /** A message of the bench hub. */
  readonly message?: HubMessage;
  /** A message of the user's own. */
  readonly ownCall?: OwnCall;
  /** Messages contain connection ids. */
  readonly needsId?: boolean;
  /** Hub method that joins a group; default `JoinGroup`. */
  readonly joinMethod?: string;
  /** Streams instead of messages. */
  readonly streams?: StreamShape;
  /** Sessions instead of messages; {@link audience} then only says whether there are groups. */
  readonly session?: SessionRun;
  /** One REST call per message, or one server connection for all; absent: the sender's connection. */
  readonly via?: 'rest' | 'persistent';
  /** Connections that do not send join and leave groups all the time. */
  readonly othersMove?: boolean;
}

export interface UseCase {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly services: readonly Service[];
  readonly parameters: readonly ParameterSpec[];
  readonly hubMethods?: readonly HubMethod[];
  /** The performance guides have a table for it. */
  readonly inGuides?: boolean;
  /** What the published tables leave out. */
  readonly assumption?: string;
  /** Parameters written into new files; default: all with a default. */
  readonly starting?: Readonly<Record<string, string>>;
  /** For the estimate; undefined where the published tables have none. */
  traffic(parameters: Parameters, load: Load, service: Service): Traffic | undefined;
  readonly run: HubRun;
  /** Depends on parameters; else `run`. */
  runWith?(parameters: Parameters): HubRun;
}

export const defaultUseCase = 'echo';

export const hubRunOf = (useCase: UseCase, parameters: Parameters): HubRun =>
  useCase.runWith?.(parameters) ?? useCase.run;

/** Per message, stream or session, with all connections open. */
export function deliveriesPerMessage(
  useCase: UseCase,
  parameters: Parameters,
  { connections }: Pick<Load, 'connections'>,
): number {
  const { audience, streams, session } = hubRunOf(useCase, parameters);
  if (streams !== undefined) return deliveriesOfStream(streams);
  if (session !== undefined) {
    const members =
      audience === 'group'
        ? largestGroup({ groupsPerConnection: 1, ...parameters }, connections)
        : 0;
    return sumOverSession(stepsIn(session), (step) =>
      isCounted(step) ? deliveriesOfStep(step, { connections, members }) : 0,
    );
  }
  if (audience === 'everyone') return connections;
  if (audience === 'group') return largestGroup(parameters, connections);
  return audience === 'nobody' ? 0 : 1;
}

export const sendsByRest = ({ run }: UseCase): boolean => run.via !== undefined;

/** Whether an event handler behind a serverless service can answer. */
export const runsUpstream = ({ run }: UseCase): boolean =>
  run.message !== undefined || run.audience === 'nobody';

/** Needed to join and send to groups without a hub. */
export function permissionsOf({ preparation, audience, via, session }: HubRun): ClientPermission[] {
  // Recorded clients may have done both.
  const maySend = (audience === 'group' && via === undefined) || session?.replays;
  return [
    ...(preparation === 'joinGroups' || session?.replays ? (['joinGroups'] as const) : []),
    ...(maySend ? (['sendToGroups'] as const) : []),
  ];
}

export const runsOnHub = ({ services }: UseCase): boolean => services.includes('hub');

/** Needs an application behind Azure Web PubSub. */
export const needsApplication = ({ run }: UseCase): boolean =>
  run.message !== undefined && run.via === undefined && run.audience !== 'group';

export type TrafficKind =
  | 'echo'
  | 'broadcast'
  | 'send_to_group'
  | 'send_to_connection'
  | 'rest_broadcast'
  | 'rest_send_to_user'
  | 'rest_send_to_group'
  | 'upstream_echo';

/** One use case in one step: input of the estimate. */
export interface Traffic {
  readonly kind: TrafficKind;
  readonly senders: number;
  /** Between two messages of a sender; positive. */
  readonly intervalS: number;
  readonly messageBytes: number;
  readonly messageSizes?: readonly PayloadSize[];
  /** Sizes with envelopes, by which they are billed. */
  readonly leaving?: readonly WireSize[];
  readonly groupMembers?: number;
  readonly connectionsPerUser?: number;
  /** The hub sends by itself, to that many connections. */
  readonly pushedTo?: number;
  /** Messages in per sending; default 1, 0 for pushes. */
  readonly inEach?: number;
  /** Messages out per sending and receiver; default 1. */
  readonly outEach?: number;
  /** Completions beside callbacks, which no delivery stands for. */
  readonly answers?: true;
}

/** One message of `messageSize` per interval. */
export const trafficOf =
  (kind: TrafficKind) =>
  (parameters: Parameters, { senders, connections }: Load): Traffic => ({
    kind,
    senders,
    intervalS: numberParameter(parameters, 'sendingInterval') / 1000,
    messageBytes: numberParameter(parameters, 'messageSize'),
    ...((kind === 'send_to_group' || kind === 'rest_send_to_group') && {
      groupMembers: largestGroup(parameters, connections),
    }),
  });

export interface Load {
  readonly connections: number;
  readonly senders: number;
}

/** Implemented by the C# hub, embedded hub, app servers and event handler. */
type HubAction =
  | DeliverAction
  | { readonly kind: 'membership'; readonly change: 'join' | 'leave' }
  /** By the result, or by a callback of the method's name. */
  | { readonly kind: 'id'; readonly by: 'result' | 'callback' }
  | { readonly kind: 'stream'; readonly direction: StreamDirection };

export type DeliverAction =
  | { readonly kind: 'deliver'; readonly to: 'caller' | 'everyone' }
  | {
      readonly kind: 'deliver';
      readonly to: 'client' | 'group';
      /** Dictionary key of the receiver; in `Measure` it is the first argument. */
      readonly receiverKey: string;
    };

export interface HubMethod {
  readonly name: string;
  /** Absent: not in the contract of `Measure`. */
  readonly measureName?: string;
  readonly action: HubAction;
}

export interface HubMessage {
  /** In the dialect `RecordLatency`. */
  readonly method: string;
  /** Dictionary key of the receiver. */
  readonly receiverKey?: string;
  /** Absent: not in the contract of `Measure`. */
  readonly measureMethod?: string;
}

export const groupMethods: readonly HubMethod[] = (['join', 'leave'] as const).map((change) => ({
  name: membershipMethods[change],
  measureName: membershipMethods[change],
  action: { kind: 'membership', change },
}));

export const hubMessageOf = ({ name, measureName, action }: HubMethod): HubMessage => ({
  method: name,
  ...('receiverKey' in action && { receiverKey: action.receiverKey }),
  ...(measureName !== undefined && { measureMethod: measureName }),
});

/** Row values in messages, with the parameter that holds them. */
export function rowsUsed({
  ownCall,
  streams,
  session,
}: HubRun): readonly { readonly key: string; readonly placeholder: RowPlaceholder }[] {
  const lists = { arguments: ownCall?.arguments, streamingItems: streams?.own?.items };
  const ofCalls = session === undefined ? [] : listCalls(stepsIn(session));
  return [
    ...Object.entries(lists).flatMap(([key, json = '[]']) =>
      rowPlaceholders(parseArguments(json)).map((placeholder) => ({ key, placeholder })),
    ),
    ...ofCalls
      .flatMap(({ step }) => rowPlaceholders(argumentsOfStep(step)))
      .map((placeholder) => ({ key: 'steps', placeholder })),
  ];
}

interface EntryPayload {
  /** Empty when nothing is sent. */
  readonly sizes: readonly PayloadSize[];
  /** Mean bytes of a message; 0 when nothing is sent. */
  readonly meanBytes: number;
}

/** By `arguments`, else `messageSizes`, else `messageSize`. */
export function payloadOf(parameters: Parameters): EntryPayload {
  const sizes = sizesOf(parameters);
  const mean = sizes.length === 0 ? 0 : weightedMean(sizes, (bytes) => bytes);
  return { sizes, meanBytes: Math.round(mean) };
}

function sizesOf(parameters: Parameters): readonly PayloadSize[] {
  const { messageSizes, messageSize, arguments: args } = parameters;
  if (typeof args === 'string') {
    const stream = ownStreamOf(parameters);
    const bytes =
      stream === undefined ? argumentBytes(parseArguments(args)) : itemBytes(stream, parameters);
    return [{ bytes, weight: 1 }];
  }
  if (typeof messageSizes === 'string') {
    const read = parsePayloadSizes(messageSizes);
    if ('sizes' in read) return read.sizes;
  }
  return typeof messageSize === 'number' ? [{ bytes: messageSize, weight: 1 }] : [];
}
