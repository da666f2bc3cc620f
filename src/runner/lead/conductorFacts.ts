import type { RunSummary } from '../../measure/show/summary';
import type { Passes } from '../../targets/target';
import type { TargetProblems } from '../../targets/targetProblems';

/** What a conductor is told of its run, beside the plan. */
export interface ConductorFacts {
  readonly workerScript: string;
  readonly keepGoing: boolean;
  /** Time in which the target was asked something before the run: a silent one has had it already. */
  readonly askedMs?: number;
  /** Values that must not turn up in any text of the run. */
  readonly secrets: readonly string[];
  /** Run time in microseconds. */
  readonly nowUs: () => number;
  /** Connections that take part now. */
  readonly openConnections: () => number;
  /** URLs that are told apart, as they may be shown. */
  readonly targetUrls: readonly string[];
  readonly target: RunSummary['target'];
  /** Of the servers that were started for the run. */
  readonly problems?: TargetProblems | undefined;
  /** Renewed during the run, where somebody has signed in. */
  readonly passes?: Passes;
  readonly machine: RunSummary['machine'];
}
