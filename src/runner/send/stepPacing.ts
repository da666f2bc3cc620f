import type { Random } from '../../base/random';
import { ClosedPace } from '../../plan/closedPace';
import { Pace, type Pacing } from '../../plan/pace';
import type { Plan, PlanStep } from '../../plan/plan';
import { ranksOf, sendersOf, type Population } from '../../plan/population';

/** Who of one worker sends when in a step of one entry. */
export interface StepPacing {
  readonly pace: Pacing;
  /** Connection index of each of the worker's senders. */
  readonly senders: Uint32Array;
}

/** @param position of the entry in the plan */
export function stepPacing(
  plan: Plan,
  position: number,
  worker: number,
  { senderOrder }: Population,
  step: PlanStep,
  random: Random,
): StepPacing {
  const intervalUs = plan.entries[position]!.intervalMs * 1000;
  const senders = sendersOf(step, position);
  const ranks = ranksOf(senderOrder, senders, worker, plan.workers.length);
  const pace =
    plan.pacing === 'open'
      ? new Pace(ranks, senders, intervalUs)
      : new ClosedPace(ranks.length, intervalUs, random);
  return { pace, senders: ranks.map((rank) => senderOrder[rank]!) };
}
