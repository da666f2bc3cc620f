import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { assess, checkAssignment } from './judge/assess';
import { billingOf } from './judge/billing';
import { withVerdict } from './judge/unitVerdict';
import { loadOf } from './load/loadOf';
import { trafficLoad } from './load/serviceLoad';
import type { Estimate, EstimateInput, EstimateOptions, OrProblem } from './model';

/**
 * By the published tables (method: docs/capacity.md); fast enough for every key stroke.
 * @throws ExpectedError `estimate-input` that names the field as the test vectors do
 */
export function estimate(input: EstimateInput, options: EstimateOptions = {}): Estimate {
  const assignment = checkAssignment(input, options);
  const loads = input.useCases.map((traffic) =>
    trafficLoad(input.product, assignment.connections, traffic),
  );
  return {
    ...assess({ ...assignment, loads }, input.assumptions ?? []),
    billing: billingOf(input.product, loads),
  };
}

export interface EstimateModel {
  readonly loadOf: typeof loadOf;
  readonly estimate: typeof estimate;
}

/** With its verdict on the size that the scenario names; a `problem` is the sentence why there is none. */
export function scenarioEstimate(
  scenario: Scenario,
  options: EstimateOptions = {},
  model: EstimateModel = { loadOf, estimate },
): OrProblem<{ readonly estimate: Estimate }> {
  const load = model.loadOf(scenario);
  if ('problem' in load) return load;
  try {
    return { estimate: withVerdict(model.estimate(load.input, options), scenario) };
  } catch (error) {
    if (error instanceof ExpectedError) return { problem: error.message };
    throw error;
  }
}
