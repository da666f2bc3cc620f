import { availableParallelism } from 'node:os';
import type { Plan } from '../plan/plan';
import { populationOf } from '../plan/population';
import type { WorkerStart } from '../protocol/worker';
import type { OpenTarget } from '../targets/target';
import { Conductor } from './conductor';
import { machineClock } from './machineClock';
import type { Run } from './run';
import { sharedPopulation } from './sharedMembers';

export interface RunDependencies {
  /** Path of the worker bundle. */
  readonly workerScript: string;
  /** Go on after a step that missed its objectives. */
  readonly keepGoing?: boolean;
}

/**
 * Carries a plan out against an open target on worker threads. The target stays open; its owner
 * disposes it after the run has finished.
 */
export function startRun(plan: Plan, target: OpenTarget, dependencies: RunDependencies): Run {
  const clock = machineClock();
  const originUs = clock.nowUs();
  const population = sharedPopulation(plan.connections, populationOf(plan).groupCount);
  const starts = plan.workers.map(({ worker }): WorkerStart => ({
    plan,
    worker,
    endpoint: target.endpoint,
    population,
    originUs,
  }));
  return new Conductor(plan, starts, {
    workerScript: dependencies.workerScript,
    keepGoing: dependencies.keepGoing === true,
    secrets: target.secrets,
    nowUs: () => clock.nowUs() - originUs,
    target: { kind: target.kind, url: target.url },
    machine: {
      cores: availableParallelism(),
      node: process.versions.node,
      platform: process.platform,
      workers: plan.workers.length,
    },
  });
}
