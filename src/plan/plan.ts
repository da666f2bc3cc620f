import type { Slo } from '../base/slo';
import type { WireProtocol } from '../base/message';
import type {
  BatchMode,
  ReconnectPolicy,
  Scenario,
  SearchSpec,
  StagesSpec,
  TargetChoice,
} from '../scenario/scenario';
import type { PayloadSize } from '../usecases/payloadSizes';
import type { HubRun } from '../usecases/useCase';

/** Distribution of a sender's intervals; their mean is that of the entry. */
export interface PlanIntervals {
  readonly distribution: 'uniform' | 'exponential' | 'lognormal';
  /** uniform: half-width as a share of the interval; lognormal: standard deviation / mean. */
  readonly spread: number;
}

export interface PlanStep {
  readonly index: number;
  readonly senders: number;
  readonly perEntry?: readonly number[];
  /** Connections opened up to this step; absent: all. */
  readonly connections?: number;
  /** Absent: those of the entries. */
  readonly intervalsMs?: readonly number[];
  /** Payload of each message, in a search for the message size. */
  readonly messageBytes?: number;
  /** Absent: all senders send all the time. */
  readonly stages?: StagesSpec;
  readonly warmupMs: number;
  readonly measureMs: number;
  readonly drainMs: number;
}

/** Connection i joins `perConnection` groups from group i mod `count` on. */
export interface PlanGroups {
  readonly count: number;
  readonly perConnection: number;
  readonly dealsSenders: boolean;
  /** Entries with the same name share their groups. */
  readonly sharedAs?: string;
}

export interface PlanPayload {
  readonly sizes: readonly PayloadSize[];
  readonly content: 'random' | 'text' | 'binary';
  /** File that payloads are made of, and its content once read. */
  readonly file?: string;
  readonly text?: string;
}

export interface PlanEntry {
  readonly useCase: string;
  readonly run: HubRun;
  /** Between two messages of a sender; 0 where nothing is sent. */
  readonly intervalMs: number;
  readonly intervals?: PlanIntervals;
  /** Between two moves of a connection in or out of its groups. */
  readonly moveIntervalMs?: number;
  readonly groups?: PlanGroups;
  readonly targets: 'fixed' | 'random';
  readonly payload: PlanPayload;
  /** Contents of files named in arguments. */
  readonly files?: Readonly<Record<string, string>>;
  readonly tracks?: ReplayTracks;
}

export interface WorkerPlan {
  readonly worker: number;
  readonly workers: number;
  readonly connectInFlight: number;
}

export interface PlanLife extends Pick<Scenario, 'repair' | 'lifetimeMs' | 'dropAllAfterMs'> {
  readonly policy: ReconnectPolicy;
  readonly delayMs: number;
}

/** Fixed before the run. Connection i belongs to worker i mod workers. Plain data, safe to clone. */
export interface Plan extends Pick<
  Scenario,
  'connections' | 'arrivingRate' | 'connectInFlight' | 'connectTimeoutMs' | 'pacing' | 'dialect'
> {
  /** Distinguishes messages of this run from others, 32 bits. */
  readonly runId: number;
  readonly seed: number;
  readonly inOrder?: true;
  /** Over several URLs; absent: round robin. */
  readonly targetChoice?: TargetChoice;
  /** Ramp mode of the Azure SignalR benchmark; absent: a constant rate. */
  readonly arrival?: { readonly mode: BatchMode; readonly batchWaitMs: number };
  readonly life?: PlanLife;
  readonly protocol: WireProtocol;
  /** Which Web PubSub messages ask for an acknowledgement; absent: each sender's first. */
  readonly acks?: 'all';
  /** Run side by side; never empty. */
  readonly entries: readonly PlanEntry[];
  readonly steps: readonly PlanStep[];
  /** Steps per repetition, where the scenario is repeated. */
  readonly cycle?: number;
  /** Steps are chosen during the run; `steps` has the largest one. */
  readonly search?: SearchSpec;
  /** Random due times; absent: even. */
  readonly arrivals?: 'poisson' | 'jitter';
  /** Measures when messages have reached all their receivers. */
  readonly timeToAll?: true;
  readonly slo: Slo;
  /** Processes with equal numbers of workers; absent: one. */
  readonly agents?: number;
  /** Agents are processes of one machine with one worker each. */
  readonly oneClock?: true;
  readonly workers: readonly WorkerPlan[];
}

