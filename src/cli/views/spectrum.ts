import { formatLatencyUs } from '../../base/units';
import type { Slo } from '../../base/slo';
import type { StepSummary } from '../../measure/show/summary';
import { latencyAt } from '../../measure/tails';
import type { Line } from './line';
import type { LatencySummary } from '../../measure/latencySummary';

/** Rows of the chart. Each is one nine further, so the axis is logarithmic, as tails are. */
const rows = [
  ['50 %', 'p50', 'p50'],
  ['90 %', 'p90', 'p90'],
  ['99 %', 'p99', 'p99'],
  ['99.9 %', 'p999', 'p99.9'],
  ['99.99 %', 'p9999', 'p99.99'],
  ['100 %', 'max', 'max'],
] as const satisfies readonly (readonly [
  string,
  Exclude<keyof LatencySummary, 'count'>,
  keyof Slo['latencyUs'],
])[];

/** Columns before the bars. */
const labelWidth = 34;
/** Columns after the bars, for the limit. */
const limitWidth = 9;

/**
 * Latency by percentile as bars of equal scale: solid is the time from the real send, light what a
 * message had waited until it was sent. Empty when nothing was received.
 *
 * @param width columns of the whole chart, at least 60
 */
export function spectrumLines(step: StepSummary, slo: Slo, width: number): Line[] {
  const { latencyUs: due, sendLatencyUs: sent } = step;
  if (due.count === 0) return [];
  const barWidth = Math.max(10, Math.min(width, 100) - labelWidth - limitWidth);
  // Of a stored file the percentiles may be in any order.
  const cells = (us: number): number =>
    due.max > 0 ? Math.min(1, Math.max(0, us / due.max)) * barWidth : 0;
  const bars = rows.map(([label, key, metric]) => {
    const [us, sentUs] = [latencyAt(due, key), latencyAt(sent, key)];
    const solid = Math.round(cells(Math.min(sentUs ?? 0, us ?? 0)));
    const light = Math.round(cells(us ?? 0)) - solid;
    return { label, us, sentUs, solid, light, limit: slo.latencyUs[metric] };
  });
  return [
    {
      text: `latency of step ${step.index}${step.judgedUs ? ', of what arrived' : ''}`,
      tone: 'bold',
    },
    { text: `   within   from due   from send`, tone: 'dim' },
    ...bars.map(barLine),
    ...(bars.some(({ light }) => light > 0)
      ? [{ text: '           █ since it was sent, ░ since it was due', tone: 'dim' as const }]
      : []),
  ];
}

interface Bar {
  readonly label: string;
  /** From the intended time and from the real send, microseconds; undefined where too few tell it. */
  readonly us: number | undefined;
  readonly sentUs: number | undefined;
  /** Cells of the bar. */
  readonly solid: number;
  readonly light: number;
  readonly limit: number | undefined;
}

function barLine({ label, us, sentUs, solid, light, limit }: Bar): Line {
  const bar = '█'.repeat(solid) + '░'.repeat(light) || (us ? '▏' : '');
  const words = (value: number | undefined): string =>
    value === undefined ? '–' : formatLatencyUs(value);
  const numbers = `${label.padStart(9)}${words(us).padStart(11)}${words(sentUs).padStart(12)}`;
  if (us === undefined) return { text: `${numbers}  too few deliveries`, tone: 'dim' };
  if (limit === undefined) return { text: `${numbers}  ${bar}` };
  const text = `${numbers}  ${bar} ≤ ${formatLatencyUs(limit)}`;
  return us > limit ? { text, tone: 'bad' } : { text };
}
