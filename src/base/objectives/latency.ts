import { formatCount } from '../units';
import { sentence, type Words } from '../sentence';
import { insideWords, openWords, rulingAcross } from './acrossClocks';
import type { JudgedDeliveries, ObjectiveFamily, Ruling, StepObjective } from './objective';
import {
  isPercentile,
  latencyMetrics,
  percentBeyond,
  percentilePattern,
  percentOf,
  shareOf,
  type Percentile,
} from './percentile';
import { latencyWords, latencyWordsBeside } from './limitWords';

/** Latency at a rank among the expected deliveries; null when that rank was lost. */
export function latencyOverExpected(
  step: Pick<JudgedDeliveries, 'expected' | 'received' | 'latencyAtShareUs'>,
  share: number,
): number | null {
  const ofReceived = shareOfReceived(step, share);
  return ofReceived > 1 ? null : step.latencyAtShareUs(ofReceived);
}

/** The rank of a share among the expected deliveries, as one among those that were received; above 1 it was lost. */
function shareOfReceived(
  { expected, received }: Pick<JudgedDeliveries, 'expected' | 'received'>,
  share: number,
): number {
  // The small allowance keeps 0.07 × 100 = 7.000000000000001 at rank 7.
  return Math.max(1, Math.ceil(share * expected - 1e-6)) / received;
}

/** Where the clocks of agents leave open on which side of the limit the percentile is. */
function rulingOf(
  metric: Percentile,
  step: JudgedDeliveries,
  valueUs: number,
  limitUs: number,
): Ruling | undefined {
  const { across, expected } = step;
  if (across === undefined) return undefined;
  const share = shareOf(metric);
  const ofReceived = shareOfReceived(step, share);
  const found = rulingAcross(across, { share, ofReceived, valueUs, limitUs });
  if (found === undefined) return undefined;
  if (found.by === 'nothing') {
    const words = openWords(across, deliveriesWords(metric, expected), { valueUs, limitUs });
    return { by: 'nothing', value: valueUs, met: false, words };
  }
  const { by, valueUs: value, count } = found;
  const words = insideWords(deliveriesWords(metric, count), value, limitUs);
  return { by, value, met: value <= limitUs, words };
}

/** `99 % of 950,000 deliveries`, `all 950,000 deliveries`. */
export function deliveriesWords(metric: Percentile, expected: number): Words {
  const isOne = expected === 1;
  const count = formatCount(expected);
  if (metric === 'max')
    return isOne ? sentence('the only delivery') : sentence('all {0} deliveries', count);
  const text = isOne ? '{0} % of {1} delivery' : '{0} % of {1} deliveries';
  return sentence(text, percentOf(metric), count);
}

const texts = {
  slow: '{0} within {1}, above the limit of {2}',
  lost: '{0} of {1} deliveries lost, and only {2} % may be slower than {3}',
  overdue: '{0} of {1} deliveries are overdue or lost, and only {2} % may be slower than {3}',
  overdueOfAll: '{0} of {1} deliveries are overdue or lost, and none may be slower than {2}',
  lostOfAll: '{0} of {1} deliveries lost, and none may be slower than {2}',
} as const;

/** Any percentile of latency is an objective. */
export const latencies: ObjectiveFamily<Percentile> = {
  pattern: percentilePattern,
  offered: latencyMetrics,
  named: (name) => (isPercentile(name) ? latencyObjective(name) : undefined),
};

/** The limit of one percentile, over what was expected: a lost delivery is slower than any limit. */
function latencyObjective(metric: Percentile): StepObjective {
  const share = shareOf(metric);
  return {
    of: 'step',
    unit: 'duration',
    // The guides' criterion: "Performance guide for Azure SignalR Service", 23 March 2023, *Performance insight >
    // Methodology*.
    ...(metric === 'p99' && { default: 1_000_000 }),
    summary:
      metric === 'max'
        ? 'No delivery may take longer than this.'
        : `${percentOf(metric)} % of the expected deliveries must arrive within this time.`,
    unitMistake: { from: 1, below: 5, unit: 's' },
    limit: 'most',
    value: (step) => latencyOverExpected(step, share),
    ruling: (step, value, limit) => rulingOf(metric, step, value, limit),
    missed: ({ expected, received, isGoingOn }, value, limit) => {
      const limitText = latencyWords(limit);
      if (value !== null) {
        const deliveries = deliveriesWords(metric, expected);
        return sentence(texts.slow, deliveries, latencyWordsBeside(value, limit), limitText);
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
