import { formatCount } from '../../base/units';
import { comparedLatency, percentileName } from './comparisonWords';
import type { OutlyingRepeat, RepeatedStep } from './repeats';

/** `step`, `percentile`, `median`, `lowest`, `highest`, `95 % interval`: a row for p50 and p99 of each step. */
export interface RepeatRow {
  readonly step: string;
  readonly name: string;
  readonly median: string;
  readonly lowest: string;
  readonly highest: string;
  readonly interval: string;
}

export function repeatRows(repeats: readonly RepeatedStep[]): RepeatRow[] {
  return repeats.flatMap(({ step, latency }) =>
    (['p50', 'p99'] as const).flatMap((key) => {
      const found = latency[key];
      if (found === undefined) return [];
      const sorted = found.values
        .map((value) => value ?? Infinity)
        .sort((one, other) => one - other);
      const words = (us: number | undefined): string =>
        comparedLatency(us === undefined || !Number.isFinite(us) ? null : us);
      return [
        {
          ...{ step: formatCount(step), name: percentileName(key) },
          ...{ median: comparedLatency(found.median), lowest: words(sorted[0]) },
          highest: words(sorted.at(-1)),
          interval: found.interval === null ? '' : found.interval.map(words).join(' … '),
        },
      ];
    }),
  );
}

/** `step 7 is unlike the other repeats: p99 57 ms, median 41 ms`. */
export const outlierWords = ({ step, metric, value, median }: OutlyingRepeat): string =>
  `step ${formatCount(step)} is unlike the other repeats: ${percentileName(metric)} ${comparedLatency(value)}, median ${comparedLatency(median)}`;
