import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Endpoint } from '../../base/endpoint';
import type { Plan } from '../../plan/plan';
import { populationsOf } from '../../plan/population';
import type {
  WorkerStart,
  FromWorker,
  ToWorker,
  WorkerHost,
  WorkerListener,
} from '../../protocol/worker';
import type { OpenTarget } from '../../targets/target';
import { shownUrl } from '../../wire/connectFailure';
import { machineClock } from '../machineClock';
import { memberMemory, openConnections, type ThreadStart } from '../prepare/sharedMembers';
import { reachMemory } from '../prepare/sharedReach';
import { countedTargets } from '../recorder';
import { Conductor, type Run } from './conductor';
import type { StepSource } from './stepSource';

interface RunDependencies {
  readonly workerScript: string;
  readonly keepGoing?: boolean;
  /** Time in milliseconds in which the target was asked something before the run. */
  readonly askedMs?: number;
  /** Where the steps come from; absent: from the plan. */
  readonly steps?: StepSource;
}

/** On worker threads. The target stays open; its owner disposes it after the run. */
export function startRun(plan: Plan, target: OpenTarget, dependencies: RunDependencies): Run {
  const clock = machineClock();
  const originUs = clock.nowUs();
  const endpoint = currentEndpoint(target);
  const { urls } = endpoint;
  const populations = populationsOf(plan);
  const memory = memberMemory(
    plan.connections,
    populations.reduce((sum, { groupCount }) => sum + groupCount, 0),
    plan.entries.some((entry) => {
      const { preparation, needsId = false } = entry.run;
      return preparation === 'connectionId' || needsId;
    }),
  );
  const reach = plan.timeToAll === true ? reachMemory() : undefined;
  const starts = plan.workers.map(({ worker }): WorkerStart => ({
    plan,
    worker,
    endpoint,
    originUs,
  }));
  return new Conductor(plan, {
    startWorkers: (listener) =>
      new WorkerThreads(dependencies.workerScript, starts, { memory, reach }, listener),
    keepGoing: dependencies.keepGoing === true,
    ...(dependencies.steps !== undefined && { steps: dependencies.steps }),
    askedMs: dependencies.askedMs ?? 0,
    secrets: target.secrets,
    ...(target.passes !== undefined && { passes: target.passes }),
    nowUs: () => clock.nowUs() - originUs,
    problems: target.problems,
    targetUrls: urls.slice(0, countedTargets(urls.length)).map(shownUrl),
    target: {
      kind: target.kind,
      url: target.url,
      ...(plan.dialect !== 'auto' && { dialect: plan.dialect }),
      ...(target.emulated === true && { emulated: true }),
    },
    machine: {
      cores: availableParallelism(),
      node: process.versions.node,
      platform: process.platform,
      workers: plan.workers.length,
    },
  });
}

/** The endpoint with the newest pass: the sign-in may have been renewed while somebody was asked something. */
function currentEndpoint({ endpoint, passes }: OpenTarget): Endpoint {
  const { service } = endpoint;
  if (service === undefined || passes === undefined) return endpoint;
  const { kind, hub, audience, restUrl } = service;
  return { ...endpoint, service: { kind, hub, audience, restUrl, ...passes.current } };
}

/** The workers of one run as threads that share memory. Every way a thread can end leads to exactly one call. */
export class WorkerThreads implements WorkerHost {
  readonly alive = new Set<number>();
  private readonly threads: Worker[];

  constructor(
    workerScript: string,
    starts: readonly WorkerStart[],
    private readonly shared: Pick<ThreadStart, 'memory' | 'reach'>,
    listener: WorkerListener,
  ) {
    this.threads = starts.map((start, index) => {
      this.alive.add(index);
      const thread = new Worker(workerScript, {
        workerData: { ...start, ...this.shared } satisfies ThreadStart,
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
    return openConnections(this.shared.memory);
  }

  order(order: ToWorker): void {
    for (const index of this.alive) this.threads[index]!.postMessage(order);
  }

  async end(): Promise<void> {
    this.alive.clear();
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}
