import { assess, checkAssignment } from './judge/assess';
import { billingOf } from './judge/billing';
import type { Estimate, EstimateInput, EstimateOptions } from './model';
import { trafficLoad } from './load/trafficLoad';

export {
  signalrEditions,
  type BilledMessages,
  type Billing,
  type Edition,
  type Estimate,
  type EstimateInput,
  type EstimateLoad,
  type EstimateOptions,
  type LimitUse,
  type NeighbourUse,
  type Product,
  type TableSource,
} from './model';

/**
 * How many units the traffic needs by the published tables (method: docs/capacity.md), with everything
 * that explains the answer. Pure, and fast enough for every key stroke.
 * @throws ExpectedError `estimate-input` when a field is invalid; the message names it as in the test
 * vectors (`interval_s must be greater than 0`)
 */
export function estimate(input: EstimateInput, options: EstimateOptions = {}): Estimate {
  const assignment = checkAssignment(input, options);
  const loads = input.useCases.map((traffic) =>
    trafficLoad(input.product, assignment.connections, traffic),
  );
  return {
    ...assess(assignment, loads, input.assumptions ?? []),
    billing: billingOf(input.product, loads),
  };
}
