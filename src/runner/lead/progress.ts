import { countOf } from '../../base/errorClass';
import type { Slo } from '../../base/slo';
import { counterEdgesUs } from '../../measure/histogram';
import type { Snapshot, StepProgress } from '../../measure/show/snapshot';
import type { StepTotals } from '../../measure/total/stepTotals';
import type { ConnectionSummary } from '../../measure/show/summary';
import type { RateWindows } from '../../measure/judge/rateWindows';
import type { MergedTick } from '../../measure/total/tickMerger';
import type { PlanStep } from '../../plan/plan';

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
  const waiting = totals.waiting();
  return {
    index: plan.index,
    senders: plan.senders,
    over: totals.verdict !== undefined,
    ...(totals.verdict && { verdict: totals.verdict.status }),
    elapsedS,
    totalS,
    offered,
    sent,
    expected,
    received,
    outstanding: Math.max(0, expected - received),
    ...(waiting && { waiting }),
    duplicated,
    outOfOrder,
    sentPerSecond: perSecond(sent),
    receivedPerSecond: perSecond(received),
    latencyUs: totals.latency.summary(),
    ...(totals.judgedUs && { judgedUs: totals.judgedUs }),
    latencyClasses: totals.latency.classCounts(counterEdgesUs),
    errors: countOf(totals.errors),
    ...(countOf(totals.warmupErrors) > 0 && { warmupErrors: countOf(totals.warmupErrors) }),
    payloadBytesIn: totals.payloadBytesIn,
    payloadBytesOut: totals.payloadBytesOut,
    ...(totals.entries.length > 0 && {
      entries: totals.entries.map((entry) => entry.progress(elapsedS)),
    }),
    generator: totals.generator(slo),
  };
}

/** @param takingPart connections that are open and prepared now */
export function connectionProgress(
  connections: ConnectionSummary,
  takingPart: number,
): Snapshot['connections'] {
  const { requested, connected, failed, dropped, reconnected, connectUs } = connections;
  const again = reconnected > 0 ? { reconnected } : {};
  return {
    requested,
    connected,
    failed,
    dropped,
    takingPart,
    ...again,
    connectP99Us: connectUs.p99,
  };
}

/** The tick's own counts and time; nothing when nothing was due or received in it. */
export function intervalOf(
  tick: MergedTick | undefined,
  windows: RateWindows,
): Pick<Snapshot, 'interval'> {
  if (tick === undefined || tick.offered + tick.received === 0) return {};
  const { offered, sent, received, latencyUs } = tick;
  return { interval: { ...windows.within(tick.tick), offered, sent, received, latencyUs } };
}
