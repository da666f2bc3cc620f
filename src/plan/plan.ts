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
import type { ReplayTracks } from './replayTracks';

/** Distribution of a sender's intervals; their mean is that of the entry. */
export interface PlanIntervals {
  readonly distribution: 'uniform' | 'exponential' | 'lognormal';
  /** uniform: half-width as a share of the interval; lognormal: standard deviation / mean. */
  readonly spread: number;
}

export interface PlanStep {
  readonly index: number;
  /** Of all entries together. */
  readonly senders: number;
  /** Absent with a single entry. */
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
  /** Deals senders over the groups in turn. */
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
  /** Of a replay, once its recording is read. */
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
