import { formatLatencyUs } from '../base/units';
import type { Slo } from '../base/slo';
import type { LatencySummary, StepSummary } from '../measure/summary';
import type { Line } from './line';

/** Rows of the chart. Each is one nine further, so the axis is logarithmic, as tails are. */
const rows = [
  ['50 %', 'p50', 'p50'],
  ['90 %', 'p90', 'p90'],
  ['99 %', 'p99', 'p99'],
  ['99.9 %', 'p999', 'p99.9'],
  ['99.99 %', 'p9999', 'p99.99'],
  ['100 %', 'max', 'max'],
] as const satisfies readonly (readonly [string, keyof LatencySummary, keyof Slo['latencyUs']])[];

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
  const cells = (us: number): number => (due.max > 0 ? (us / due.max) * barWidth : 0);
  let waited = false;
  const chart = rows.map(([label, key, metric]) => {
    const solid = Math.round(cells(Math.min(sent[key], due[key])));
    const light = Math.round(cells(due[key])) - solid;
    waited ||= light > 0;
    const bar = '█'.repeat(solid) + '░'.repeat(light) || (due[key] > 0 ? '▏' : '');
    const limit = slo.latencyUs[metric];
    const mark = limit === undefined ? '' : ` ≤ ${formatLatencyUs(limit)}`;
    const numbers = `${label.padStart(9)}${formatLatencyUs(due[key]).padStart(11)}${formatLatencyUs(sent[key]).padStart(12)}`;
    const line: Line = { text: `${numbers}  ${bar}${mark}` };
    return limit !== undefined && due[key] > limit ? { ...line, tone: 'bad' as const } : line;
  });
  return [
    { text: `latency of step ${step.index}`, tone: 'bold' },
    { text: `   within   from due   from send`, tone: 'dim' },
    ...chart,
    ...(waited
      ? [{ text: '           █ from the real send, ░ waited for it', tone: 'dim' as const }]
      : []),
  ];
}
