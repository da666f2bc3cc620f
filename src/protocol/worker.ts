import type { Endpoint, ServicePass } from '../base/endpoint';
import type { WorkerSample } from '../measure/sample';
import type { Plan, PlanStep } from '../plan/plan';

export interface WorkerStart {
  readonly plan: Plan;
  readonly worker: number;
  readonly endpoint: Endpoint;
  /** Zero of the run on the machine's monotonic clock, microseconds. */
  readonly originUs: number;
}

/** Orders to a worker. Times are microseconds since the run's origin. */
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
    }
  /** Close the worker's share of connections `from` … `to` − 1; they may be opened again. */
  | { readonly type: 'shrink'; readonly from: number; readonly to: number }
  /** The step's drain goes on until then at most: what arrives later is late, whenever that is read. */
  | { readonly type: 'drain'; readonly index: number; readonly untilUs: number }
  /** The step's drain is over: what still arrives is late. */
  | { readonly type: 'drained'; readonly index: number }
  | { readonly type: 'halt' }
  /** Send a sample at once, marked with this number. */
  | { readonly type: 'flush'; readonly flush: number }
  /** What lets the application in at its service has changed: a sign-in was renewed. */
  | { readonly type: 'renewed'; readonly pass: ServicePass }
  | { readonly type: 'close' };

/** Facts a worker reports. */
export type FromWorker =
  | { readonly type: 'ready' }
  /** Every connect of this worker has succeeded or failed. */
  | { readonly type: 'connected' }
  | { readonly type: 'prepared' }
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
  /** The step's last message was due (and sent, where possible). */
  | { readonly type: 'stepSent'; readonly index: number }
  /** All connections are closed; nothing follows. */
  | { readonly type: 'closed' };

/** Where the workers of a run are: threads of this process, or whatever else takes orders and reports facts. */
export interface WorkerHost {
  /** Workers that can still be given orders. */
  readonly alive: ReadonlySet<number>;
  takingPart(): number;
  order(order: ToWorker): void;
  /** Ends all workers, whatever they are doing. */
  end(): Promise<void>;
}

export interface WorkerListener {
  fact(worker: number, fact: FromWorker): void;
  /** A worker ended without an order to, or threw; at most once for each, and none of its facts follows. */
  lost(worker: number, error: Error): void;
}

/** Starts the workers of one run; the listener hears of them from the next turn of the event loop on. */
export type StartWorkers = (listener: WorkerListener) => WorkerHost;
