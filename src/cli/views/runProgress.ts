import type { Snapshot, StepProgress } from '../../measure/show/snapshot';
import { rowOfProgress, type StepRow } from '../../measure/show/stepRows';
import { timeLeft } from '../../session/runWords';

/** State of a run as the views show it; a new value for each snapshot. */
export interface RunProgress {
  readonly latest?: Snapshot;
  /** Steps seen so far, rising; the last may be going on. */
  readonly steps: readonly StepProgress[];
}

export const noProgress: RunProgress = { steps: [] };

/** Takes in a snapshot: the step it is about replaces what was known of that step. */
export function withSnapshot({ steps }: RunProgress, snapshot: Snapshot): RunProgress {
  const { step } = snapshot;
  if (!step) return { latest: snapshot, steps };
  const known = steps.at(-1)?.index === step.index;
  return { latest: snapshot, steps: [...(known ? steps.slice(0, -1) : steps), step] };
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
    const row = rowOfProgress({ ...seen, over: seen.over || over });
    if (over || !latest) return row;
    const { index, senders } = row;
    // During the warm-up the counts are those of nothing yet.
    if (latest.phase === 'warmup' || latest.phase === 'preparing') {
      return { index, senders, current: true };
    }
    const left = latest.phase === 'measuring' ? { left: timeLeft(seen) } : {};
    return { ...row, current: true, ...left };
  });
}
