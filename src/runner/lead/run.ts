/** What a run is given, and what it gives. */
import type { Event } from '../../base/event';
import type { Snapshot } from '../../measure/snapshot';
import type { RunSummary } from '../../measure/summary';
import type { StartWorkers } from '../../protocol/worker';
import type { Passes, TargetProblems } from '../../targets/target';
import type { StepSource } from './stepSource';

export interface ConductorContext {
  readonly startWorkers: StartWorkers;
  readonly keepGoing: boolean;
  /** What follows the step in which an agent was lost, where the others go on without it; absent: the end of the run. */
  readonly onAgentLost?: 'stop' | 'continue';
  /** Where the steps come from; absent: from the plan. */
  readonly steps?: StepSource;
  /** Time in which the target was asked something before the run: a silent one has had it already. */
  readonly askedMs?: number;
  /** They must not turn up in any text. */
  readonly secrets: readonly string[];
  readonly nowUs: () => number;
  /** With counts of their own, as they may be shown. */
  readonly targetUrls: readonly string[];
  readonly target: RunSummary['target'];
  /** Of the servers that were started for the run. */
  readonly problems?: TargetProblems | undefined;
  /** Renewed during the run, where somebody has signed in. */
  readonly passes?: Passes;
  readonly machine: RunSummary['machine'];
}

/** Who ended a run early: a person or program (`stopped`), or a signal to the process (`interrupted`). */
export type StopReason = 'stopped' | 'interrupted';

export interface Run {
  /** Once a second, and at each change of phase. */
  readonly onSnapshot: Event<Snapshot>;
  /** Settles on every ending and never rejects for a reason outside this code. */
  readonly finished: Promise<RunSummary>;
  /** Ends the run in order; what was measured is in the summary. A second call closes at once. */
  stop(reason: StopReason): void;
}
