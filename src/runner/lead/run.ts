/** What a run is given, and what it gives. */
import type { Event } from '../../base/event';
import type { Snapshot } from '../../measure/snapshot';
import type { RunSummary } from '../../measure/summary';
import type { StartWorkers } from '../../protocol/worker';
import type { SecretHider } from '../../targets/identities/rowSecrets';
import type { IdentityCalls, Passes, TargetProblems } from '../../targets/target';
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
  /** Where connections have secrets of their own; absent: the secrets are all there are. */
  readonly hider?: SecretHider;
  readonly nowUs: () => number;
  /** With counts of their own, as they may be shown. */
  readonly targetUrls: readonly string[];
  readonly target: RunSummary['target'];
  /** Of the servers that were started for the run. */
  readonly problems?: TargetProblems | undefined;
  /** Renewed during the run, where somebody has signed in. */
  readonly passes?: Passes;
  readonly identityCalls?: IdentityCalls;
  readonly machine: RunSummary['machine'];
}

/** Who ended a run early: a person or program (`stopped`), or a signal to the process (`interrupted`). */
export type StopReason = 'stopped' | 'interrupted';

export interface Run {
  /** Once a second, and at each change of phase. */
  readonly onSnapshot: Event<Snapshot>;
  /**
   * Settles on every ending and never rejects for a reason outside this code, but with an ExpectedError `run-led` where
   * another process has taken the lead of the run, and its result is there.
   */
  readonly finished: Promise<RunSummary>;
  /** Ends the run in order; what was measured is in the summary. A second call closes at once. */
  stop(reason: StopReason): void;
}
