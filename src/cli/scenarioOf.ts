import { ExpectedError } from '../base/expectedError';
import type { Problem } from '../scenario/problem';
import type { Scenario } from '../scenario/scenario';
import type { SetKey } from '../results/scenarioCopy';
import { printable } from './views/line';
import { hasErrors, placeProblems, problemText } from './views/problemText';
import { namedScenario } from '../session/scenarioFile';
import type { Surroundings } from './surroundings';

/** The scenario parser, as far as commands use it. */
export type ScenarioParser = (
  text: string,
  options?: { readonly overrides?: readonly SetKey[] },
) => { readonly scenario?: Scenario; readonly problems: readonly Problem[] };

/**
 * Reads and parses one scenario file; problems go to standard error.
 *
 * @param alsoWrong what else a person should know when there are errors to correct
 *
 * @throws ExpectedError `scenario-file` or `scenario-problems` when there is nothing to work with
 */
export async function scenarioOf(
  file: string,
  overrides: readonly SetKey[],
  { stderr, input }: Surroundings,
  parseScenario: ScenarioParser,
  alsoWrong: (scenario: Scenario) => Promise<string | undefined> = () => Promise.resolve(undefined),
): Promise<{ readonly scenario: Scenario; readonly text: string }> {
  const { name, text } = await namedScenario(file, input);
  const { scenario, problems } = parseScenario(text, { overrides });
  const placed = placeProblems(name, text, problems);
  for (const problem of placed) stderr.write(`${printable(problemText(problem))}\n`);
  const errors = placed.filter(({ severity }) => severity === 'error');
  if (!scenario || hasErrors(placed)) {
    const more = scenario && (await alsoWrong(scenario));
    if (more !== undefined) stderr.write(`${printable(more)}\n`);
    const inFlags = errors.filter(({ flag }) => flag !== undefined).length;
    const counts = [
      countOf(name, errors.length - inFlags),
      countOf('the command line', inFlags),
    ].filter((words) => words !== '');
    const words = counts.join(', ').replace(/^the/, 'The');
    throw new ExpectedError(
      'scenario-problems',
      errors.length === 0 ? `${name} holds no scenario.` : `${words} to correct first.`,
    );
  }
  return { scenario, text };
}

const countOf = (where: string, errors: number): string =>
  errors === 0 ? '' : `${where} has ${errors} error${errors === 1 ? '' : 's'}`;
