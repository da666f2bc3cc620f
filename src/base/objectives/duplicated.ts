import { formatCount } from '../units';
import type { StepObjective } from './objective';
import { fill, limitWords, shareWords } from './words';

const texts = {
  one: '{0} duplicate came on top of the {1} expected ({2}), above the limit of {3}',
  many: '{0} duplicates came on top of the {1} expected ({2}), above the limit of {3}',
} as const;

/**
 * Duplicates, which come on top of what was received, / deliveries expected, at most. That nothing comes twice is ours:
 * neither SignalR nor a client that recovers hands a message to an application again. One can come at any time until the
 * run is over, long after the step was judged.
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
  missed: ({ expected, duplicated: count }, value, limit) =>
    fill(
      count === 1 ? texts.one : texts.many,
      formatCount(count),
      formatCount(expected),
      shareWords(value ?? 0, limit),
      limitWords(limit),
    ),
  texts: Object.values(texts),
};
