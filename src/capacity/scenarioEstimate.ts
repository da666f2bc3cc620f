import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { estimate } from './estimate';
import { loadOf } from './load/loadOf';
import type { Estimate, EstimateOptions } from './model';
import { withVerdict } from './judge/unitVerdict';

/** The functions behind the estimate; tests put others in their place. */
export interface EstimateModel {
  readonly loadOf: typeof loadOf;
  readonly estimate: typeof estimate;
}

/**
 * The estimate of a scenario with its verdict on the size that the scenario names; a `problem` is the sentence
 * why there is none.
 */
export function scenarioEstimate(
  scenario: Scenario,
  options: EstimateOptions = {},
  model: EstimateModel = { loadOf, estimate },
): { readonly estimate: Estimate } | { readonly problem: string } {
  const load = model.loadOf(scenario);
  if ('problem' in load) return load;
  try {
    return { estimate: withVerdict(model.estimate(load.input, options), scenario) };
  } catch (error) {
    if (error instanceof ExpectedError) return { problem: error.message };
    throw error;
  }
}
