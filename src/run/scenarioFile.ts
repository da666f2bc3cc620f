import { ExpectedError } from '../base/expectedError';
import type { Override } from '../scenario/read/overrides';
import type { Problem } from '../scenario/problem';
import type { Scenario } from '../scenario/scenario';
import { isRecording } from './isReplay';
import type { RunRequest } from './shell';
import { mostScenarioBytes, notReadable, readScenarioFile, textOf } from './textFile';

const inputName = '<stdin>';

/** A scenario file as it is named on a command line: its name for messages, and its text. */
export async function namedScenario(
  file: string,
  input: () => AsyncIterable<Uint8Array>,
): Promise<{ readonly name: string; readonly text: string }> {
  if (file !== '-') {
    if (await isRecording(file))
      throw new ExpectedError(
        'scenario-file',
        `${file} is a recording, not a scenario: replay it with run, or make a scenario of it with import.`,
      );
    if (/\.har$/i.test(file))
      throw new ExpectedError(
        'scenario-file',
        `${file} is a HAR file, not a scenario: make a scenario of it with import.`,
      );
    return { name: file, text: await readScenarioFile(file) };
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of input()) {
    parts.push(part);
    length += part.length;
    if (length > mostScenarioBytes) throw notReadable(inputName, 'it is larger than 2 MB');
  }
  return { name: inputName, text: textOf(inputName, Buffer.concat(parts)) };
}

/** The scenario parser, as far as shells use it. */
export type ScenarioParser = (
  text: string,
  options?: { readonly overrides?: readonly Override[] },
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
  const counted = (where: string, count: number): string[] =>
    count === 0 ? [] : [`${where} has ${count} error${count === 1 ? '' : 's'}`];
  const parts = [
    ...counted(title, errors.length - inFlags),
    ...counted(errors.length === inFlags ? 'The command line' : 'the command line', inFlags),
  ];
  return `${parts.join(', ')} to correct first.`;
}
