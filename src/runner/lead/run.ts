import type { Event } from '../../base/event';
import type { Snapshot } from '../../measure/show/snapshot';
import type { RunSummary } from '../../measure/show/summary';

/** Who ended a run early: a person or program (`stopped`), or a signal to the process (`interrupted`). */
export type StopReason = 'stopped' | 'interrupted';

/** A run that is going on. */
export interface Run {
  /** About once a second and at each change of phase. */
  readonly onSnapshot: Event<Snapshot>;
  /** Settles on every ending and never rejects for a reason outside this code. */
  readonly finished: Promise<RunSummary>;
  /** Ends the run in order; what was measured is in the summary. A second call closes at once. */
  stop(reason: StopReason): void;
}
