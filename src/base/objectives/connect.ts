import { formatCount } from '../units';
import type { ConnectionObjective, ObjectiveFamily } from './objective';
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
  slow: '{0} % of {1} connections were open within {2}, above the limit of {3}',
  slowest: 'all {0} connections were open within {1}, above the limit of {2}',
  failed: '{0} of {1} connections were not opened, and only {2} % may take longer than {3}',
  failedOfAll: '{0} of {1} connections were not opened, and none may take longer than {2}',
} as const;

const prefix = 'connect.';

export type ConnectMetric = `connect.${Percentile}`;

/** Any percentile of the time that connecting took; see `docs/objectives.md`. */
export const connectTimes: ObjectiveFamily<ConnectMetric> = {
  pattern: `connect\\.${percentilePattern}`,
  offered: ['connect.p50', 'connect.p95', 'connect.p99', 'connect.max'],
  named(name) {
    const metric = name.slice(prefix.length);
    return name.startsWith(prefix) && isPercentile(metric) ? connectObjective(metric) : undefined;
  },
};

/** Over all that were to be opened so far: one that was not is slower than any limit. */
function connectObjective(metric: Percentile): ConnectionObjective {
  const share = shareOf(metric);
  return {
    of: 'connections',
    unit: 'duration',
    summary: `${metric === 'max' ? 'All' : `${percentOf(metric)} % of the`} connections must be open within this time, retries included; one that could not be opened is slower than any limit.`,
    unitMistake: { from: 1, below: 5, unit: 's' },
    limit: 'most',
    atSteps: true,
    value({ failed, connected, connectAtShareUs }) {
      if (connected === undefined || connectAtShareUs === undefined) return undefined;
      const tried = connected + failed;
      if (tried === 0) return undefined;
      const rank = Math.max(1, Math.ceil(share * tried - 1e-6));
      return rank > connected ? null : connectAtShareUs(rank / connected);
    },
    missed({ failed, connected = 0 }, value, limit) {
      const [limitText, tried] = [latencyWords(limit), formatCount(connected + failed)];
      if (value === null)
        return metric === 'max'
          ? fill(texts.failedOfAll, formatCount(failed), tried, limitText)
          : fill(texts.failed, formatCount(failed), tried, percentBeyond(metric), limitText);
      const took = latencyWordsBeside(value, limit);
      return metric === 'max'
        ? fill(texts.slowest, tried, took, limitText)
        : fill(texts.slow, percentOf(metric), tried, took, limitText);
    },
    texts: Object.values(texts),
  };
}
