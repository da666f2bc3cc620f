import { formatCount } from '../units';
import { sentence } from '../sentence';
import { limitWords, shareWords } from './limitWords';
import type { StepObjective } from './objective';

/** Sessions that still go on when the step ends are not counted. */
export const sessionsBrokenOff: StepObjective = {
  of: 'step',
  withoutDeliveries: true,
  unit: 'share',
  summary: 'Share of the sessions that came to an end which may break off before their last step.',
  unitMistake: { from: 1, below: 100, unit: '%' },
  limit: 'most',
  value: ({ sessions: { completed, brokenOff } = { completed: 0, brokenOff: 0 } }) =>
    completed + brokenOff === 0 ? undefined : brokenOff / (completed + brokenOff),
  missed: ({ sessions: { completed, brokenOff } = { completed: 0, brokenOff: 0 } }, value, limit) =>
    sentence(
      '{0} of {1} sessions broke off ({2}), above the limit of {3}',
      ...[brokenOff, completed + brokenOff].map((count) => formatCount(count)),
      ...[shareWords(value ?? 1, limit), limitWords(limit)],
    ),
};
