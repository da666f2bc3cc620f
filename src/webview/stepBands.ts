import type { Snapshot } from '../measure/snapshot';
import type { PanelRun } from '../protocol/panel';

/** The time in which one step was or is measured. */
export interface StepBand {
  readonly index: number;
  readonly senders: number;
  /** Seconds since the run began. */
  readonly fromS: number;
  /** The planned end while the step is going on. */
  readonly toS: number;
}

/** Measured times of the steps so far, rising. */
export function stepBands(snapshots: readonly Snapshot[]): StepBand[] {
  const bands = new Map<number, StepBand>();
  for (const { step, interval, atMs } of snapshots) {
    // The last deliveries of a step may be told when the next one already warms up.
    if (!step || !interval || step.elapsedS === 0) continue;
    const atS = atMs / 1000;
    const band = bands.get(step.index);
    const fromS = band?.fromS ?? Math.max(0, atS - step.elapsedS);
    const left = Math.max(0, step.totalS - step.elapsedS);
    const current = step === snapshots.at(-1)?.step;
    bands.set(step.index, {
      index: step.index,
      senders: step.senders,
      fromS,
      toS: current ? atS + left : atS,
    });
  }
  return [...bands.values()].sort((a, b) => a.index - b.index);
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