/**
 * An *agent* is one process that generates load with its own workers. Agent a of N with w workers each has the
 * workers a·w … a·w + w − 1; connection i belongs to worker i mod (N·w).
 */

type Shared = Pick<Plan, 'agents' | 'workers'>;

export const agentCount = ({ agents = 1 }: Pick<Plan, 'agents'>): number => agents;

/** Whether agents have different clocks. */
export const hasSeveralClocks = (plan: Pick<Plan, 'agents' | 'oneClock'>): boolean =>
  agentCount(plan) > 1 && plan.oneClock !== true;

const workersEach = (plan: Shared): number => plan.workers.length / agentCount(plan);

export const agentOfWorker = (plan: Shared, worker: number): number =>
  Math.floor(worker / workersEach(plan));

export const agentOfConnection = (plan: Shared, connection: number): number =>
  agentOfWorker(plan, connection % plan.workers.length);

export function workersOfAgent(plan: Shared, agent: number): number[] {
  const each = workersEach(plan);
  return Array.from({ length: each }, (_, at) => agent * each + at);
}

export function connectionsOfAgent(
  plan: Shared & Pick<Plan, 'connections'>,
  agent: number,
): Uint32Array {
  const own: number[] = [];
  for (let index = 0; index < plan.connections; index++)
    if (agentOfConnection(plan, index) === agent) own.push(index);
  return Uint32Array.from(own);
}

/** Whole parts that differ by at most one. */
export function splitEvenly(total: number, parts: number): number[] {
  return Array.from({ length: parts }, (_, part) => Math.floor((total + parts - 1 - part) / parts));
}

/**
 * A recording prepared for sending. All threads of a process share its memory: workers copy and parse nothing, so a
 * replay has one process.
 */
export interface ReplayTracks {
  /** Recorded clients; connection i replays client i mod `clients`. */
  readonly clients: number;
  /** Time over which the replays of one client start, microseconds. */
  readonly spreadUs: number;
  /** Index of each client's first operation, then the number of operations. */
  readonly first: Uint32Array;
  /** Due time of each operation, microseconds from the start of its client; rising. */
  readonly dueUs: Float64Array;
  /** Index of the call it counts as. */
  readonly call: Uint16Array;
  readonly flags: Uint8Array;
  /** Position of its message in `bytes`, and how many bytes are arguments. */
  readonly at: Uint32Array;
  readonly length: Uint32Array;
  readonly payloadBytes: Uint32Array;
  /** Offset of the stamp, for Web PubSub of the acknowledgement id; or {@link noStamp}. */
  readonly stampAt: Uint32Array;
  /** Operation that opened the stream which this one cancels or ends; else its own index. */
  readonly of: Uint32Array;
  /** Messages in the protocol of the run. */
  readonly bytes: Uint8Array;
  /** By call: the one under which items of its stream are counted; −1 without a stream. */
  readonly itemsOf: readonly number[];
}

export const noStamp = 0xffffffff;

export const replayFlag = {
  /** An answer is expected. */
  answered: 1,
  refused: 2,
  cancels: 4,
  /** Opens a stream that is cancelled later. */
  isCancelled: 8,
  ends: 16,
} as const;

/** Operations that are no calls. */
export const uncountedFlags = replayFlag.cancels | replayFlag.ends;

/** Start of a connection's replay, microseconds from the start of the step. */
export function replayStartUs(
  { clients, spreadUs }: Pick<ReplayTracks, 'clients' | 'spreadUs'>,
  connection: number,
  connections: number,
): number {
  const copies = Math.ceil(connections / clients);
  return (Math.floor(connection / clients) * spreadUs) / copies;
}
