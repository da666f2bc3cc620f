import { randomInt } from 'node:crypto';
import { ExpectedError } from '../base/expectedError';
import { buildPlan } from '../plan/buildPlan';
import type { Plan } from '../plan/plan';
import { notRunnable } from '../scenario/notRunnable';
import type { Scenario } from '../scenario/scenario';
import { machineLimits, missingForRun } from './machineLimits';

/** What planning asks; tests put others in its place. */
export interface PlanDeps {
  readonly notRunnable: (scenario: Scenario) => string | undefined;
  readonly machineLimits: typeof machineLimits;
  readonly missingForRun: typeof missingForRun;
  readonly buildPlan: typeof buildPlan;
}

const realPlanDeps: PlanDeps = { notRunnable, machineLimits, missingForRun, buildPlan };

/**
 * The plan of a scenario for this machine. Workers, unless the scenario names them: one less than the
 * cores, at least 1, at most one per connection.
 *
 * @throws ExpectedError `not-runnable`, or `machine-limits` with what is missing
 */
export async function planForMachine(
  scenario: Scenario,
  deps: PlanDeps = realPlanDeps,
): Promise<Plan> {
  const reason = deps.notRunnable(scenario);
  if (reason !== undefined) throw new ExpectedError('not-runnable', reason);
  const limits = await deps.machineLimits();
  const workers = scenario.workers ?? Math.max(1, limits.cores - 1);
  const plan = deps.buildPlan(scenario, {
    workers: Math.max(1, Math.min(workers, scenario.connections)),
    seed: scenario.seed,
    runId: randomInt(2 ** 32),
  });
  const missing = deps.missingForRun(plan, limits, addressCount(scenario));
  if (missing !== undefined) throw new ExpectedError('machine-limits', missing);
  return plan;
}

/** Different hosts and ports the connections are spread over. */
function addressCount({ target }: Scenario): number {
  if (target?.kind !== 'hubUrl') return 1;
  return new Set(target.urls.map((url) => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? url)).size;
}
