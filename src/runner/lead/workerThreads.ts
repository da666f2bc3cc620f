import { Worker } from 'node:worker_threads';
import type { FromWorker, ToWorker, WorkerStart } from '../../protocol/worker';
import { openConnections, type MemberMemory, type ThreadStart } from '../prepare/sharedMembers';
import type { WorkerHost, WorkerListener } from './workerHost';

/** The workers of one run as threads that share memory. Every way a thread can end leads to exactly one call. */
export class WorkerThreads implements WorkerHost {
  readonly alive = new Set<number>();
  private readonly threads: Worker[];

  constructor(
    workerScript: string,
    starts: readonly WorkerStart[],
    private readonly memory: MemberMemory,
    listener: WorkerListener,
  ) {
    this.threads = starts.map((start, index) => {
      this.alive.add(index);
      const thread = new Worker(workerScript, {
        workerData: { ...start, memory } satisfies ThreadStart,
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

  takingPart(): number {
    return openConnections(this.memory);
  }

  order(order: ToWorker): void {
    for (const index of this.alive) this.threads[index]!.postMessage(order);
  }

  async end(): Promise<void> {
    this.alive.clear();
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}
