import { membershipMethods } from '../base/message';
import type { ClientPermission, Service } from '../base/serviceTraits';
import { largestGroup, numberOf, type Parameters, type ParameterSpec } from './parameters';
import type { WireSize, PayloadSize } from './payloadSizes';
import {
  deliveriesOfStep,
  isCounted,
  stepsIn,
  sumOverSession,
  type SessionRun,
  argumentsOfStep,
  callsOf,
} from './sessionSteps';
import { itemsDown, type StreamDirection, type StreamShape } from './streams';
import { ownArguments, rowPlaceholders, type RowPlaceholder } from './ownArguments';

/** What a connection does once after connecting, before the first step. */
export type Preparation = 'nothing' | 'connectionId' | 'joinGroups';

/** Who receives a message: the sender, one other connection, the members of a group, everybody, or, where nothing is sent, nobody. */
export type Audience = 'self' | 'client' | 'group' | 'everyone' | 'nobody';

export interface OwnCall {
  readonly method: string;
  /** A list as JSON text, see {@link import('./ownArguments').ownArguments}. */
  readonly arguments: string;
  readonly reply: 'completion' | 'stream' | 'callback' | 'none';
  /** Client method that brings the first text back. */
  readonly callback?: string;
}

export interface HubRun {
  readonly preparation: Preparation;
  readonly audience: Audience;
  /** A message of the bench contracts. */
  readonly message?: HubMessage;
  /** A message of the user's own; without either, nothing is sent, or {@link streams} are. */
  readonly ownCall?: OwnCall;
  /** Needed beside the preparation, to be written into messages. */
  readonly needsId?: boolean;
  /** Hub method that joins a group; `JoinGroup` when absent. */
  readonly joinMethod?: string;
  /** Streams are sent instead of messages. */
  readonly streams?: StreamShape;
  /** Sessions are begun instead: calls that follow one another, of which {@link audience} only says whether there are groups. */
  readonly session?: SessionRun;
  /** One REST call for each message, or one server connection for all; absent: over the sender’s own connection. */
  readonly via?: 'rest' | 'persistent';
  /** Connections that do not send keep joining and leaving their groups instead of staying in them. */
  readonly othersMove?: boolean;
}

/** The name is stable: scenario files have it. */
export interface UseCase {
  readonly name: string;
  /** Other spellings that are understood. */
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly services: readonly Service[];
  readonly parameters: readonly ParameterSpec[];
  /** Of the bench contracts, as far as it needs a hub to have them. */
  readonly hubMethods?: readonly HubMethod[];
  /** The performance guides have a table of its own for it. */
  readonly inGuides?: boolean;
  /** What the published tables do not know of it. */
  readonly assumption?: string;
  /** Parameters that new files begin with, as written there; absent: all that have a default. */
  readonly starting?: Readonly<Record<string, string>>;
  /** Traffic for the estimate; undefined where the published tables have no such traffic. */
  traffic(parameters: Parameters, load: Load, service: Service): Traffic | undefined;
  readonly run: HubRun;
  /** Where that depends on them. */
  runWith?(parameters: Parameters): HubRun;
}

/** For what must not load the others. */
export const usualUseCase = 'echo';

export const hubRunOf = (useCase: UseCase, parameters: Parameters): HubRun =>
  useCase.runWith?.(parameters) ?? useCase.run;

