import type { Override } from '../scenario/read/overrides';
import { positionAt, type Problem, type Severity } from '../scenario/problem';
import type { Scenario } from '../scenario/scenario';
import { namedScenario, readScenario, type ScenarioParser } from '../run/scenarioFile';
import type { ProcessIo } from './io';
import { printable } from './views/line';

interface AskedScenario {
  readonly file: string;
  readonly overrides?: readonly Override[];
  readonly made?: { readonly name: string; readonly text: string } | undefined;
}

/** Reads a scenario; problems go to standard error. @throws ExpectedError as {@link readScenario} */
export async function loadScenario(
  { file, overrides = [], made }: AskedScenario,
  { stderr, input }: ProcessIo,
  parse: ScenarioParser,
  alsoWrong?: (scenario: Scenario) => Promise<string | undefined>,
): Promise<{ readonly scenario: Scenario; readonly name: string; readonly text: string }> {
  const { name, text } = made ?? (await namedScenario(file, input));
  const scenario = await readScenario(
    { title: name, text, overrides },
    parse,
    (problems) => {
      for (const problem of locateProblems(name, text, problems))
        stderr.write(`${printable(formatProblem(problem))}\n`);
    },
    alsoWrong,
  );
  return { scenario, name, text };
}

export interface PlacedProblem extends Omit<Problem, 'offset' | 'length'> {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export function locateProblems(
  file: string,
  text: string,
  problems: readonly Problem[],
): PlacedProblem[] {
  return [...problems]
    .sort((a, b) => a.offset - b.offset || a.length - b.length)
    .map(({ offset, length, severity, code, message, flag, fix }) => {
      const end = positionAt(text, offset + length);
      return {
        ...{ file, ...positionAt(text, offset), endLine: end.line, endColumn: end.column },
        ...{ severity, code, message, flag, fix },
      };
    });
}

/** `chat-room.yaml:9:17 warning group-count …`; of a flag `--set config.drain: error wrong-type …`. */
export function formatProblem(problem: PlacedProblem): string {
  const { file, line, column, severity, code, message, flag } = problem;
  if (flag !== undefined) return `${flag}: ${severity} ${code} ${message.slice(flag.length + 2)}`;
  return `${file}:${line}:${column} ${severity} ${code} ${message}`;
}

export function hasErrors(problems: readonly { readonly severity: Severity }[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}
