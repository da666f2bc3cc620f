import { formatCount, formatLatencyUs, formatShare } from '../base/units';
import type { StepProgress } from '../measure/snapshot';
import type {
  EntrySummary,
  GeneratorHealth,
  LatencySummary,
  StepSummary,
} from '../measure/summary';
import type { Line } from './line';

/** One row of the table of steps; what is not known yet is absent. */
export interface StepRow {
  readonly index: number;
  readonly senders: number;
  readonly sentPerSecond?: number;
  readonly receivedPerSecond?: number;
  readonly latencyUs?: LatencySummary;
  readonly lost?: number;
  readonly errors?: number;
  readonly generator?: Pick<GeneratorHealth, 'cpuShare' | 'valid'>;
  /** The step that is going on. */
  readonly current?: boolean;
  /** Time left, e.g. `0:12`; at most 4 columns. */
  readonly left?: string;
  readonly failed?: boolean;
}

/** What the table of a mix needs of an entry; its losses are known only when the step is over. */
type EntryRow = Pick<
  EntrySummary,
  'name' | 'senders' | 'sentPerSecond' | 'receivedPerSecond' | 'latencyUs'
> &
  Partial<Pick<EntrySummary, 'lost'>>;

/** Heads of the table, 79 columns with the time left: every row fits into 80. */
export const stepHead: Line = {
  text: ' step senders  sent/s  recv/s   p50   p99 p99.9   max  lost  err generator',
  tone: 'dim',
};

export function stepLine(row: StepRow): Line {
  const { latencyUs, generator } = row;
  const percentile = (us: number | undefined): string =>
    (us === undefined || latencyUs?.count === 0 ? '-' : latencyCell(us)).padStart(6);
  const text = [
    `${row.current ? '▸' : ' '}${fit(row.index, 4)}`,
    fit(row.senders, 8),
    fit(row.sentPerSecond, 8, 1),
    fit(row.receivedPerSecond, 8),
    percentile(latencyUs?.p50),
    percentile(latencyUs?.p99),
    percentile(latencyUs?.p999),
    percentile(latencyUs?.max),
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
  const { latencyUs } = entry;
  const percentile = (us: number): string =>
    (latencyUs.count === 0 ? '-' : latencyCell(us)).padStart(6);
  const text = [
    ` ${fit(index, 4)}`,
    fit(entry.senders, 8),
    fit(entry.sentPerSecond, 8, 1),
    fit(entry.receivedPerSecond, 8),
    percentile(latencyUs.p50),
    percentile(latencyUs.p99),
    percentile(latencyUs.p999),
    percentile(latencyUs.max),
    fit(entry.lost, 6),
    ` ${name.slice(0, longestName)}`,
  ].join('');
  return { text };
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
  return {
    ...step,
    errors: Object.values(step.errors).reduce((sum, count) => sum + count, 0),
    failed: step.verdict.status === 'fail',
  };
}

/** Row of a step as last seen; its losses are known only when it is over. */
export function rowOfProgress(
  progress: StepProgress,
  { errors }: { readonly errors?: number } = {},
): StepRow {
  const { outstanding, over, ...row } = progress;
  return {
    ...row,
    ...(over && { lost: outstanding }),
    ...(errors !== undefined && { errors }),
  };
}
