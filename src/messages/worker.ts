import type { Endpoint, IdentityRow, ServicePass } from '../base/endpoint';
import type { WorkerSample } from '../measure/sample';
import type { AgentProgress } from '../measure/summary';
import type { Plan, PlanStep } from '../plan/plan';

export interface WorkerStart {
  readonly plan: Plan;
  /** Its number among the workers of all agents, as in the plan. */
  readonly worker: number;
  readonly endpoint: Endpoint;
  /** Zero of the run on the monotonic clock of this worker's machine, microseconds; a {@link ClockOrder} moves it. */
  readonly originUs: number;
}

/** The membership changes of one worker's connections. Plain data, safe to write as JSON. */
export interface MembershipReport {
  readonly worker: number;
  /** All its changes up to then (run time, whole microseconds) are in this report or in an earlier one. */
  readonly upToUs: number;
  /**
   * Three numbers for each change, in the order of time: connection, run time in microseconds, {@link
   * MembershipChange}. Long reports are divided, so that each stays below 100 KB.
   */
  readonly changes: readonly number[];
}

/**
 * The connection leaves (0) or joins (1); plus 2 when it leaves or joins the load as a whole; plus 4 and eight times
 * the position of an entry when it moves out of or into its group of that entry.
 */
export type MembershipChange = number;

/**
 * How far an agent's clock is from what it was when its workers started: run time is the machine's clock plus
 * `offsetUs` minus `originUs`. It goes from an agent to its own threads, which follow it without a jump.
 */
export interface ClockOrder {
  readonly type: 'clock';
  readonly offsetUs: number;
}

/** From a worker in a process of its own. The first message to it is its {@link WorkerStart}, then orders follow. */
export interface ProcessReport {
  readonly fact?: FromWorker;
  readonly open: number;
  readonly cpuUs: number;
}

/** Orders to a worker. Times are microseconds since the run's origin, by the clock of the lead. */
export type ToWorker =
  /** Open the worker's share of connections `from` … `to` − 1, the first one not before `atUs`. */
  | {
      readonly type: 'connect';
      readonly atUs: number;
      readonly from: number;
      readonly to: number;
    }
  /** Do the use case's preparation for a step on the open connections that lack it. */
  | { readonly type: 'prepare'; readonly step: number }
  /** All workers have prepared their connections: who has no id now is nobody's target. */
  | { readonly type: 'identify' }
  /** Run a step; its warm-up begins at `atUs`. `step` is present where the plan does not have it. */
  | {
      readonly type: 'step';
      readonly index: number;
      readonly atUs: number;
      readonly step?: PlanStep;
      /**
       * By how much the clocks of two agents may differ; absent: not at all. A message sent that near to a membership
       * change on another agent is ambiguous.
       */
      readonly ambiguousUs?: number;
    }
  | { readonly type: 'shrink'; readonly from: number; readonly to: number }
  /** The step's drain has begun, and ends at that time at the latest. */
  | { readonly type: 'drain'; readonly index: number; readonly untilUs: number }
  /** The step's drain is over, perhaps before its time: what still arrives is late. */
  | { readonly type: 'drained'; readonly index: number }
  | { readonly type: 'halt' }
  | { readonly type: 'flush'; readonly flush: number }
  | { readonly type: 'renewed'; readonly pass: ServicePass }
  /** Tokens of identities were renewed; used from the next request or connection on. */
  | {
      readonly type: 'identities';
      readonly rows: readonly (readonly [position: number, row: IdentityRow])[];
    }
  /** What workers of all agents have reported; only where the plan has several. */
  | { readonly type: 'moved'; readonly reports: readonly MembershipReport[] }
  | { readonly type: 'gone'; readonly agent: number }
  | { readonly type: 'close' };

export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'connected' }
  | { readonly type: 'prepared' }
  /** Just before each sample of a tick or a flush, where the plan has several agents. */
  | ({ readonly type: 'moved' } & Omit<MembershipReport, 'worker'>)
  | {
      readonly type: 'sampled';
      readonly sample: WorkerSample;
      readonly due: boolean;
      readonly flush?: number;
    }
  /** The step's last message was due and sent where possible; `atUs`: when nothing was left to send. */
  | { readonly type: 'stepSent'; readonly index: number; readonly atUs: number }
  | { readonly type: 'closed' };

export type FactOf<Type extends FromWorker['type']> = Extract<FromWorker, { readonly type: Type }>;

/** The workers of a run: threads or processes that take orders and report facts, each in order. */
export interface WorkerHost {
  /** Workers that can still be given orders. */
  readonly alive: ReadonlySet<number>;
  takingPart(): number;
  order(order: ToWorker): void;
  end(): Promise<void>;
  /**
   * Longest time in which the lead did not run since the last call, microseconds; absent: its workers share its
   * process.
   */
  suspendedUs?(): number;
  /** Whether the run goes on without a lost agent; absent: a lost worker ends the run. */
  readonly survivesLoss?: boolean;
  /** How long an order may take to reach everybody, microseconds; absent: as good as none. */
  readonly leadUs?: number;
  /** Between two looks at what is outstanding; absent: 25 ms. */
  readonly drainPollMs?: number;
  /** CPU time of all processes from that run time on, microseconds; absent: that of this process. */
  measureCpu?(fromUs: number): () => number;
  /** Settles when all facts reported so far have arrived, or their worker is lost; after `withinMs` at the latest. */
  settled?(withinMs: number): Promise<void>;
  /** Treats the agent of a worker as lost; `why` is a sentence. Absent: whoever does not report is waited for. */
  giveUp?(worker: number, why: string): void;
  /** The processes of the workers; absent: this one. */
  agents?(): readonly AgentProgress[];
  /** By how much the clocks of two agents may differ now, microseconds; absent: one clock. */
  ambiguousUs?(): number;
}

export interface WorkerListener {
  fact(worker: number, fact: FromWorker): void;
  /**
   * A worker ended without an order to, or threw; at most once for each, and none of its facts follows. Where the
   * others go on, the message names the agent and says what became of it.
   */
  lost(worker: number, error: Error): void;
}

/** Starts the workers of one run; the listener hears of them from the next turn of the event loop on. */
export type StartWorkers = (listener: WorkerListener) => WorkerHost;
