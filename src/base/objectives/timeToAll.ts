import { formatCount } from '../units';
import type { JudgedDeliveries, ObjectiveFamily, StepObjective } from './objective';
import {
  isPercentile,
  percentBeyond,
  percentilePattern,
  percentOf,
  shareOf,
  type Percentile,
} from './percentile';
import { fill, latencyWords, latencyWordsBeside } from './limitWords';

const texts = {
  slow: '{0} % of {1} messages reached all their receivers within {2}, above the limit of {3}',
  slowest: 'all {0} messages reached all their receivers within {1}, above the limit of {2}',
  missed:
    '{0} of {1} messages had not reached all their receivers when the drain ended, and only {2} % may take longer than {3}',
  missedOfAll:
    '{0} of {1} messages had not reached all their receivers when the drain ended, and none may take longer than {2}',
} as const;

const prefix = 'timeToAll.';

export type TimeToAllMetric = `timeToAll.${Percentile}`;

/** Any percentile of the time until a message has reached the last of its receivers; see `docs/objectives.md`. */
export const timesToAll: ObjectiveFamily<TimeToAllMetric> = {
  pattern: `timeToAll\\.${percentilePattern}`,
  offered: ['timeToAll.p50', 'timeToAll.p95', 'timeToAll.p99', 'timeToAll.max'],
  named(name) {
    const metric = name.slice(prefix.length);
    return name.startsWith(prefix) && isPercentile(metric) ? toAllObjective(metric) : undefined;
  },
};

/** Over all messages that had receivers: one that did not reach all of them is slower than any limit. */
function toAllObjective(metric: Percentile): StepObjective {
  const share = shareOf(metric);
  return {
    of: 'step',
    unit: 'duration',
    summary: `${metric === 'max' ? 'All' : `${percentOf(metric)} % of the`} messages to everyone or to a group must have reached the last of their receivers within this time; one that does not reach all is slower than any limit.`,
    unitMistake: { from: 1, below: 5, unit: 's' },
    limit: 'most',
    value({ timeToAll }) {
      if (timeToAll === undefined || timeToAll.messages === 0) return undefined;
      const { messages, reached, atShareUs } = timeToAll;
      const rank = Math.max(1, Math.ceil(share * messages - 1e-6));
      return rank > reached ? null : atShareUs(rank / reached);
    },
    missed({ timeToAll }: JudgedDeliveries, value, limit) {
      const { messages = 0, reached = 0 } = timeToAll ?? {};
      const [limitText, all] = [latencyWords(limit), formatCount(messages)];
      const isMax = metric === 'max';
      if (value === null) {
        const late = formatCount(messages - reached);
        return isMax
          ? fill(texts.missedOfAll, late, all, limitText)
          : fill(texts.missed, late, all, percentBeyond(metric), limitText);
      }
      const took = latencyWordsBeside(value, limit);
      return isMax
        ? fill(texts.slowest, all, took, limitText)
        : fill(texts.slow, percentOf(metric), all, took, limitText);
    },
    texts: Object.values(texts),
  };
}

/** Whether an objective needs it to be measured. */
export const isTimeToAll = (metric: string): boolean => timesToAll.named(metric) !== undefined;
