import type { Slo } from '../base/slo';
import type { Snapshot, StepProgress } from '../measure/snapshot';
import type { StepTotals } from '../measure/stepTotals';
import type { ConnectionSummary } from '../measure/summary';
import type { MergedTick } from '../measure/tickMerger';
import type { PlanStep } from '../plan/plan';

/** The step that is going on, as the main side follows it. */
export interface RunningStep {
  readonly plan: PlanStep;
  readonly totals: StepTotals;
  /** Run time at which its measuring begins, microseconds. */
  readonly measureUs: number;
}

/** @param sampledUs run time up to which the totals are known */
export function stepProgress(step: RunningStep, slo: Slo, sampledUs: number): StepProgress {
  const { plan, totals, measureUs } = step;
  const totalS = plan.measureMs / 1000;
  const passedS = Math.max(0, Math.min(totalS, (sampledUs - measureUs) / 1_000_000));
  const elapsedS = totals.seconds > 0 ? totals.seconds : passedS;
  const perSecond = (count: number): number => (elapsedS > 0 ? count / elapsedS : 0);
  const { offered, sent, expected, received, duplicated, outOfOrder } = totals;
  return {
    index: plan.index,
    senders: plan.senders,
    over: totals.verdict !== undefined,
    elapsedS,
    totalS,
    offered,
    sent,
    expected,
    received,
    outstanding: Math.max(0, expected - received),
    duplicated,
    outOfOrder,
    sentPerSecond: perSecond(sent),
    receivedPerSecond: perSecond(received),
    latencyUs: totals.latency.summary(),
    generator: totals.generator(slo),
  };
}

export function connectionProgress(connections: ConnectionSummary): Snapshot['connections'] {
  const { requested, connected, failed, dropped, connectUs } = connections;
  return { requested, connected, failed, dropped, connectP99Us: connectUs.p99 };
}

/** The tick's own rates; nothing when nothing was sent or received in it. */
export function intervalOf(tick: MergedTick | undefined): Pick<Snapshot, 'interval'> {
  if (tick === undefined || tick.sent + tick.received === 0) return {};
  const { sent, received, latencyUs } = tick;
  return { interval: { seconds: 1, sent, received, latencyUs } };
}
