import type { ErrorCounts } from '../base/errorClass';
import type { Snapshot, StepProgress } from '../measure/snapshot';
import { rowOfProgress, type StepRow } from './stepTable';

/** What is known of a step while the run goes on. */
export interface SeenStep {
  readonly progress: StepProgress;
  /** Errors of the whole run before and up to the end of the step. */
  readonly errorsBefore: number;
  readonly errorsUntil: number;
}

/** State of a run as the views show it; a new value for each snapshot. */
export interface RunProgress {
  readonly latest?: Snapshot;
  /** Steps seen so far, rising; the last may be going on. */
  readonly steps: readonly SeenStep[];
}

export const noProgress: RunProgress = { steps: [] };

/** Takes in a snapshot: the step it is about replaces what was known of that step. */
export function withSnapshot({ steps }: RunProgress, snapshot: Snapshot): RunProgress {
  const errors = errorCount(snapshot.errors);
  const { step } = snapshot;
  if (!step) return { latest: snapshot, steps };
  const last = steps.at(-1);
  const known = last?.progress.index === step.index ? last : undefined;
  const seen: SeenStep = {
    progress: step,
    errorsBefore: known?.errorsBefore ?? last?.errorsUntil ?? errors,
    errorsUntil: errors,
  };
  return { latest: snapshot, steps: known ? [...steps.slice(0, -1), seen] : [...steps, seen] };
}

/** Whether the last seen step is over: the run is past it, or waits for nothing more. */
export function lastStepIsOver({ latest }: RunProgress): boolean {
  return latest?.phase === 'closing' || latest?.phase === 'done';
}

/** Rows for the table, the one that is going on marked, with the time it has left. */
export function rowsOf(progress: RunProgress): StepRow[] {
  const { latest, steps } = progress;
  return steps.map((seen, position) => {
    const over = position < steps.length - 1 || lastStepIsOver(progress);
    const row = rowOfProgress(
      { ...seen.progress, over: seen.progress.over || over },
      { errors: seen.errorsUntil - seen.errorsBefore },
    );
    if (over || !latest) return row;
    const { index, senders } = row;
    // During the warm-up the counts are those of nothing yet.
    if (latest.phase === 'warmup' || latest.phase === 'preparing') {
      return { index, senders, current: true };
    }
    const left = latest.phase === 'measuring' ? { left: timeLeft(seen.progress) } : {};
    return { ...row, current: true, ...left };
  });
}

/** `0:12`, `9:59`, `12 m`, `3 h`: the measuring time a step has left. */
export function timeLeft({ elapsedS, totalS }: StepProgress): string {
  const seconds = Math.max(0, Math.round(totalS - elapsedS));
  if (seconds >= 100 * 60) return `${Math.round(seconds / 3600)} h`;
  if (seconds >= 600) return `${Math.round(seconds / 60)} m`;
  return clock(seconds);
}

/** `1:05` for 65 seconds. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

export function errorCount(errors: ErrorCounts): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}
