/** Objectives that are shares of what was expected or requested. */
import { formatCount } from '../units';
import type { ConnectionObjective, StepObjective } from './objective';
import { sentence } from '../sentence';
import { limitWords, shareWords } from './limitWords';

const arrived = '{0} of {1} deliveries arrived, below the limit of {2}';

export const delivered: StepObjective = {
  of: 'step',
  unit: 'share',
  default: 0.99,
  summary: 'Share of the expected deliveries that must arrive.',
  unitMistake: { from: 1.01, below: 100.01, unit: '%' },
  limit: 'least',
  value: ({ expected, received }) => received / expected,
  missed: ({ expected }, value, limit) =>
    sentence(arrived, shareWords(value ?? 0, limit), formatCount(expected), limitWords(limit)),
};

const gone = {
  unopened: '{0} of {1} connections failed, {2} dropped ({3}), above the limit of {4}',
  notBack:
    '{0} of {1} connections failed, {2} dropped, {3} did not come back ({4}), above the limit of {5}',
} as const;

/** The default is that of the Azure SignalR benchmark. */
export const dropped: ConnectionObjective = {
  of: 'connections',
  unit: 'share',
  default: 0.01,
  summary: 'Share of the requested connections that may fail to open, drop, or fail to come back.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ requested, failed, dropped: lost, notBack = 0 }) =>
    requested === 0 ? undefined : (failed + lost + notBack) / requested,
  missed: ({ requested, failed, dropped: lost, notBack }, value, limit) => {
    const counts = [failed, requested, lost, ...(notBack ? [notBack] : [])];
    const shares = [shareWords(value ?? 1, limit), limitWords(limit)];
    const text = notBack ? gone.notBack : gone.unopened;
    return sentence(text, ...counts.map((count) => formatCount(count)), ...shares);
  },
};

const twice = {
  one: '{0} duplicate came on top of the {1} expected ({2}), above the limit of {3}',
  many: '{0} duplicates came on top of the {1} expected ({2}), above the limit of {3}',
} as const;

/**
 * Duplicates come on top of what was received. That nothing comes twice is ours: neither SignalR nor a client that
 * recovers hands a message to an application again. One can come until the run is over, long after the step was judged.
 */
export const duplicated: StepObjective = {
  of: 'step',
  untilEnd: true,
  unit: 'share',
  default: 0,
  summary: 'Duplicates that may come, as a share of the expected deliveries.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ expected, duplicated: count }) => count / expected,
  missed: ({ expected, duplicated: count }, value, limit) => {
    const shares = [shareWords(value ?? 0, limit), limitWords(limit)];
    const text = count === 1 ? twice.one : twice.many;
    return sentence(text, formatCount(count), formatCount(expected), ...shares);
  },
};
