import { sizeProblem } from '../../capacity/judge/unitVerdict';
import type { Problem } from '../../scenario/problem';
import type { Analysis } from './analyseScenario';

/** Everything to underline, sorted by position: the same problems as on the command line. */
export function diagnosticsOf(analysis: Analysis): Problem[] {
  const { problems, estimate, text } = analysis;
  const size = estimate && sizeProblem(analysis, estimate.planned);
  const all = problems.map((problem) => within(problem, text.length));
  return size === undefined ? all : [...all, size].sort((a, b) => a.offset - b.offset);
}

function within(problem: Problem, end: number): Problem {
  const offset = Math.max(0, Math.min(problem.offset, end));
  return { ...problem, offset, length: Math.max(0, Math.min(problem.length, end - offset)) };
}

/** Whether diagnostics of this source come from a checker of YAML and its schemas, such as Red Hat's. */
export const isYamlTooling = (source: string | undefined): boolean =>
  source === 'YAML' || source?.startsWith('yaml-schema') === true;

/**
 * The problems without the errors of lines for which other tooling reports something already: it reads
 * the same schema and would say the same in other words. Warnings and notes are only known here.
 *
 * @param lineOf line of a problem, counted as those of the others
 */
export function notRepeated(
  problems: readonly Problem[],
  lineOf: (problem: Problem) => number,
  linesOfOthers: ReadonlySet<number>,
): readonly Problem[] {
  if (linesOfOthers.size === 0) return problems;
  return problems.filter(
    (problem) => problem.severity !== 'error' || !linesOfOthers.has(lineOf(problem)),
  );
}

const ownSchemes = ['file', 'untitled', 'vscode-remote'];

/**
 * Whether a document is one that people work on: a file, a new one, or of a workspace folder. The left
 * side of a comparison and what is only shown, which have schemes of their own, are not.
 */
export const hasPlace = (scheme: string, folders: readonly string[]): boolean =>
  ownSchemes.includes(scheme) || folders.includes(scheme);
