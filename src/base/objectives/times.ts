/** Objectives on percentiles of other times than latency. What never ended is slower than any limit. */
import { formatCount, latencyWords, latencyWordsBesideLimit } from '../units';
import { sentence } from '../sentence';
import type {
  ConnectionObjective,
  JudgedConnections,
  JudgedDeliveries,
  JudgedReach,
  ObjectiveFamily,
  StepObjective,
} from './objective';
import {
  isPercentile,
  percentBeyond,
  percentilePattern,
  percentText,
  percentileShare,
  type Percentile,
} from './percentile';

interface Timed<Of> {
  readonly summary: string;
  readonly texts: Readonly<Record<'slow' | 'slowest' | 'missing' | 'missingOfAll', string>>;
  readonly times: (of: Of) => JudgedReach | undefined;
}

const timed = <Of>(metric: Percentile, { summary, texts, times }: Timed<Of>) => ({
  unit: 'duration' as const,
  summary: `${metric === 'max' ? 'All' : `${percentText(metric)} % of the`} ${summary}`,
  unitMistake: { from: 1, below: 5, unit: 's' },
  limit: 'most' as const,
  value(of: Of) {
    const found = times(of);
    if (!found?.messages) return undefined;
    const { messages, reached, atShareUs } = found;
    const rank = Math.max(1, Math.ceil(percentileShare(metric) * messages - 1e-6));
    return rank > reached ? null : atShareUs(rank / reached);
  },
  missed(of: Of, value: number | null, limit: number) {
    const { messages, reached } = times(of)!;
    const isMax = metric === 'max';
    const [limitText, count] = [latencyWords(limit), formatCount(messages)];
    if (value === null) {
      const missing = formatCount(messages - reached);
      return isMax
        ? sentence(texts.missingOfAll, missing, count, limitText)
        : sentence(texts.missing, missing, count, percentBeyond(metric), limitText);
    }
    const took = latencyWordsBesideLimit(value, limit);
    return isMax
      ? sentence(texts.slowest, count, took, limitText)
      : sentence(texts.slow, percentText(metric), count, took, limitText);
  },
});

function familyOf<Prefix extends string>(
  prefix: Prefix,
  objectiveOf: (metric: Percentile) => ConnectionObjective | StepObjective,
): ObjectiveFamily<`${Prefix}.${Percentile}`> {
  return {
    pattern: `${prefix}\\.${percentilePattern}`,
    offered: (['p50', 'p95', 'p99', 'max'] as const).map(
      (metric) => `${prefix}.${metric}` as const,
    ),
    named(name) {
      const metric = name.slice(prefix.length + 1);
      return name.startsWith(`${prefix}.`) && isPercentile(metric)
        ? objectiveOf(metric)
        : undefined;
    },
  };
}

export type ConnectMetric = `connect.${Percentile}`;

/** The time to connect, over all that were to be opened so far; see `docs/objectives.md`. */
export const connectTimes: ObjectiveFamily<ConnectMetric> = familyOf('connect', (metric) => ({
  ...{ of: 'connections', atSteps: true },
  ...timed<JudgedConnections>(metric, {
    summary:
      'connections must be open within this time, retries included; one that could not be opened is slower than any limit.',
    texts: {
      slow: '{0} % of {1} connections were open within {2}, above the limit of {3}',
      slowest: 'all {0} connections were open within {1}, above the limit of {2}',
      missing: '{0} of {1} connections were not opened, and only {2} % may take longer than {3}',
      missingOfAll: '{0} of {1} connections were not opened, and none may take longer than {2}',
    },
    times: ({ failed, connected: reached = 0, connectAtShareUs: atShareUs }) =>
      atShareUs && { messages: reached + failed, reached, atShareUs },
  }),
}));

export type TimeToAllMetric = `timeToAll.${Percentile}`;

/** The time until a message has reached the last of its receivers; see `docs/objectives.md`. */
export const timesToAll: ObjectiveFamily<TimeToAllMetric> = familyOf('timeToAll', (metric) => ({
  of: 'step',
  ...timed<JudgedDeliveries>(metric, {
    summary:
      'messages to everyone or to a group must have reached the last of their receivers within this time; one that does not reach all is slower than any limit.',
    texts: {
      slow: '{0} % of {1} messages reached all their receivers within {2}, above the limit of {3}',
      slowest: 'all {0} messages reached all their receivers within {1}, above the limit of {2}',
      missing:
        '{0} of {1} messages had not reached all their receivers when the drain ended, and only {2} % may take longer than {3}',
      missingOfAll:
        '{0} of {1} messages had not reached all their receivers when the drain ended, and none may take longer than {2}',
    },
    times: ({ timeToAll }) => timeToAll,
  }),
}));

export const isTimeToAll = (metric: string): boolean => timesToAll.named(metric) !== undefined;
