import type { Problem } from '../../scenario/problem';

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
