import type { SetKey } from '../results/scenarioCopy';
import type { Scenario } from '../scenario/scenario';
import { readScenario, type ScenarioParser } from '../session/readScenario';
import { namedScenario } from '../session/scenarioFile';
import type { ProcessIo } from './io';
import { printable } from './views/line';
import { placeProblems, problemText } from './views/problemText';

/**
 * Reads and parses one scenario file; problems go to standard error.
 *
 * @param alsoWrong what else a person should know when there are errors to correct
 * @throws ExpectedError `scenario-file`, and as {@link readScenario}
 */
export async function scenarioOf(
  file: string,
  overrides: readonly SetKey[],
  { stderr, input }: ProcessIo,
  parse: ScenarioParser,
  alsoWrong?: (scenario: Scenario) => Promise<string | undefined>,
): Promise<{ readonly scenario: Scenario; readonly name: string; readonly text: string }> {
  const { name, text } = await namedScenario(file, input);
  const scenario = await readScenario(
    { title: name, text, overrides },
    parse,
    (problems) => {
      for (const problem of placeProblems(name, text, problems))
        stderr.write(`${printable(problemText(problem))}\n`);
    },
    alsoWrong,
  );
  return { scenario, name, text };
}
