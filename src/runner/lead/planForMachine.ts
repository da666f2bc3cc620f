import { randomInt } from 'node:crypto';
import { ExpectedError } from '../../base/expectedError';
import { buildPlan, connectInFlightOf } from '../../plan/buildPlan';
import type { Plan } from '../../plan/plan';
import { notRunnable } from '../../scenario/check/notRunnable';
import { addressCount } from '../../scenario/target/targetKinds';
import type { Scenario } from '../../scenario/scenario';
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
  const missing = await missingForScenario(scenario, deps);
  if (missing !== undefined) throw new ExpectedError('machine-limits', missing);
  return deps.buildPlan(scenario, {
    workers: await workersOf(scenario, deps),
    seed: scenario.seed,
    runId: randomInt(2 ** 32),
  });
}

/** What this machine lacks for the scenario, as `doctor` would say; undefined when it lacks nothing. */
export async function missingForScenario(
  scenario: Scenario,
  deps: PlanDeps = realPlanDeps,
): Promise<string | undefined> {
  const workers = Array.from({ length: await workersOf(scenario, deps) });
  const limits = await deps.machineLimits();
  const connectInFlight = connectInFlightOf(scenario);
  const needs = { ...scenario, connectInFlight, workers };
  const socketsEach = scenario.transport === 'Websockets' ? 1 : 2;
  return deps.missingForRun(needs, limits, addressCount(scenario.target), socketsEach);
}

async function workersOf({ workers, connections }: Scenario, deps: PlanDeps): Promise<number> {
  const { cores } = await deps.machineLimits();
  return Math.max(1, Math.min(workers ?? cores - 1, connections));
}
