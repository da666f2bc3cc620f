import type { LiveDeliveries } from '../../base/objectives/objective';
import { objectiveOf, rulesOf, type Metric, type Slo } from '../../base/slo';
import type { MissedSoFar } from '../snapshot';

/** The first objective that a step which goes on has missed so far, by what its panel says of it. */
export function missedSoFar(step: LiveDeliveries, slo: Slo): MissedSoFar<Metric> | undefined {
  if (step.latencyUs.count === 0) return undefined;
  for (const { metric, limit } of rulesOf(slo)) {
    const objective = objectiveOf(metric);
    const values = objective?.of === 'step' ? objective.live?.missed(step, limit) : undefined;
    if (values !== undefined) return { metric, values };
  }
  return undefined;
}
