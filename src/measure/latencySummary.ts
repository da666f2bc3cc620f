import {
  canShowPercentile,
  latencyMetrics,
  latencyShare,
  summaryKeys,
  type SummaryKey,
} from '../base/objectives/percentile';
import { latencyOverExpected } from '../base/objectives/latency';
import type { JudgedDeliveries } from '../base/objectives/objective';

/** Latency of the deliveries of one step, in microseconds; all 0 when `count` is 0. */
export type LatencySummary = Readonly<Record<'count' | 'min' | 'mean' | SummaryKey, number>>;

/** Over what was expected, microseconds: a lost delivery is slower than any other. Null where the rank was lost. */
export type JudgedLatency = Readonly<Record<SummaryKey, number | null>>;

const tailShares = { p999: latencyShare['p99.9'], p9999: latencyShare['p99.99'] } as const;
type Tail = keyof typeof tailShares;

/** p99.9 or p99.99 in microseconds; undefined where there are too few values to show it. */
export function tailUs(summary: LatencySummary, tail: Tail): number | undefined {
  return canShowPercentile(summary.count, tailShares[tail]) ? summary[tail] : undefined;
}

export function shownPercentileUs(
  summary: LatencySummary,
  key: Exclude<keyof LatencySummary, 'count'>,
): number | undefined {
  if (summary.count === 0) return undefined;
  return key === 'p999' || key === 'p9999' ? tailUs(summary, key) : summary[key];
}

export const isTailHidden = (summaries: readonly (LatencySummary | undefined)[]): boolean =>
  summaries.some(
    (summary) =>
      summary !== undefined && summary.count > 0 && tailUs(summary, 'p999') === undefined,
  );

type ExpectedDeliveries = Omit<JudgedDeliveries, 'duplicated'>;

export const judgedLatency = (step: ExpectedDeliveries): JudgedLatency =>
  Object.fromEntries(
    latencyMetrics.map((metric) => [
      summaryKeys[metric],
      latencyOverExpected(step, latencyShare[metric]),
    ]),
  ) as JudgedLatency;

export interface ShownLatency {
  readonly latencyUs?: LatencySummary;
  readonly judgedUs?: JudgedLatency;
}

/** What to show: null where it was lost, undefined where there are too few deliveries to show it, or it came early. */
export type ShownPercentiles = Readonly<Record<keyof JudgedLatency, number | null | undefined>>;

export function shownPercentiles({
  latencyUs,
  judgedUs,
}: ShownLatency): ShownPercentiles | undefined {
  const received = latencyUs !== undefined && latencyUs.count > 0 ? latencyUs : undefined;
  const shown = judgedUs ?? received;
  if (shown === undefined) return undefined;
  const tail = (name: Tail): number | null | undefined =>
    received !== undefined && tailUs(received, name) === undefined ? undefined : shown[name];
  const { p50, p90, p95, p99, max } = shown;
  const all = { p50, p90, p95, p99, p999: tail('p999'), p9999: tail('p9999'), max };
  if (p50 !== 0) return all;
  const entries = Object.entries(all).map(([name, us]) => [name, us === 0 ? undefined : us]);
  return Object.fromEntries(entries) as ShownPercentiles;
}

export const hasEarlyDeliveries = (steps: readonly ShownLatency[]): boolean =>
  steps.some(
    ({ latencyUs }) => latencyUs !== undefined && latencyUs.count > 0 && latencyUs.p50 === 0,
  );

export const countsLostDeliveries = (steps: readonly ShownLatency[]): boolean =>
  steps.some(({ judgedUs }) => judgedUs !== undefined);

export interface SpectrumPoint {
  readonly share: number;
  readonly latencyUs: number;
}

/** Place on HdrHistogram's percentile axis: lg(1 / (1 − share)); 90 % is at 1, 99 % at 2. */
export function percentileAxisPosition(share: number): number {
  return Math.log10(1 / (1 - Math.min(share, 1 - 1e-9)));
}

export const shareAtPosition = (place: number): number => Number((1 - 10 ** -place).toFixed(8));

export const toAxisPoints = (points: readonly SpectrumPoint[]) =>
  points.map(({ share, latencyUs }) => [percentileAxisPosition(share), latencyUs] as const);

export const axisShares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/** The percentiles that are kept, up to the highest that `count` values have. */
export function spectrumPoints(summary: LatencySummary): SpectrumPoint[] {
  if (summary.count === 0) return [];
  const highest = 1 - 1 / Math.max(2, summary.count);
  const within = latencyMetrics
    .map((metric) => ({
      share: latencyShare[metric],
      latencyUs: Math.max(1, summary[summaryKeys[metric]]),
    }))
    .filter(({ share }) => share < 0.999 || canShowPercentile(summary.count, share))
    .filter(({ share }) => share < highest);
  return [
    { share: 0, latencyUs: Math.max(1, summary.min) },
    ...within,
    { share: highest, latencyUs: Math.max(1, summary.max) },
  ];
}
