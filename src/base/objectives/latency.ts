/** Percentiles of latency as objectives. Lost deliveries count as slower than any limit. */
import { sentence, type Words } from '../sentence';
import { formatCount, latencyWords, latencyWordsBesideLimit } from '../units';
import type {
  AcrossClocks,
  JudgedDeliveries,
  Lateness,
  ObjectiveFamily,
  Ruling,
  StepObjective,
} from './objective';
import {
  countToShowPercentile,
  isPercentile,
  latencyMetrics,
  percentBeyond,
  percentilePattern,
  percentText,
  percentileShare,
  type Percentile,
} from './percentile';

/** Latency at a rank among the expected deliveries; null when that rank was lost. */
export function latencyOverExpected(
  step: Pick<JudgedDeliveries, 'expected' | 'received' | 'latencyAtShareUs'>,
  share: number,
): number | null {
  const ofReceived = shareOfReceived(step, share);
  return ofReceived > 1 ? null : step.latencyAtShareUs(ofReceived);
}

/** Converts a share of the expected deliveries to one of the received; above 1 when that rank was lost. */
function shareOfReceived(
  { expected, received }: Pick<JudgedDeliveries, 'expected' | 'received'>,
  share: number,
): number {
  // The small allowance keeps 0.07 × 100 = 7.000000000000001 at rank 7.
  return Math.max(1, Math.ceil(share * expected - 1e-6)) / received;
}

/** Source: decision record on several machines, "Clocks". */
const minInsideCount = 1000;

/**
 * Undefined where the value decides by itself: each latency, and so each percentile, is off by the clock error at most.
 * Where the limit lies within that error, or the error is not reliable, the same rank of the deliveries inside single
 * agents decides, if there are enough of them.
 */
function rulingAcrossClocks(
  metric: Percentile,
  step: JudgedDeliveries,
  valueUs: number,
  limitUs: number,
): Ruling | undefined {
  const { across, expected } = step;
  if (across === undefined) return undefined;
  const { errorUs, wrong, inside } = across;
  const isCertain = errorUs === 0 || valueUs + errorUs <= limitUs || valueUs - errorUs > limitUs;
  if (wrong === undefined && isCertain) return undefined;
  const share = percentileShare(metric);
  if (inside.count < Math.max(minInsideCount, share < 1 ? countToShowPercentile(share) : 0)) {
    const words = undecidedWords(across, deliveriesWords(metric, expected), valueUs, limitUs);
    return { by: 'nothing', value: valueUs, met: false, words };
  }
  const value = inside.latencyAtShareUs(shareOfReceived(step, share));
  const words = sentence(
    '{0} inside single agents within {1}, above the limit of {2}',
    deliveriesWords(metric, inside.count),
    latencyWordsBesideLimit(value, limitUs),
    latencyWords(limitUs),
  );
  return { by: 'inside', value, met: value <= limitUs, words };
}

function undecidedWords(
  { errorUs, wrong, inside }: AcrossClocks,
  deliveries: Words,
  valueUs: number,
  limitUs: number,
): Words {
  const limit = latencyWords(limitUs);
  const count = formatCount(inside.count);
  if (wrong !== undefined)
    return sentence(
      'whether {0} came within {1} is open: {2}, and only {3} of them stayed inside one agent',
      ...[deliveries, limit, wrong, count],
    );
  const measured = latencyWordsBesideLimit(valueUs, limitUs);
  return sentence(
    'whether {0} came within {1} is open: {2} were measured, clocks may differ by {3}, and only {4} of them stayed inside one agent',
    ...[deliveries, limit, measured, latencyWords(errorUs), count],
  );
}

/** `99 % of 950,000 deliveries`, `all 950,000 deliveries`. */
export function deliveriesWords(metric: Percentile, expected: number): Words {
  const isOne = expected === 1;
  const count = formatCount(expected);
  if (metric === 'max')
    return isOne ? sentence('the only delivery') : sentence('all {0} deliveries', count);
  const text = isOne ? '{0} % of {1} delivery' : '{0} % of {1} deliveries';
  return sentence(text, percentText(metric), count);
}

const texts = {
  slow: '{0} within {1}, above the limit of {2}',
  lost: '{0} of {1} deliveries lost, and only {2} % may be slower than {3}',
  overdue: '{0} of {1} deliveries are overdue or lost, and only {2} % may be slower than {3}',
  overdueOfAll: '{0} of {1} deliveries are overdue or lost, and no delivery may be slower than {2}',
  lostOfAll: '{0} of {1} deliveries lost, and no delivery may be slower than {2}',
} as const;

export const latencies: ObjectiveFamily<Percentile> = {
  pattern: percentilePattern,
  offered: latencyMetrics,
  named: (name) => (isPercentile(name) ? latencyObjective(name) : undefined),
};

function latencyObjective(metric: Percentile): StepObjective {
  const share = percentileShare(metric);
  return {
    of: 'step',
    unit: 'duration',
    // Source: "Performance guide for Azure SignalR Service", 23 March 2023, *Performance insight > Methodology*.
    ...(metric === 'p99' && { default: 1_000_000 }),
    summary:
      metric === 'max'
        ? 'No delivery may take longer than this.'
        : `${percentText(metric)} % of the expected deliveries must arrive within this time.`,
    unitMistake: { from: 1, below: 5, unit: 's' },
    limit: 'most',
    value: (step) => latencyOverExpected(step, share),
    ruling: (step, value, limit) => rulingAcrossClocks(metric, step, value, limit),
    missed: ({ expected, received, isGoingOn }, value, limit) => {
      const limitText = latencyWords(limit);
      if (value !== null) {
        const deliveries = deliveriesWords(metric, expected);
        return sentence(texts.slow, deliveries, latencyWordsBesideLimit(value, limit), limitText);
      }
      const counts = [formatCount(expected - received), formatCount(expected)];
      const [all, some] = isGoingOn
        ? [texts.overdueOfAll, texts.overdue]
        : [texts.lostOfAll, texts.lost];
      if (metric === 'max') return sentence(all, ...counts, limitText);
      return sentence(some, ...counts, percentBeyond(metric), limitText);
    },
  };
}

/** The most by which the generator made any latency too long, queueing behind late messages included. */
export const latenessUs = ({ slipMaxUs, readGapMaxUs }: Lateness): number =>
  slipMaxUs + readGapMaxUs;

/**
 * Lateness only adds to a latency: one within its limit has met it, one beyond it even without the lateness has missed it.
 *
 * @param valueUs from the due time; null: lost
 * @param lateUs see {@link latenessUs}
 */
export function latencyRuling(
  valueUs: number | null,
  limitUs: number,
  lateUs: number,
): 'met' | 'missed' | 'open' {
  if (valueUs === null) return 'missed';
  if (valueUs <= limitUs) return 'met';
  return valueUs - lateUs > limitUs ? 'missed' : 'open';
}
