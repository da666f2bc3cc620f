import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerStart } from '../../protocol/worker';

export interface PoolListener {
  fact(worker: number, fact: FromWorker): void;
  /** The thread ended without having been told to, or threw. Told once for each worker. */
  lost(worker: number, error: Error): void;
}

/** The worker threads of one run. Every way a thread can end leads to exactly one call. */
export class WorkerPool {
  private readonly threads: Worker[];
  /** Workers that can still be given orders. */
  readonly alive = new Set<number>();

  constructor(workerScript: string, starts: readonly WorkerStart[], listener: PoolListener) {
    this.threads = starts.map((start, index) => {
      this.alive.add(index);
      const thread = new Worker(workerScript, {
        workerData: start,
        name: `signalr-bench ${index}`,
      });
      thread.on('message', (fact: FromWorker) => {
        if (fact.type === 'closed') this.alive.delete(index);
        listener.fact(index, fact);
      });
      const lost = (error: Error): void => {
        if (this.alive.delete(index)) listener.lost(index, error);
      };
      thread.on('error', (error) =>
        lost(error instanceof Error ? error : new Error(String(error))),
      );
      thread.on('messageerror', lost);
      thread.on('exit', (code) =>
        lost(new Error(`worker ${index} ended by itself with code ${code}`)),
      );
      return thread;
    });
  }

  order(order: ToWorker): void {
    for (const index of this.alive) this.threads[index]!.postMessage(order);
  }

  /** Ends all threads, whatever they are doing. */
  async terminate(): Promise<void> {
    this.alive.clear();
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}
