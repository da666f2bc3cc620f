import { ExpectedError } from '../base/expectedError';
import type { SetKey } from '../results/scenarioCopy';
import type { Problem } from '../scenario/problem';
import type { Scenario } from '../scenario/scenario';
import type { RunRequest } from './shell';

/** The scenario parser, as far as shells use it. */
export type ScenarioParser = (
  text: string,
  options?: { readonly overrides?: readonly SetKey[] },
) => { readonly scenario?: Scenario; readonly problems: readonly Problem[] };

/**
 * The scenario of a text without errors.
 *
 * @param list shows all problems; without it the first error is part of what is thrown
 * @param alsoWrong what else a person should know when there are errors to correct
 * @throws ExpectedError `scenario-problems` when there is nothing to work with
 */
export async function readScenario(
  { title, text, overrides }: Pick<RunRequest, 'title' | 'text' | 'overrides'>,
  parse: ScenarioParser,
  list?: (problems: readonly Problem[]) => void,
  alsoWrong: (scenario: Scenario) => Promise<string | undefined> = () => Promise.resolve(undefined),
): Promise<Scenario> {
  const { scenario, problems } = parse(text, { overrides });
  list?.(problems);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (scenario && errors.length === 0) return scenario;
  const more = scenario && (await alsoWrong(scenario));
  const sentences = [
    errors.length === 0 ? `${title} holds no scenario.` : errorCounts(title, errors),
    list === undefined ? errors[0]?.message : undefined,
    more,
  ];
  const said = sentences.filter((sentence) => sentence !== undefined);
  throw new ExpectedError('scenario-problems', said.join(' '));
}

/** `chat.yaml has 2 errors, the command line has 1 error to correct first.` */
function errorCounts(title: string, errors: readonly Problem[]): string {
  const inFlags = errors.filter(({ flag }) => flag !== undefined).length;
  const counts = [
    countOf(title, errors.length - inFlags),
    countOf('the command line', inFlags),
  ].filter((words) => words !== '');
  return `${counts.join(', ').replace(/^the/, 'The')} to correct first.`;
}

const countOf = (where: string, errors: number): string =>
  errors === 0 ? '' : `${where} has ${errors} error${errors === 1 ? '' : 's'}`;
