import type { Endpoint, IdentityRow, ServicePass } from '../base/endpoint';
import type { WorkerSample } from '../measure/sample';
import type { AgentProgress } from '../measure/summary';
import type { Plan, PlanStep } from '../plan/plan';

export interface WorkerStart {
  readonly plan: Plan;
  /** Counted over all agents, which is what the plan does, too. */
  readonly worker: number;
  readonly endpoint: Endpoint;
  /** Zero of the run on the monotonic clock of this worker's machine, microseconds; a {@link ClockOrder} moves it. */
  readonly originUs: number;
}

/** What one worker has reported of its connections' coming and going. Plain data, safe to write as JSON. */
export interface MembershipReport {
  readonly worker: number;
  /** All its changes up to then (run time, whole microseconds) are in this report or in an earlier one. */
  readonly upToUs: number;
  /**
   * Three numbers for each change, in the order of time: the connection, the microsecond of run time from which on it
   * counts, and what it is: {@link MembershipChange}. A worker divides what is long, so that a report stays below 100 KB.
   */
  readonly changes: readonly number[];
}

/**
 * The connection leaves (0) or joins (1); with 2 added it takes no part where connections move in and out of groups. With 4
 * and eight times the position of an entry added it moves, while it takes part, out of its group of that entry or into it.
 */
export type MembershipChange = number;

/**
 * How far the clock of an agent's machine is from what it was when its workers started: run time is the machine's clock
 * plus `offsetUs` minus `originUs`. It goes from an agent to its own threads and to nobody else; they follow it without a
 * jump, and no two of them read different times.
 */
export interface ClockOrder {
  readonly type: 'clock';
  readonly offsetUs: number;
}

/** What a worker in a process of its own says, whose first message is its {@link WorkerStart}: orders follow. */
export interface ProcessReport {
  /** Absent: nothing but the numbers. */
  readonly fact?: FromWorker;
  /** Connections of it that take part. */
  readonly open: number;
  /** CPU time of the process since it began, microseconds. */
  readonly cpuUs: number;
}

/** Orders to a worker. Times are microseconds since the run's origin, by the clock of whoever leads the run. */
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
  /** Run a step; its warm-up begins at `atUs`. It stands in the order where it is none of the plan. */
  | {
      readonly type: 'step';
      readonly index: number;
      readonly atUs: number;
      readonly step?: PlanStep;
      /**
       * By how much the clocks of two agents may differ. Absent: they do not. What was sent so near to a change of a
       * connection of another agent is not counted by anybody.
       */
      readonly ambiguousUs?: number;
    }
  /** Close the worker's share of connections `from` … `to` − 1; they may be opened again. */
  | { readonly type: 'shrink'; readonly from: number; readonly to: number }
  /** The step's drain has begun, and goes on until then at most; workers know by themselves what is late. */
  | { readonly type: 'drain'; readonly index: number; readonly untilUs: number }
  /** The step's drain is over, perhaps before its time: what still arrives is late. */
  | { readonly type: 'drained'; readonly index: number }
  | { readonly type: 'halt' }
  /** Send a sample at once, marked with this number. */
  | { readonly type: 'flush'; readonly flush: number }
  /** What lets the application in at its service has changed: a sign-in was renewed. */
  | { readonly type: 'renewed'; readonly pass: ServicePass }
  /** Tokens of identities were renewed; from the next request or connection on they are used. */
  | {
      readonly type: 'identities';
      readonly rows: readonly (readonly [position: number, row: IdentityRow])[];
    }
  /** What workers of all agents have reported; only where the plan has several. */
  | { readonly type: 'moved'; readonly reports: readonly MembershipReport[] }
  /** That agent was lost: nothing more is expected of its connections, and none of its reports is waited for. */
  | { readonly type: 'gone'; readonly agent: number }
  | { readonly type: 'close' };

/** Facts a worker reports. */
export type FromWorker =
  | { readonly type: 'ready' }
  /** Every connect of this worker has succeeded or failed. */
  | { readonly type: 'connected' }
  | { readonly type: 'prepared' }
  /** Just before each sample of a tick or a flush, where the plan has several agents; in parts where it is long. */
  | ({ readonly type: 'moved' } & Omit<MembershipReport, 'worker'>)
  /**
   * Raw numbers since the previous sample: one each tick (`due`), others at the borders of a step and in
   * answer to `flush`.
   */
  | {
      readonly type: 'sampled';
      readonly sample: WorkerSample;
      readonly due: boolean;
      readonly flush?: number;
    }
  /** The step's last message was due (and sent, where possible); then, in run time, nothing was left to send. */
  | { readonly type: 'stepSent'; readonly index: number; readonly atUs: number }
  /** All connections are closed; nothing follows. */
  | { readonly type: 'closed' };

export type FactOf<Type extends FromWorker['type']> = Extract<FromWorker, { readonly type: Type }>;

/**
 * Where the workers of a run are: threads of this process, processes of their own, or whatever else takes orders and reports facts. Each worker
 * gets the orders in the order in which they were given, and its facts come in the order in which it reported them.
 */
export interface WorkerHost {
  /** Workers that can still be given orders. */
  readonly alive: ReadonlySet<number>;
  takingPart(): number;
  order(order: ToWorker): void;
  /** Ends all workers, whatever they are doing. */
  end(): Promise<void>;
  /** Longest time in which who leads did not run, since the last call, microseconds; absent: its workers share its process. */
  suspendedUs?(): number;
  /** Whether the others go on when an agent is lost, all its workers at once; absent: a lost worker ends the run. */
  readonly survivesLoss?: boolean;
  /** How long an order may take to reach everybody, microseconds; absent: as good as none. */
  readonly leadUs?: number;
  /** Between two looks at what is outstanding; absent: 25 ms. */
  readonly drainPollMs?: number;
  /** What all processes use of CPU time from that run time on, microseconds; absent: that of this process counts. */
  measureCpu?(fromUs: number): () => number;
  /**
   * Settles when all that was reported up to now is here: who is silent has come back by then, or is lost. Or after so long
   * in which somebody could be heard.
   */
  settled?(withinMs: number): Promise<void>;
  /**
   * Takes the agent of a worker for lost, which has not reported what it should have; `why` is a sentence. Absent:
   * whoever does not report is waited for.
   */
  giveUp?(worker: number, why: string): void;
  /** The processes that the workers belong to, as they stand; absent: this one. */
  agents?(): readonly AgentProgress[];
  /** By how much the clocks of two agents may differ now, microseconds; absent: all read the same clock. */
  ambiguousUs?(): number;
}

export interface WorkerListener {
  fact(worker: number, fact: FromWorker): void;
  /**
   * A worker ended without an order to, or threw; at most once for each, and none of its facts follows. It is not alive.
   * Where the others go on, the message names the agent and says what became of it.
   */
  lost(worker: number, error: Error): void;
}

/** Starts the workers of one run; the listener hears of them from the next turn of the event loop on. */
export type StartWorkers = (listener: WorkerListener) => WorkerHost;
