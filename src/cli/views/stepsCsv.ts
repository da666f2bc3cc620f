import { countOf } from '../../base/errorClass';
import { latencyAt } from '../../measure/tails';
import type { MessageSummary, StepSummary } from '../../measure/show/summary';
import type { Result } from '../../results/result';
import { marksOf } from '../../session/runWords';

type Columns<T> = readonly (readonly [name: string, value: (of: T) => string | number])[];

/** Columns by name; units are those of the result file, and part of the names. */
const messageColumns: Columns<MessageSummary> = [
  ...(
    [
      'offered',
      'sent',
      'expected',
      'received',
      'lost',
      'duplicated',
      'outOfOrder',
      'late',
      'extra',
      'sentPerSecond',
      'receivedPerSecond',
      'payloadBytesIn',
      'payloadBytesOut',
      'wireBytesIn',
      'wireBytesOut',
    ] as const
  ).map((name) => [name, (step: MessageSummary) => step[name]] as const),
  ...(['min', 'mean', 'p50', 'p90', 'p95', 'p99', 'p999', 'p9999', 'max'] as const).map(
    (name) =>
      [
        `latencyUs.${name}`,
        // Empty where there are too few deliveries to tell it; with none at all they are 0.
        ({ latencyUs }: MessageSummary) =>
          latencyUs.count === 0 ? latencyUs[name] : (latencyAt(latencyUs, name) ?? ''),
      ] as const,
  ),
];
const stepColumns: Columns<StepSummary> = [
  ['errors', ({ errors }) => countOf(errors)],
  ['generator.valid', ({ generator }) => String(generator.valid)],
  ['verdict', ({ verdict }) => verdict.status],
  ['warmupErrors', ({ warmupErrors = {} }) => countOf(warmupErrors)],
];

/**
 * The steps of a result as CSV (RFC 4180) with a line of names; every value is a number or a fixed word.
 * A mix has one more column, `useCase`: after the row of each step, where it is empty, follow rows of its
 * use cases, in which it holds their names and what belongs to the whole step is empty. A run that was
 * not driven in the usual way says so in a last column, `how`.
 */
export function stepsCsv({ steps, scenario, target }: CsvResult): string {
  // The comma parts cells.
  const how = marksOf(scenario, target).replaceAll(',', ';');
  const mixed = steps.some(({ entries }) => entries !== undefined);
  const head = ['index', 'senders', 'seconds', ...namesOf(messageColumns), ...namesOf(stepColumns)];
  const rows = steps.flatMap(({ entries = [], ...step }) => {
    const row = (of: MessageSummary, ofStep: readonly (string | number)[]): Cells => [
      ...[step.index, of.senders, step.seconds],
      ...valuesOf(messageColumns, of),
      ...ofStep,
    ];
    const nothing = stepColumns.map(() => '');
    const whole = row(step, valuesOf(stepColumns, step));
    return mixed
      ? [[...whole, ''], ...entries.map((entry) => [...row(entry, nothing), word(entry.name)])]
      : [whole];
  });
  const lines: Cells[] = [mixed ? [...head, 'useCase'] : head, ...rows];
  const last = (line: number): Cells => (how === '' ? [] : [line === 0 ? 'how' : how]);
  return lines.map((cells, line) => `${[...cells, ...last(line)].join(',')}\r\n`).join('');
}

type CsvResult = Pick<Result, 'steps' | 'scenario' | 'target'>;
type Cells = readonly (string | number)[];

const namesOf = (columns: Columns<never>): string[] => columns.map(([name]) => name);

const valuesOf = <T>(columns: Columns<T>, of: T): Cells => columns.map(([, value]) => value(of));

/** A name of a file that may come from anywhere: letters, digits and blanks, never a formula. */
const word = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9 ]/g, '')
    .trim()
    .slice(0, 60);
