import { formatCount } from '../units';
import type { JudgedDeliveries, StepObjective } from './objective';
import { sentence } from '../sentence';

/** Deliveries; messages where none are expected. */
const countOf = ({ expected, received, receivedLater = 0, sent = 0 }: JudgedDeliveries): number =>
  expected > 0 ? received - receivedLater : sent;

/** With as many decimals as it takes to distinguish it from the limit it missed. */
export function rateWords(rate: number, limit: number): string {
  for (let decimals = rate < 100 ? 1 : 0; decimals < 6; decimals++)
    if (formatCount(rate, decimals) !== formatCount(limit, decimals))
      return formatCount(rate, decimals);
  return String(rate);
}

/** A lost delivery is missing here as it is in `delivered`; this one says how much must get through at all. */
export const rate: StepObjective = {
  of: 'step',
  withoutDeliveries: true,
  unit: 'rate',
  summary:
    'Deliveries per second that must be reached, over the measured time of a step; messages sent, where no delivery is expected. Every step is judged: write `step: last` beside the limit where only the last one has senders enough.',
  limit: 'least',
  value: (step) => (step.seconds ? countOf(step) / step.seconds : undefined),
  missed: ({ expected }, value, limit) =>
    sentence(
      expected > 0
        ? '{0} deliveries a second arrived, below the limit of {1}'
        : '{0} messages a second were sent, below the limit of {1}',
      rateWords(value ?? 0, limit),
      formatCount(limit, Number.isInteger(limit) ? 0 : 3),
    ),
};
