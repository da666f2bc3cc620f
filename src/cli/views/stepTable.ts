import { formatCount, formatLatencyUs, formatShare } from '../../base/units';
import { countOf } from '../../base/errorClass';
import type { StepProgress } from '../../measure/show/snapshot';
import type {
  EntrySummary,
  GeneratorHealth,
  LatencySummary,
  StepSummary,
} from '../../measure/show/summary';
import {
  countsLost,
  shownLatency,
  type JudgedLatency,
  type ShownPercentiles,
} from '../../measure/judge/judgedLatency';
import { tailReason } from '../../measure/tails';
import type { Line } from './line';

/** One row of the table of steps; what is not known yet is absent. */
export interface StepRow {
  readonly index: number;
  readonly senders: number;
  readonly sentPerSecond?: number;
  readonly receivedPerSecond?: number;
  readonly latencyUs?: LatencySummary;
  readonly judgedUs?: JudgedLatency;
  readonly lost?: number;
  /** Of the measured time. */
  readonly errors?: number;
  /** Before it, in the warm-up of the step. */
  readonly warmupErrors?: number;
  readonly generator?: Pick<GeneratorHealth, 'cpuShare' | 'valid' | 'cause'>;
  /** The step that is going on. */
  readonly current?: boolean;
  /** Time left, e.g. `0:12`; at most 4 columns. */
  readonly left?: string;
  readonly failed?: boolean;
}

/** What the table of a mix needs of an entry; its losses are known only when the step is over. */
type EntryRow = Pick<
  EntrySummary,
  'name' | 'senders' | 'sentPerSecond' | 'receivedPerSecond' | 'latencyUs' | 'judgedUs'
> &
  Partial<Pick<EntrySummary, 'lost'>>;

/** Heads of the table, 79 columns with the time left: every row fits into 80. */
export const stepHead: Line = {
  text: ' step senders  sent/s  recv/s   p50   p99 p99.9   max  lost  err generator',
  tone: 'dim',
};

export function stepLine(row: StepRow): Line {
  const { generator } = row;
  const shown = shownLatency(row);
  const text = [
    `${row.current ? '▸' : ' '}${fit(row.index, 4)}`,
    fit(row.senders, 8),
    fit(row.sentPerSecond, 8, 1),
    fit(row.receivedPerSecond, 8),
    percentile(shown, 'p50'),
    percentile(shown, 'p99'),
    percentile(shown, 'p999'),
    percentile(shown, 'max'),
    fit(row.lost, 6),
    fit(row.errors, 5),
    ` ${generator ? generatorCell(generator).padEnd(9) : '-'.padEnd(9)}`,
    ` ${(row.left ?? '').padStart(4)}`,
  ].join('');
  const tone = toneOf(row);
  return { text: text.trimEnd(), ...(tone && { tone }) };
}

/** Head of the table of a mix, 79 columns. */
export const entryHead: Line = {
  text: ' step senders  sent/s  recv/s   p50   p99 p99.9   max  lost use case',
  tone: 'dim',
};

/** Longest name of an entry in a row of 80 columns; a file may hold anything. */
const longestName = 22;

/** Row of one use case of a mix in a step, under {@link entryHead}. */
export function entryLine(index: number, { name, ...entry }: EntryRow): Line {
  const shown = shownLatency(entry);
  const text = [
    ` ${fit(index, 4)}`,
    fit(entry.senders, 8),
    fit(entry.sentPerSecond, 8, 1),
    fit(entry.receivedPerSecond, 8),
    percentile(shown, 'p50'),
    percentile(shown, 'p99'),
    percentile(shown, 'p999'),
    percentile(shown, 'max'),
    fit(entry.lost, 6),
    ` ${name.slice(0, longestName)}`,
  ].join('');
  return { text };
}

/** Six columns: a long dash where there are too few deliveries to tell, see {@link tailLines}. */
function percentile(
  shown: ShownPercentiles | undefined,
  key: 'p50' | 'p99' | 'p999' | 'max',
): string {
  if (shown === undefined) return '-'.padStart(6);
  const us = shown[key];
  return (us === undefined ? '–' : us === null ? 'lost' : latencyCell(us)).padStart(6);
}

