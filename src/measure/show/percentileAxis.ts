/** Latency spectra: latency over the share of the deliveries that are at least as fast. */
import { showsShare } from '../../base/measuringLimits';
import { latencyMetrics, latencyShare, summaryKeys } from '../../base/objectives/percentile';
import type { LatencySummary } from '../latencySummary';

export interface SpectrumPoint {
  readonly share: number;
  readonly latencyUs: number;
}

/** Place on HdrHistogram's percentile axis: lg(1 / (1 − share)); 90 % is at 1, 99 % at 2. */
export function percentilePlace(share: number): number {
  return Math.log10(1 / (1 - Math.min(share, 1 - 1e-9)));
}

/** The share of a place: the way back from {@link percentilePlace}. */
export const shareAt = (place: number): number => Number((1 - 10 ** -place).toFixed(8));

/** Each at its place on that axis. */
export const placed = (points: readonly SpectrumPoint[]) =>
  points.map(({ share, latencyUs }) => [percentilePlace(share), latencyUs] as const);

export const axisShares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/** The percentiles that are kept, up to the highest that `count` values have. */
export function pointsOf(summary: LatencySummary): SpectrumPoint[] {
  if (summary.count === 0) return [];
  const highest = 1 - 1 / Math.max(2, summary.count);
  const within = latencyMetrics
    .map((metric) => ({
      share: latencyShare[metric],
      latencyUs: Math.max(1, summary[summaryKeys[metric]]),
    }))
    .filter(({ share }) => share < 0.999 || showsShare(summary.count, share))
    .filter(({ share }) => share < highest);
  return [
    { share: 0, latencyUs: Math.max(1, summary.min) },
    ...within,
    { share: highest, latencyUs: Math.max(1, summary.max) },
  ];
}
