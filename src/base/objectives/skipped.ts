import { formatCount } from '../units';
import type { StepObjective } from './objective';
import { sentence } from '../sentence';
import { limitWords, shareWords } from './limitWords';

const text =
  '{0} of {1} messages were due at senders, or for clients, that were not connected ({2}), above the limit of {3}';

/** Who may lose connections may lose what they would have sent. */
export const skipped: StepObjective = {
  of: 'step',
  withoutDeliveries: true,
  unit: 'share',
  follows: 'dropped',
  summary:
    'Share of the messages that may be due at senders that are not connected, and so never leave.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ offered = 0, skipped: count = 0 }) =>
    offered + count === 0 ? undefined : count / (offered + count),
  missed: ({ offered = 0, skipped: count = 0 }, value, limit) => {
    const counts = [count, offered + count].map((each) => formatCount(each));
    return sentence(text, ...counts, shareWords(value ?? 1, limit), limitWords(limit));
  },
};
