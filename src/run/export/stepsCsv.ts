import { agentColumns } from '../../measure/show/agentTable';
import { callRows } from '../../measure/show/callTable';
import { visibleColumns, entryRows, stepRow, type StepRow } from '../../measure/show/stepColumns';
import type { AgentSummary, MessageSummary } from '../../measure/summary';
import type { Result } from '../../results/result';
import { describeUnusual } from '../runWords';
import { ExpectedError } from '../../base/expectedError';
import { decodeHistogram } from '../../measure/histogram';
import { stepBands } from '../../measure/show/timeSeries';
import type { Snapshot } from '../../measure/snapshot';
import { plainLine } from './plainText';

/**
 * The steps as CSV (RFC 4180) in the units of the result file. More columns only where needed: `useCase` and `call` with rows below
 * their step, `agent…` with rows of agents after their last step, two for each observed series, and `how` for an unusual run.
 */
export function stepsCsv({ steps, agents = [], scenario, target, observed }: CsvResult): string {
  const how = describeUnusual(scenario, target).replaceAll(',', ';');
  const mixed = steps.some(({ entries }) => entries !== undefined);
  const called = steps.some(({ calls }) => calls !== undefined);
  const columns = visibleColumns('csv');
  const series = observed?.series ?? [];
  const seenHeads = series.flatMap(({ name }) =>
    ['mean', 'max'].map((of) => `observed.${word(name, /[^A-Za-z0-9 _:.@/-]/g)}.${of}`),
  );
  const seenIn = ({ index, name, call }: StepRow): Cells =>
    series.flatMap(({ steps: of }) => {
      const found = (name ?? call) ? undefined : of.find((each) => each.index === index);
      return [found?.mean ?? '', found?.max ?? ''];
    });
  const last = (names: readonly [useCase: string, call: string], agent: Cells, words: string) => [
    ...(mixed ? [names[0]] : []),
    ...(called ? [names[1]] : []),
    ...(agents.length > 0 ? agent : []),
    ...(how === '' ? [] : [words]),
  ];
  const noAgent = agentHeads.map(() => '');
  const ofSteps = steps.flatMap((step): Cells[] => [
    ...[stepRow(step), ...entryRows(step), ...callRows(step)].map((row) => [
      ...columns.map(({ stepOnly, value }) =>
        stepOnly && row.name && row.call === undefined ? '' : (value(row) ?? ''),
      ),
      ...seenIn(row),
      ...last([word(row.name ?? ''), word(row.call ?? '')], noAgent, how),
    ]),
    ...agents
      .filter(({ lastStep }) => (lastStep?.index ?? steps.at(-1)!.index) === step.index)
      .map((agent) => [
        ...columns.map(({ id }) => (id === 'index' ? step.index : '')),
        ...seenHeads.map(() => ''),
        ...last(['', ''], agentCells(agent), how),
      ]),
  ]);
  const heads = [
    ...columns.map(({ id }) => id),
    ...seenHeads,
    ...last(['useCase', 'call'], agentHeads, 'how'),
  ];
  const lines: Cells[] = [heads, ...ofSteps];
  return lines.map((cells) => `${cells.join(',')}\r\n`).join('');
}

type Cells = readonly (string | number)[];
type CsvResult = Pick<Result, 'steps' | 'agents' | 'scenario' | 'target' | 'observed'>;

const agentHeads = [
  ...['agent', 'agent.node', 'agent.status'],
  ...agentColumns.map(({ id }) => `agent.${id}`),
];

const agentCells = (agent: AgentSummary): Cells => [
  ...[agent.index, machine(agent.node), agent.status],
  ...agentColumns.map(({ value }) => value(agent) ?? ''),
];

const machine = (name: string): string => name.replace(/^\W+|[^\w.:-]/g, '').slice(0, 60);

const word = (name: string, others = /[^A-Za-z0-9 ]/g): string =>
  name.replace(others, '').trim().slice(0, 60);

/**
 * The steps as an HdrHistogram log: an interval each, latencies in microseconds from due; use cases of a mix are tags.
 * Source: HdrHistogram, `HistogramLogWriter`, log format 1.3.
 * @param snapshots tell when steps began; empty: they follow each other up to the end
 */
export function histogramLog(result: Result, snapshots: readonly Snapshot[]): string {
  const { startedAt, endedAt, steps } = result;
  const startS = Date.parse(startedAt) / 1000;
  const begun = new Map(stepBands(snapshots).map(({ index, fromS }) => [index, fromS]));
  let followsS = Math.max(0, Date.parse(endedAt) / 1000 - startS - totalSeconds(result));
  const lines = [
    '#[Histogram log format version 1.3]',
    `#[StartTime: ${startS.toFixed(3)} (seconds since epoch), ${new Date(startS * 1000).toISOString()}]`,
    '#[Values are microseconds; the maximum of an interval is in milliseconds]',
    '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
  ];
  for (const { index, seconds, entries = [], ...step } of steps) {
    const fromS = begun.get(index) ?? followsS;
    followsS = fromS + seconds;
    const line = (measured: Measured, tag = ''): string => {
      const encoded = readable(measured);
      if (encoded === undefined) return `# Step ${index}: its histogram cannot be read.`;
      const maxMs = measured.latencyUs.max / 1000;
      const numbers = [fromS, seconds, maxMs].map((value) => value.toFixed(3));
      return `${tag}${numbers.join(',')},${encoded}`;
    };
    lines.push(line(step), ...entries.map((entry) => line(entry, `Tag=${tagOf(entry.name)},`)));
  }
  return `${lines.join('\n')}\n`;
}

type Measured = Pick<MessageSummary, 'histogram' | 'latencyUs'>;

const totalSeconds = ({ steps }: Pick<Result, 'steps'>): number =>
  steps.reduce((sum, { seconds }) => sum + seconds, 0);

function readable({ histogram }: Measured): string | undefined {
  try {
    decodeHistogram(histogram);
    return histogram.trim();
  } catch (error) {
    if (error instanceof ExpectedError) return undefined;
    throw error;
  }
}

const tagOf = (name: string): string =>
  plainLine(name, 60).replace(/[^\p{L}\p{N}._-]+/gu, '_') || 'entry';
