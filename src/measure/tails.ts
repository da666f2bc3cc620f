import { countFor, leastBeyond, tellsShare } from '../base/judging';
import { latencyShare } from '../base/objectives/latency';
import { formatCount } from '../base/units';
import type { LatencySummary } from './latencySummary';

const tailShares = { p999: latencyShare['p99.9'], p9999: latencyShare['p99.99'] } as const;
export type Tail = keyof typeof tailShares;

/** p99.9 or p99.99 in microseconds; undefined where there are too few values to tell it. */
export function tailUs(summary: LatencySummary, tail: Tail): number | undefined {
  return tellsShare(summary.count, tailShares[tail]) ? summary[tail] : undefined;
}

/** A percentile by its name in a summary; undefined where there are too few values, or none at all. */
export function latencyAt(
  summary: LatencySummary,
  key: Exclude<keyof LatencySummary, 'count'>,
): number | undefined {
  if (summary.count === 0) return undefined;
  return key === 'p999' || key === 'p9999' ? tailUs(summary, key) : summary[key];
}

/**
 * Why a dash stands where p99.9 belongs; undefined where none does. Nothing received needs no words.
 *
 * @param summaries those that are shown together
 */
export function tailReason(summaries: readonly (LatencySummary | undefined)[]): string | undefined {
  const missing = summaries.some(
    (summary) =>
      summary !== undefined && summary.count > 0 && tailUs(summary, 'p999') === undefined,
  );
  return missing
    ? `–: p99.9 is shown from ${formatCount(countFor(tailShares.p999))} deliveries on, when ${leastBeyond} lie beyond it`
    : undefined;
}
