import type { FromWorker, ToWorker } from '../../protocol/worker';

/** Where the workers of a run are: threads of this process, or whatever else takes orders and reports facts. */
export interface WorkerHost {
  /** Workers that can still be given orders. */
  readonly alive: ReadonlySet<number>;
  /** Connections of all workers that take part now. */
  takingPart(): number;
  /** Gives an order to all that are alive. */
  order(order: ToWorker): void;
  /** Ends all workers, whatever they are doing. */
  end(): Promise<void>;
}

/** Who follows the workers of a run. */
export interface WorkerListener {
  fact(worker: number, fact: FromWorker): void;
  /** A worker ended without an order to, or threw; at most once for each, and none of its facts follows. */
  lost(worker: number, error: Error): void;
}

/** Starts the workers of one run; the listener hears of them from the next turn of the event loop on. */
export type StartWorkers = (listener: WorkerListener) => WorkerHost;
