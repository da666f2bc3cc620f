/** The plan of a capacity search: room for its highest value, and each step as it is decided on. */
import type { Scenario } from '../scenario/scenario';
import { scenarioAt } from '../scenario/searched';
import { buildPlan, type PlanOptions } from './buildPlan';
import type { Plan, PlanStep } from './plan';

/** Its only step has the highest value: who may send or receive at all follows from it. */
export function buildSearchPlan(scenario: Scenario, options: PlanOptions): Plan {
  const { search, repair, lifetimeMs } = scenario;
  if (search === undefined) throw new Error('nothing is searched');
  // Connections that a step too many has cost must come back before the next one.
  const life = { repair: repair || lifetimeMs === undefined };
  const { of, from, to, precision, budgetMs } = search;
  return {
    ...buildPlan({ ...scenarioAt(scenario, to), ...life }, options),
    search: { of, from, to, precision, budgetMs },
  };
}

/** What differs from the plan in a step with that value. */
export function searchStepOf(scenario: Scenario): (value: number, index: number) => PlanStep {
  return (value, index) => {
    const at = scenarioAt(scenario, value);
    const { entries, steps } = buildPlan(at, { workers: 1, seed: 0, runId: 0 });
    const step: PlanStep = { ...steps[0]!, index };
    switch (scenario.search?.of) {
      case 'rate':
        return { ...step, intervalsMs: entries.map(({ intervalMs }) => intervalMs) };
      case 'connections':
        return { ...step, connections: value };
      case 'messageSize':
        return { ...step, messageBytes: value };
      default:
        return step;
    }
  };
}
