import { seededRandom } from '../base/random';
import type { Plan } from './plan';

/** Which of `count` URLs a connection of the plan uses; the same in every worker, and after a reconnect. */
export function targetOf(
  { targetChoice, seed }: Pick<Plan, 'targetChoice' | 'seed'>,
  count: number,
  connection: number,
): number {
  if (targetChoice !== 'random') return connection % count;
  return seededRandom(seed ^ Math.imul(connection + 1, 0x9e3779b1)).below(count);
}
