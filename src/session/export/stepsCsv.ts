import { columnsOf, entryRows, rowOfStep } from '../../measure/show/stepColumns';
import type { Result } from '../../results/result';
import { marksOf } from '../runWords';

/**
 * The steps of a result as CSV (RFC 4180) with a line of names; every value is a number or a fixed word, in the
 * unit of the result file. A mix has one more column, `useCase`: after the row of each step, where it is empty,
 * follow rows of its use cases, in which it holds their names and what belongs to the whole step is empty. A run
 * that was not driven in the usual way says so in a last column, `how`.
 */
export function stepsCsv({ steps, scenario, target }: CsvResult): string {
  // The comma parts cells.
  const how = marksOf(scenario, target).replaceAll(',', ';');
  const mixed = steps.some(({ entries }) => entries !== undefined);
  const columns = columnsOf('csv');
  const last = (useCase: string, words: string): Cells => [
    ...(mixed ? [useCase] : []),
    ...(how === '' ? [] : [words]),
  ];
  const rows = steps.flatMap((step) => [rowOfStep(step), ...entryRows(step)]);
  const lines: Cells[] = [
    [...columns.map(({ id }) => id), ...last('useCase', 'how')],
    ...rows.map((row) => [
      ...columns.map(({ stepOnly, value }) => (stepOnly && row.name ? '' : (value(row) ?? ''))),
      ...last(word(row.name ?? ''), how),
    ]),
  ];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

type Cells = readonly (string | number)[];
type CsvResult = Pick<Result, 'steps' | 'scenario' | 'target'>;

/** A name of a file that may come from anywhere: letters, digits and blanks, never a formula. */
const word = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9 ]/g, '')
    .trim()
    .slice(0, 60);
