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

/** What the times between two messages of one sender are drawn from; their mean is the interval of the entry. */
export interface PlanIntervals {
  readonly distribution: 'uniform' | 'exponential' | 'lognormal';
  /** Of a uniform one: so far to either side, as a share of the interval; of a lognormal one: standard deviation by mean. */
  readonly spread: number;
}

export interface PlanStep {
  /** From 1. */
  readonly index: number;
  /** Of all entries together. */
  readonly senders: number;
  /** Senders of each entry; absent where there is one, which has them all. */
  readonly perEntry?: readonly number[];
  /** Connections that are opened up to and including this step; absent: all of them. */
  readonly connections?: number;
  /** Interval of each entry in this step; absent: that of the entry. */
  readonly intervalsMs?: readonly number[];
  /** Payload of a message in this step, where one size is written; absent: that of the entry. */
  readonly messageBytes?: number;
  /** How many of the senders send when; absent: all of them, all the time. */
  readonly stages?: StagesSpec;
  readonly warmupMs: number;
  readonly measureMs: number;
  readonly drainMs: number;
}

/** Groups that connections join; connection i joins `perConnection` groups from group i mod `count` on. */
export interface PlanGroups {
  readonly count: number;
  readonly perConnection: number;
  /** Whether senders are dealt over the groups in turn. */
  readonly dealsSenders: boolean;
  /** Entries with the same name have the same groups; absent: they are of this entry alone. */
  readonly sharedAs?: string;
}

export interface PlanPayload {
  /** Empty where nothing is sent. */
  readonly sizes: readonly PayloadSize[];
  readonly content: 'random' | 'text' | 'binary';
  /** Name of the file that payloads are made of, and its content once it is read. */
  readonly file?: string;
  readonly text?: string;
}

/** One of the use cases that a plan runs side by side: its parameters, read once. */
export interface PlanEntry {
  readonly useCase: string;
  readonly run: HubRun;
  /** Time between two messages of one sender; 0 where nothing is sent. */
  readonly intervalMs: number;
  /** Absent: the interval is always the same. */
  readonly intervals?: PlanIntervals;
  /** Of one connection, where connections move in and out of groups. */
  readonly moveIntervalMs?: number;
  readonly groups?: PlanGroups;
  /** Whether receivers stay the same for the whole run or change with each message. */
  readonly targets: 'fixed' | 'random';
  readonly payload: PlanPayload;
  /** That arguments name. */
  readonly files?: Readonly<Record<string, string>>;
  /** Of a replay: what is sent when, once its recording is read. */
  readonly tracks?: ReplayTracks;
}

/** Plain data, safe to clone. */
export interface WorkerPlan {
  readonly worker: number;
  readonly workers: number;
  readonly connectInFlight: number;
}

export interface PlanLife extends Pick<Scenario, 'repair' | 'lifetimeMs' | 'dropAllAfterMs'> {
  readonly policy: ReconnectPolicy;
  readonly delayMs: number;
}

/** Fixed before the run starts. Connection i belongs to worker i mod workers. Plain data, safe to clone. */
export interface Plan extends Pick<
  Scenario,
  'connections' | 'arrivingRate' | 'connectInFlight' | 'connectTimeoutMs' | 'pacing' | 'dialect'
> {
  /** Marks this run's messages among those of any other, 32 bits. */
  readonly runId: number;
  readonly seed: number;
  /** Connections send from the first on; absent: at random. */
  readonly inOrder?: true;
  /** How connections are spread over several URLs; absent: round robin. */
  readonly targetChoice?: TargetChoice;
  /** A ramp mode of the Azure SignalR benchmark; absent: a true rate. */
  readonly arrival?: { readonly mode: BatchMode; readonly batchWaitMs: number };
  /** Which connections are opened again; absent: none. */
  readonly life?: PlanLife;
  readonly protocol: WireProtocol;
  /** Which messages ask Azure Web PubSub for an acknowledgement; absent: the first of each sender. */
  readonly acks?: 'all';
  /** What runs side by side; never empty. Who sends for which: {@link import('./population').Population}. */
  readonly entries: readonly PlanEntry[];
  readonly steps: readonly PlanStep[];
  /** Steps of the scenario, where they are run more than once: so many of `steps` are one round. */
  readonly cycle?: number;
  /** Steps are decided on while the run goes on; `steps` has the largest one that may come. */
  readonly search?: SearchSpec;
  /** When messages are due: at random in the mean rate, or in the interval of their sender; absent: evenly. */
  readonly arrivals?: 'poisson' | 'jitter';
  /** Whether it is measured when messages have reached all their receivers; absent: it is not. */
  readonly timeToAll?: true;
  readonly slo: Slo;
  /** Processes that generate the load, as many workers in each; absent: one. `agents.ts` says whose is whose. */
  readonly agents?: number;
  /** They are processes of one machine, with one worker each, and read the same clock. */
  readonly oneClock?: true;
  readonly workers: readonly WorkerPlan[];
}
