import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { stepsOf } from '../scenario/steps';
import type { Plan, WorkerPlan } from './plan';
import { maximumSources } from './population';

export interface PlanOptions {
  /** Worker threads to split the load over; at most one per connection is used. */
  readonly workers: number;
  readonly seed: number;
  /** Tells this run's messages from those of others, 32 bits; to be drawn anew for each run. */
  readonly runId: number;
}

/** Splits `total` into whole parts that differ by at most one and sum to it. */
export function split(total: number, parts: number): number[] {
  return Array.from({ length: parts }, (_, part) => Math.floor((total + parts - 1 - part) / parts));
}

/**
 * Fixes who connects when and who sends what when. The same scenario and options give the same plan.
 *
 * @throws ExpectedError `plan-too-large` when messages could no longer be told apart
 */
export function buildPlan(scenario: Scenario, options: PlanOptions): Plan {
  const [entry] = scenario.entries;
  if (entry === undefined || scenario.entries.length > 1)
    throw new Error('a plan needs exactly one use case');
  const groups = Number(entry.parameters['groupsPerConnection'] ?? 1);
  if (scenario.connections * groups > maximumSources) {
    throw new ExpectedError(
      'plan-too-large',
      `${scenario.connections} connections in ${groups} groups each are more than one run can follow (${maximumSources}). Use fewer of either.`,
    );
  }
  const workers = Math.max(1, Math.min(options.workers, scenario.connections));
  const inFlight = split(Math.max(workers, scenario.connectInFlight), workers);
  const steps = stepsOf(scenario).map(({ index, senders }) => ({
    index,
    senders,
    warmupMs: scenario.warmupMs,
    measureMs: scenario.singleStepDurationMs,
    drainMs: scenario.drainMs,
  }));
  return {
    runId: options.runId >>> 0,
    seed: options.seed,
    connections: scenario.connections,
    arrivingRate: scenario.arrivingRate,
    connectInFlight: scenario.connectInFlight,
    connectTimeoutMs: scenario.connectTimeoutMs,
    pacing: scenario.pacing,
    dialect: scenario.dialect,
    useCase: entry.name,
    parameters: entry.parameters,
    steps,
    slo: scenario.slo,
    workers: inFlight.map((connectInFlight, worker): WorkerPlan => ({
      worker,
      workers,
      connectInFlight,
    })),
  };
}