/** The reason of long dashes in the rows above it. */
export function tailLines(rows: readonly Pick<StepRow, 'latencyUs'>[]): Line[] {
  const reason = tailReason(rows.map(({ latencyUs }) => latencyUs));
  return reason === undefined ? [] : [{ text: ` ${reason}`, tone: 'dim' }];
}

/** What stands with a table in whose percentiles lost deliveries count. */
export const lostNote = 'percentiles count what was lost as slower than all that arrived';

/** Below rows in whose percentiles lost deliveries count. */
export function lostLines(rows: readonly Pick<StepRow, 'latencyUs' | 'judgedUs'>[]): Line[] {
  return countsLost(rows) ? [{ text: ` ${lostNote}`, tone: 'dim' }] : [];
}

/** At most five columns. */
function latencyCell(us: number): string {
  return us < 999_500_000 ? formatLatencyUs(us) : '>999s';
}

function toneOf({ generator, failed, current }: StepRow): Line['tone'] {
  if (generator && !generator.valid) return 'warn';
  if (failed) return 'bad';
  return current ? 'bold' : undefined;
}

/** `ok 21 %`: share of a core the busiest worker uses; `slow` when the generator is the bottleneck. */
export function generatorCell({
  valid,
  cpuShare,
}: Pick<GeneratorHealth, 'cpuShare' | 'valid'>): string {
  const share = formatShare(cpuShare);
  const text = `${valid ? 'ok' : 'slow'} ${share}`;
  return text.length <= 9 ? text : text.replace(' %', '%').slice(0, 9);
}

/** A number right-aligned with at least one blank before it, shortened to `12.3K` where it is too long. */
export function fit(value: number | undefined, width: number, decimals = 0): string {
  if (value === undefined) return '-'.padStart(width);
  for (const places of decimals > 0 ? [decimals, 0] : [0]) {
    const text = formatCount(value, places);
    if (text.length < width) return text.padStart(width);
  }
  for (const [divisor, suffix] of [
    [1e3, 'K'],
    [1e6, 'M'],
    [1e9, 'G'],
    [1e12, 'T'],
  ] as const) {
    const scaled = value / divisor;
    const text = `${scaled < 99.95 ? scaled.toFixed(1) : scaled.toFixed(0)}${suffix}`;
    if (scaled < 999.5 && text.length < width) return text.padStart(width);
    const whole = `${scaled.toFixed(0)}${suffix}`;
    if (scaled < 999.5 && whole.length < width) return whole.padStart(width);
  }
  return '∞'.padStart(width);
}

/** Row of a step that is over. */
export function rowOfStep(step: StepSummary): StepRow {
  const { warmupErrors, ...row } = step;
  return {
    ...row,
    errors: countOf(step.errors),
    ...(warmupErrors !== undefined && { warmupErrors: countOf(warmupErrors) }),
    failed: step.verdict.status === 'fail',
  };
}

/** Errors of warm-ups, which are in no row; empty where there were none. */
export function warmupLines(rows: readonly StepRow[]): Line[] {
  const had = rows.filter(({ warmupErrors = 0 }) => warmupErrors > 0);
  if (had.length === 0) return [];
  const sum = had.reduce((total, { warmupErrors = 0 }) => total + warmupErrors, 0);
  const [{ index } = { index: 0 }, more] = had;
  const place = more === undefined ? `the warm-up of step ${formatCount(index)}` : 'warm-ups';
  const text = ` ${formatCount(sum)} more ${sum === 1 ? 'error' : 'errors'} in ${place}, which err leaves out`;
  return [{ text, tone: 'dim' }];
}

/** Row of a step as last seen; its losses are known only when it is over. */
export function rowOfProgress(progress: StepProgress): StepRow {
  const { outstanding, over, ...row } = progress;
  return { ...row, ...(over && { lost: outstanding }) };
}
