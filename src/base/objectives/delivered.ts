import { formatCount } from '../units';
import type { StepObjective } from './objective';
import { fill, limitWords, shareWords } from './words';

const text = '{0} of {1} deliveries arrived, below the limit of {2}';

export const delivered: StepObjective = {
  of: 'step',
  unit: 'share',
  default: 0.99,
  summary: 'Share of the expected deliveries that must arrive.',
  unitMistake: { from: 1.01, below: 100.01, unit: '%' },
  limit: 'least',
  value: ({ expected, received }) => received / expected,
  missed: ({ expected }, value, limit) =>
    fill(text, shareWords(value ?? 0, limit), formatCount(expected), limitWords(limit)),
  texts: [text],
};
