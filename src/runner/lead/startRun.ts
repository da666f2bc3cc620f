import { availableParallelism } from 'node:os';
import type { Plan } from '../../plan/plan';
import { populationsOf } from '../../plan/population';
import type { WorkerStart } from '../../protocol/worker';
import type { OpenTarget } from '../../targets/target';
import type { Endpoint } from '../../base/endpoint';
import { shownUrl } from '../../wire/connect/connectFailure';
import { memberMemory } from '../prepare/sharedMembers';
import { Conductor } from './conductor';
import { machineClock } from '../machineClock';
import { toldApart } from '../receive/recorder';
import type { Run } from './run';
import { WorkerThreads } from './workerThreads';

export interface RunDependencies {
  /** Path of the worker bundle. */
  readonly workerScript: string;
  /** Go on after a step that missed its objectives. */
  readonly keepGoing?: boolean;
  /** Time in milliseconds in which the target was asked something before the run. */
  readonly askedMs?: number;
}

/**
 * Carries a plan out against an open target on worker threads. The target stays open; its owner
 * disposes it after the run has finished.
 */
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
  const starts = plan.workers.map(({ worker }): WorkerStart => ({
    plan,
    worker,
    endpoint,
    originUs,
  }));
  return new Conductor(plan, {
    startWorkers: (listener) =>
      new WorkerThreads(dependencies.workerScript, starts, memory, listener),
    keepGoing: dependencies.keepGoing === true,
    askedMs: dependencies.askedMs ?? 0,
    secrets: target.secrets,
    ...(target.passes !== undefined && { passes: target.passes }),
    nowUs: () => clock.nowUs() - originUs,
    problems: target.problems,
    targetUrls: urls.slice(0, toldApart(urls.length)).map(shownUrl),
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
