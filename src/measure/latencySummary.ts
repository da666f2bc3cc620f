/** Latency of the deliveries of one step, in microseconds; all 0 when `count` is 0. */
export interface LatencySummary {
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly p9999: number;
  readonly max: number;
}

/**
 * Percentiles as a verdict takes them, microseconds: over what was expected, a lost delivery being slower
 * than any other. Null where the rank asked for was lost.
 */
export type JudgedLatency = Readonly<
  Record<Exclude<keyof LatencySummary, 'count' | 'min' | 'mean'>, number | null>
>;
