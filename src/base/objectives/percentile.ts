/** Percentiles as people write them: `p50`, `p99.5`, `max`. */

/** Those that every result has. */
export const latencyMetrics = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'p99.99', 'max'] as const;
export type LatencyMetric = (typeof latencyMetrics)[number];

export type Percentile = LatencyMetric | `p${number}`;

/** No zeros before or behind, so that each percentile has one name; four decimals at most. */
export const percentilePattern = '(?:p(?:0|[1-9][0-9]?)\\.[0-9]{0,3}[1-9]|p[1-9][0-9]?|max)';

const percentile = new RegExp(`^${percentilePattern}$`);

export const isPercentile = (name: string): name is Percentile => percentile.test(name);

/** Whether an objective of that name is a time, of deliveries or of anything else that has percentiles. */
export const isTime = (metric: string): boolean =>
  isPercentile(metric.slice(metric.startsWith('p') ? 0 : metric.indexOf('.') + 1));

/** Share of the sorted values that lies at or below it: 0.995 for `p99.5`, 1 for `max`. */
export function shareOf(metric: Percentile): number {
  // Decimal digits, not binary crumbs: 99.9 / 100 is no 0.999.
  return metric === 'max' ? 1 : Number(`${metric.slice(1)}e-2`);
}

/** Share of the sorted deliveries that lies at or below each metric's value. */
export const latencyShare = Object.fromEntries(
  latencyMetrics.map((metric) => [metric, shareOf(metric)]),
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

/** Lower ones first, the largest value last. */
export const byShare = (a: Percentile, b: Percentile): number => shareOf(a) - shareOf(b);

/** The limits of latency that a scenario sets, microseconds, those of lower percentiles first. */
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

/** `99.5 %` of what there is; no crumbs of binary fractions. */
export const percentOf = (metric: Percentile): string =>
  String(Number((shareOf(metric) * 100).toFixed(4)));

/** What may still lie beyond it: `0.5`. */
export const percentBeyond = (metric: Percentile): string =>
  String(Number(((1 - shareOf(metric)) * 100).toFixed(4)));
