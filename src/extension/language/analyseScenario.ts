import { ExpectedError } from '../../base/expectedError';
import { estimate, type Estimate } from '../../capacity/estimate';
import { loadOf } from '../../capacity/loadOf';
import { unitVerdict, type UnitVerdict } from '../../capacity/unitVerdict';
import { parseScenario } from '../../scenario/parseScenario';
import type { Problem } from '../../scenario/problem';
import type { Scenario } from '../../scenario/scenario';
import { outlineOf, type Outline } from './outline';

/** Everything the language features know about one version of a text. */
export interface Analysis {
  readonly text: string;
  readonly outline: Outline;
  readonly problems: readonly Problem[];
  /** Also with errors; see `parseScenario`. */
  readonly scenario?: Scenario;
  /** Absent while the text has errors, and for scenarios without a table; `noEstimate` says why. */
  readonly estimate?: Estimate;
  readonly verdict?: UnitVerdict;
  readonly noEstimate?: string;
}

/** Reads a scenario text once for all features. Never throws; bounded as `parseScenario` is. */
export function analyseScenario(text: string): Analysis {
  const { scenario, problems } = parseScenario(text);
  const unread = scenario === undefined && problems.some(({ code }) => code === 'too-large');
  const outline = outlineOf(unread ? '' : text);
  const read = { text, outline, problems };
  if (scenario === undefined) return { ...read, noEstimate: 'There is no scenario yet.' };
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) {
    const noEstimate = `${errors} ${errors === 1 ? 'error' : 'errors'} to solve first`;
    return { ...read, scenario, noEstimate };
  }
  return { ...read, scenario, ...estimateOf(scenario) };
}

/** The estimate of a scenario without errors, and how it compares with its unit. */
export function estimateOf(
  scenario: Scenario,
): Pick<Analysis, 'estimate' | 'verdict' | 'noEstimate'> {
  if (scenario.kind === 'resultparser')
    return { noEstimate: 'This file only reads an old result.' };
  const load = loadOf(scenario);
  if ('problem' in load) return { noEstimate: load.problem };
  try {
    const found = estimate(load.input);
    const verdict = unitVerdict(found, scenario);
    return { estimate: found, ...(verdict === undefined ? {} : { verdict }) };
  } catch (error) {
    if (error instanceof ExpectedError) return { noEstimate: error.message };
    throw error;
  }
}
