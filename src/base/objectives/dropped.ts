import { formatCount } from '../units';
import type { ConnectionObjective } from './objective';
import { fill, limitWords, shareWords } from './words';

const texts = {
  gone: '{0} of {1} connections failed and {2} were dropped ({3}), above the limit of {4}',
  notBack:
    '{0} of {1} connections failed, {2} were dropped and {3} did not come back ({4}), above the limit of {5}',
} as const;

/** The default is that of the Azure SignalR benchmark. */
export const dropped: ConnectionObjective = {
  of: 'connections',
  unit: 'share',
  default: 0.01,
  summary: 'Share of the requested connections that may fail to open, drop, or fail to come back.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ requested, failed, dropped: gone, notBack = 0 }) =>
    requested === 0 ? undefined : (failed + gone + notBack) / requested,
  missed: ({ requested, failed, dropped: gone, notBack }, value, limit) =>
    fill(
      notBack ? texts.notBack : texts.gone,
      ...[failed, requested, gone, ...(notBack ? [notBack] : [])].map((count) =>
        formatCount(count),
      ),
      shareWords(value ?? 1, limit),
      limitWords(limit),
    ),
  texts: Object.values(texts),
};
