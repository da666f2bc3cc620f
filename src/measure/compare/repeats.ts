import { shownPercentiles } from '../latencySummary';
import type { StepSummary } from '../summary';
import { comparedKeys, confidenceLevel, type ComparedKey } from './comparison';
import { formatCount } from '../../base/units';
import { latencyOrLostWords, percentileName } from './comparisonWords';

interface RepeatedPercentile {
  /** Microseconds over what was expected, in the order of the repeats; null where that rank was lost. */
  readonly values: readonly (number | null)[];
  /** Null where half of the repeats or more have lost that rank. */
  readonly median: number | null;
  /** Where the percentile lies with 95 % confidence; null where there are too few repeats to say, or one has lost that rank. */
  readonly interval: readonly [low: number, high: number] | null;
}

export interface OutlyingRepeat {
  /** Of the step in the result. */
  readonly step: number;
  readonly metric: ComparedKey;
  readonly value: number | null;
  readonly median: number;
}

export interface RepeatedStep {
  /** Its number in the scenario. */
  readonly step: number;
  readonly senders: number;
  /** The steps of the result, in their order; those that were not measured to their end are left out. */
  readonly of: readonly number[];
  readonly latency: Readonly<Partial<Record<ComparedKey, RepeatedPercentile>>>;
  readonly outliers?: readonly OutlyingRepeat[];
}

/** @param cycle steps of the scenario, which are repeated together */
export function summarizeRepeats(steps: readonly StepSummary[], cycle: number): RepeatedStep[] {
  const measured = steps.filter(
    ({ verdict: { status } }) => status === 'pass' || status === 'fail',
  );
  return Array.from({ length: cycle }, (_, position) => {
    const own = measured.filter(({ index }) => (index - 1) % cycle === position);
    return own.length > 1 ? [repeatedStep(position + 1, own)] : [];
  }).flat();
}

function repeatedStep(step: number, own: readonly StepSummary[]): RepeatedStep {
  const shown = own.map(shownPercentiles);
  const latency: Partial<Record<ComparedKey, RepeatedPercentile>> = {};
  for (const key of comparedKeys) {
    const values = shown.map((each) => each?.[key]);
    if (values.every((value) => value !== undefined)) latency[key] = repeatedPercentile(values);
  }
  const outliers = (['p50', 'p99'] as const).flatMap((metric) =>
    outliersOf(metric, latency[metric], own),
  );
  return {
    ...{ step, senders: own[0]!.senders, of: own.map(({ index }) => index), latency },
    ...(outliers.length > 0 && { outliers }),
  };
}

/** A lost rank is slower than any other. */
function repeatedPercentile(values: readonly (number | null)[]): RepeatedPercentile {
  const sorted = values.map((value) => value ?? Infinity).sort((a, b) => a - b);
  const median = medianOf(sorted);
  return {
    ...{ values, median: Number.isFinite(median) ? median : null },
    interval: sorted.at(-1) === Infinity ? null : intervalOf(sorted),
  };
}

function medianOf(sorted: readonly number[]): number {
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** From so many values on, the lowest and the highest enclose the median in 95 of 100 cases whatever they are drawn from. */
const leastForOrder = 6;
/** Two values say nothing of how far a third may be. */
const leastForStudent = 3;

/**
 * From 6 repeats on, two of the values: the k-th lowest and the k-th highest enclose the median with the probability
 * 1 − 2 · P(B < k), where B has the binomial distribution of n and ½ (H. A. David and H. N. Nagaraja, "Order
 * Statistics", 7.1 "Distribution-free confidence intervals for quantiles"). From 3 to 5 no two values do, and the interval
 * is Student's of the logarithms.
 */
function intervalOf(sorted: readonly number[]): readonly [number, number] | null {
  const count = sorted.length;
  if (count >= leastForOrder) {
    const outside = placesOutside(count);
    return [sorted[outside]!, sorted[count - 1 - outside]!];
  }
  if (count < leastForStudent) return null;
  const logs = sorted.map((us) => Math.log(Math.max(1, us)));
  const mean = logs.reduce((sum, log) => sum + log, 0) / count;
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (count - 1);
  const half = studentAt95(count - 1) * Math.sqrt(variance / count);
  return [Math.round(Math.exp(mean - half)), Math.round(Math.exp(mean + half))];
}

/** Values on each side that the interval may leave out. */
function placesOutside(count: number): number {
  let [below, probability] = [0, 2 ** -count];
  for (let place = 0; place < count / 2; place++) {
    below += probability;
    if (1 - 2 * below < confidenceLevel) return Math.max(0, place - 1);
    probability *= (count - place) / (place + 1);
  }
  return 0;
}

/** Modified z-score above which a value is an outlier. */
const mostScore = 3.5;
/** Of the median absolute deviation, of logarithms: repeats that lie closer together than 2 % are not measured that well. */
const leastDeviation = 0.02;
const leastOutlying = 0.1;

/**
 * By the median absolute deviation of the logarithms; nothing within 10 % of the median is one. Source: B. Iglewicz and D. C. Hoaglin,
 * "How to Detect and Handle Outliers" (1993), modified z-score.
 */
function outliersOf(
  metric: ComparedKey,
  percentile: RepeatedPercentile | undefined,
  own: readonly StepSummary[],
): OutlyingRepeat[] {
  if (percentile === undefined || own.length < leastForStudent) return [];
  const { median, values } = percentile;
  if (median === null) return [];
  const distances = values.map((value) =>
    value === null ? Infinity : Math.log(Math.max(1, value) / Math.max(1, median)),
  );
  const absolute = distances.map(Math.abs).sort((a, b) => a - b);
  const deviation = Math.max(leastDeviation, medianOf(absolute));
  return values.flatMap((value, at) => {
    const distance = Math.abs(distances[at]!);
    const isOutlier = (0.6745 * distance) / deviation > mostScore;
    return isOutlier && distance > leastOutlying
      ? [{ step: own[at]!.index, metric, value, median }]
      : [];
  });
}

/** Student's distribution: at 95 %, both sides, from one degree of freedom to five. Source: Student, Biometrika 6 (1908); tables of the t distribution. */
const few = [12.706, 4.303, 3.182, 2.776, 2.571] as const;

/** What a value is beyond, either way, with a probability of 5 %. @param freedom degrees, 1 to 5 */
function studentAt95(freedom: number): number {
  const value = few[freedom - 1];
  if (value === undefined) throw new Error(`${freedom} degrees of freedom are not in the table`);
  return value;
}

export function repeatRows(repeats: readonly RepeatedStep[], noValue: string): string[][] {
  return repeats.flatMap(({ step, latency }) =>
    (['p50', 'p99'] as const).flatMap((key) => {
      const found = latency[key];
      if (found === undefined) return [];
      const sorted = found.values
        .map((value) => value ?? Infinity)
        .sort((one, other) => one - other);
      const words = (us: number | undefined): string =>
        latencyOrLostWords(us === undefined || !Number.isFinite(us) ? null : us);
      const interval = found.interval === null ? noValue : found.interval.map(words).join(' … ');
      const values = [latencyOrLostWords(found.median), words(sorted[0]), words(sorted.at(-1))];
      return [[formatCount(step), percentileName(key), ...values, interval]];
    }),
  );
}
