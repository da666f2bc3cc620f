import type { Snapshot } from '../../measure/show/snapshot';
import type { PanelRun } from '../../protocol/panel';
import type { ShownRun } from '../panelState';

/** The time in which one step was or is measured. */
export interface StepBand {
  readonly index: number;
  readonly senders: number;
  /** Seconds since the run began. */
  readonly fromS: number;
  /** The planned end while the step is going on. */
  readonly toS: number;
}

/** Measured times of the steps so far, rising; each ends where its messages ended, however late they are told. */
export function stepBands(snapshots: readonly Snapshot[]): StepBand[] {
  const bands = new Map<number, StepBand>();
  const last = snapshots.at(-1);
  for (const { step, atMs } of snapshots) {
    // The last deliveries of a step may be told when the next one already warms up.
    if (!step || step.elapsedS === 0) continue;
    const { index, senders, elapsedS, totalS } = step;
    // Between ticks the time that has passed is known up to the one before: the earliest begin is right.
    const begunS = Math.max(0, atMs / 1000 - elapsedS);
    const fromS = Math.min(bands.get(index)?.fromS ?? begunS, begunS);
    const goesOn = step === last?.step && last.phase === 'measuring';
    bands.set(index, { index, senders, fromS, toS: fromS + (goesOn ? totalS : elapsedS) });
  }
  return [...bands.values()].sort((a, b) => a.index - b.index);
}

/** End of the time axis of every chart, seconds since the run began. */
export function axisEndS({ run, snapshots, result, interrupted }: ShownRun): number {
  const over = result !== undefined || interrupted;
  return over ? (snapshots.at(-1)?.atMs ?? 0) / 1000 : plannedEndS(run, snapshots);
}

/**
 * When a run that is going on will be over at the latest, seconds since it began: the end of the time axis,
 * so that it stands still. Connections open at their rate, and each step warms up and is measured; how
 * long it drains is not known before.
 */
export function plannedEndS({ scenario }: PanelRun, snapshots: readonly Snapshot[]): number {
  const last = snapshots.at(-1);
  const nowS = (last?.atMs ?? 0) / 1000;
  const stepS = (scenario.warmupMs + scenario.singleStepDurationMs) / 1000;
  const stepCount = last?.stepCount ?? 1;
  const current = stepBands(snapshots).at(-1);
  if (current) return Math.max(nowS, current.toS + (stepCount - current.index) * stepS);
  const rampS = scenario.connections / Math.max(1e-3, scenario.arrivingRate);
  return Math.max(nowS, rampS + stepCount * stepS);
}

/** Share of the run that is done, 0…1. */
export function progressOf(snapshots: readonly Snapshot[]): number {
  const last = snapshots.at(-1);
  if (!last) return 0;
  if (last.phase === 'done') return 1;
  if (!last.step) return 0;
  const { index, elapsedS, totalS } = last.step;
  const within = totalS > 0 ? Math.min(1, elapsedS / totalS) : 1;
  return Math.min(1, (index - 1 + within) / Math.max(1, last.stepCount));
}