/** Deliveries of one message, one stream or one session, when all connections are up. */
export function deliveriesOf(
  useCase: UseCase,
  parameters: Parameters,
  { connections }: Pick<Load, 'connections'>,
): number {
  const { audience, streams, session } = hubRunOf(useCase, parameters);
  if (streams !== undefined) return itemsDown(streams);
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

export const isRest = ({ run }: UseCase): boolean => run.via !== undefined;

/** Whether a handler behind a serverless service can answer. */
export const runsUpstream = ({ run }: UseCase): boolean =>
  run.message !== undefined || run.audience === 'nobody';

/** Where clients join and send to groups by themselves. */
export function permissionsOf({ preparation, audience, via, session }: HubRun): ClientPermission[] {
  // What recorded clients did is not looked at.
  const maySend = (audience === 'group' && via === undefined) || session?.replays;
  return [
    ...(preparation === 'joinGroups' || session?.replays ? (['joinGroups'] as const) : []),
    ...(maySend ? (['sendToGroups'] as const) : []),
  ];
}

export const runsOnHub = ({ services }: UseCase): boolean => services.includes('hub');

/** Behind Azure Web PubSub; not where clients send to a group. */
export const needsApplication = ({ run }: UseCase): boolean =>
  run.message !== undefined && run.via === undefined && run.audience !== 'group';

/** Of the published tables. */
export type TrafficKind =
  | 'echo'
  | 'broadcast'
  | 'send_to_group'
  | 'send_to_connection'
  | 'rest_broadcast'
  | 'rest_send_to_user'
  | 'rest_send_to_group'
  | 'upstream_echo';

/** Traffic of one use case at one step: the input of the estimate. */
export interface Traffic {
  readonly kind: TrafficKind;
  /** Connections (or REST callers) that send. */
  readonly senders: number;
  /** Seconds between two messages of one sender; positive. */
  readonly intervalS: number;
  /** Average payload of one message in bytes. */
  readonly messageBytes: number;
  /** The sizes behind that average, where there are several. */
  readonly messageSizes?: readonly PayloadSize[];
  /** The same with their envelopes, by which they are billed; absent: payloads alone are known. */
  readonly leaving?: readonly WireSize[];
  /** Members of the group a message goes to, for the group kinds. */
  readonly groupMembers?: number;
  /** Connections of the user a message goes to; 1 when absent. */
  readonly connectionsPerUser?: number;
  /** The hub sends it on its own: how many connections each message goes to, whatever the kind; {@link inEach} is 0. */
  readonly pushedTo?: number;
  /** Messages in for each sending; 1 when absent, 0 of what the hub sends by itself. */
  readonly inEach?: number;
  /** Messages out for each sending to each receiver; 1 when absent, 0 where nobody answers. */
  readonly outEach?: number;
  /** Completions that no delivery stands for, beside callbacks: {@link inEach} is 0. */
  readonly answers?: true;
}

/** Traffic of senders that send one message of `messageSize` each interval. */
export const trafficOf =
  (kind: TrafficKind) =>
  (parameters: Parameters, { senders, connections }: Load): Traffic => ({
    kind,
    senders,
    intervalS: numberOf(parameters, 'sendingInterval') / 1000,
    messageBytes: numberOf(parameters, 'messageSize'),
    ...((kind === 'send_to_group' || kind === 'rest_send_to_group') && {
      groupMembers: largestGroup(parameters, connections),
    }),
  });

export interface Load {
  readonly connections: number;
  readonly senders: number;
}

/** What a hub method does: C#, embedded hub, app servers and the handler behind a service all do it from here. */
type HubAction =
  | DeliverAction
  | { readonly kind: 'membership'; readonly change: 'join' | 'leave' }
  /** By the result, or a callback of the method's name. */
  | { readonly kind: 'id'; readonly by: 'result' | 'callback' }
  | { readonly kind: 'stream'; readonly direction: StreamDirection };

export type DeliverAction =
  | { readonly kind: 'deliver'; readonly to: 'caller' | 'everyone' }
  | {
      readonly kind: 'deliver';
      readonly to: 'client' | 'group';
      /** Dictionary key of the receiver's connection id or group name; in `Measure` it is the first argument. */
      readonly receiverKey: string;
    };

export interface HubMethod {
  readonly name: string;
  /** In the contract of `Measure`; absent: it has none. */
  readonly measureName?: string;
  readonly action: HubAction;
}

export interface HubMessage {
  /** In the dialect `RecordLatency`. */
  readonly method: string;
  /** Dictionary key of the receiver's connection id or group name. */
  readonly receiverKey?: string;
  /** In the contract `Measure`; absent: it has none. */
  readonly measureMethod?: string;
}

export const groupMethods: readonly HubMethod[] = (['join', 'leave'] as const).map((change) => ({
  name: membershipMethods[change],
  measureName: membershipMethods[change],
  action: { kind: 'membership', change },
}));

export const callOf = ({ name, measureName, action }: HubMethod): HubMessage => ({
  method: name,
  ...('receiverKey' in action && { receiverKey: action.receiverKey }),
  ...(measureName !== undefined && { measureMethod: measureName }),
});

/** Values of rows that messages hold, with the parameter that they stand in. */
export function rowsUsed({
  ownCall,
  streams,
  session,
}: HubRun): readonly { readonly key: string; readonly placeholder: RowPlaceholder }[] {
  const lists = { arguments: ownCall?.arguments, streamingItems: streams?.own?.items };
  const ofCalls = session === undefined ? [] : callsOf(stepsIn(session));
  return [
    ...Object.entries(lists).flatMap(([key, json = '[]']) =>
      rowPlaceholders(ownArguments(json)).map((placeholder) => ({ key, placeholder })),
    ),
    ...ofCalls
      .flatMap(({ step }) => rowPlaceholders(argumentsOfStep(step)))
      .map((placeholder) => ({ key: 'steps', placeholder })),
  ];
}
