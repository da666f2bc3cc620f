import type { Estimate } from '../../capacity/estimate';
import { scenarioEstimate } from '../../capacity/scenarioEstimate';
import { parseScenario, type SizePlaces } from '../../scenario/parseScenario';
import type { Problem } from '../../scenario/problem';
import type { Scenario } from '../../scenario/scenario';
import { outlineOf, type Outline } from '../../scenario/text/outline';

/** Everything the language features know about one version of a text. */
export interface Analysis {
  readonly text: string;
  readonly outline: Outline;
  readonly problems: readonly Problem[];
  /** Also with errors; see `parseScenario`. */
  readonly scenario?: Scenario;
  /** See `parseScenario`. */
  readonly sizePlaces?: SizePlaces;
  /** Absent while the text has errors, and for scenarios without a table; `noEstimate` says why. */
  readonly estimate?: Estimate;
  readonly noEstimate?: string;
}

/** Reads a scenario text once for all features. Never throws; bounded as `parseScenario` is. */
export function analyseScenario(text: string): Analysis {
  const { scenario, problems, sizePlaces } = parseScenario(text);
  const read = { text, outline: outlineOf(text), problems };
  if (scenario === undefined) return { ...read, noEstimate: 'There is no scenario yet.' };
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) {
    const noEstimate = `${errors} ${errors === 1 ? 'error' : 'errors'} to solve first`;
    return { ...read, scenario, noEstimate };
  }
  return { ...read, scenario, ...(sizePlaces && { sizePlaces }), ...estimateOf(scenario) };
}

/** The estimate of a scenario without errors, and how it compares with its unit. */
export function estimateOf(scenario: Scenario): Pick<Analysis, 'estimate' | 'noEstimate'> {
  if (scenario.kind === 'resultparser')
    return { noEstimate: 'This file only reads an old result.' };
  const found = scenarioEstimate(scenario);
  return 'problem' in found ? { noEstimate: found.problem } : found;
}
