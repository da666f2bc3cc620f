export const latencyMetrics = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'p99.99', 'max'] as const;
export type LatencyMetric = (typeof latencyMetrics)[number];

export type Percentile = LatencyMetric | `p${number}`;

/** No zeros before or behind, so that each percentile has one name; four decimals at most. */
export const percentilePattern = '(?:p(?:0|[1-9][0-9]?)\\.[0-9]{0,3}[1-9]|p[1-9][0-9]?|max)';

const percentile = new RegExp(`^${percentilePattern}$`);

export const isPercentile = (name: string): name is Percentile => percentile.test(name);

/** Whether the objective is a percentile, of latency or of another time. */
export const isTimeMetric = (metric: string): boolean =>
  isPercentile(metric.slice(metric.startsWith('p') ? 0 : metric.indexOf('.') + 1));

/** 0.995 for `p99.5`, 1 for `max`. */
export function percentileShare(metric: Percentile): number {
  // Decimal digits, not binary noise: 99.9 / 100 is no 0.999.
  return metric === 'max' ? 1 : Number(`${metric.slice(1)}e-2`);
}

export const latencyShare = Object.fromEntries(
  latencyMetrics.map((metric) => [metric, percentileShare(metric)]),
) as Readonly<Record<LatencyMetric, number>>;

export const summaryKeys = {
  p50: 'p50',
  p90: 'p90',
  p95: 'p95',
  p99: 'p99',
  'p99.9': 'p999',
  'p99.99': 'p9999',
  max: 'max',
} as const satisfies Readonly<Record<LatencyMetric, string>>;
export type SummaryKey = (typeof summaryKeys)[LatencyMetric];

export const byShare = (a: Percentile, b: Percentile): number =>
  percentileShare(a) - percentileShare(b);

/** Microseconds, those of lower percentiles first. */
export const latencyLimits = ({
  latencyUs,
}: {
  readonly latencyUs: Readonly<Partial<Record<Percentile, number>>>;
}) =>
  Object.keys(latencyUs)
    .filter(isPercentile)
    .sort(byShare)
    .flatMap((metric) => {
      const us = latencyUs[metric];
      return us === undefined ? [] : [{ metric, us }];
    });

export const percentText = (metric: Percentile): string =>
  String(Number((percentileShare(metric) * 100).toFixed(4)));

export const percentBeyond = (metric: Percentile): string =>
  String(Number(((1 - percentileShare(metric)) * 100).toFixed(4)));

/** Values that must lie beyond a percentile, so that one of them more or less does not move it far. */
export const minValuesBeyond = 10;

/** Whether a percentile of `count` values, by its share (0…1), has enough values beyond it. */
export function canShowPercentile(count: number, share: number): boolean {
  // The allowance makes up for 1 − 0.9999 = 0.0000999999….
  return count * (1 - share) >= minValuesBeyond - 1e-6;
}

export const countToShowPercentile = (share: number): number =>
  Math.ceil(minValuesBeyond / (1 - share) - 1e-6);
