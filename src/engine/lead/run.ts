/** What a run is given, and what it gives. */
import { say, sentence, type Words } from '../../base/sentence';
import { reasonOf } from '../../measure/judge/reason';
import type { Event } from '../../base/event';
import type { Snapshot } from '../../measure/snapshot';
import type {
  AgentProgress,
  AgentSummary,
  Ending,
  RunSummary,
  Verdict,
} from '../../measure/summary';
import type { RunTotals } from '../../measure/total/runTotals';
import type { Plan } from '../../plan/plan';
import type { StartWorkers, WorkerHost } from '../../messages/worker';
import type { SecretHider } from '../../targets/identities/rowSecrets';
import type { IdentityCalls, Passes, TargetProblems } from '../../targets/target';
import { withoutIdleLife } from './progress';
import type { StepSource } from './stepSource';

export interface ConductorContext {
  readonly startWorkers: StartWorkers;
  readonly keepGoing: boolean;
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
  /** Settles on every ending and never rejects for a reason outside this code. */
  readonly finished: Promise<RunSummary>;
  /** Ends the run in order; what was measured is in the summary. A second call closes at once. */
  stop(reason: StopReason): void;
}

/** Said when it is asked for: more may be known by then. */
export type WhyEnded = () => Words;

interface Ended {
  readonly ending: Ending;
  readonly endingWords: Words | undefined;
  readonly endingStack: string | undefined;
  readonly startedAt: Date;
  /** By the monotonic clock: somebody may have set the other one back meanwhile. */
  readonly elapsedUs: number;
}

/** What has led it. */
interface Led {
  readonly plan: Plan;
  readonly context: ConductorContext;
  readonly totals: RunTotals;
  readonly steps: StepSource;
  readonly workers: WorkerHost;
}

/** Whoever was neither lost nor has left was there to the end. */
const atEnd = ({ status, ...agent }: AgentProgress): AgentSummary => ({
  ...agent,
  status: status === 'lost' || status === 'left' ? status : 'done',
});

export function runSummary(
  { plan: { slo }, context: { target, machine }, totals, steps, workers }: Led,
  { ending, endingWords, endingStack, startedAt, elapsedUs }: Ended,
): RunSummary {
  const cutShort: Verdict = {
    status: 'incomplete',
    reasons: [reasonOf(ending, sentence('the step was cut short'))],
  };
  const search = steps.found?.(ending, elapsedUs);
  const begun = totals.steps.filter((step) => step.seconds > 0 || step.sent > 0);
  return {
    startedAt: startedAt.toISOString(),
    endedAt: new Date(startedAt.getTime() + elapsedUs / 1000).toISOString(),
    ending,
    ...(endingWords === undefined ? {} : { endingWords, endingMessage: say(endingWords) }),
    ...(endingStack === undefined ? {} : { endingStack }),
    target,
    machine,
    ...(workers.agents && { agents: totals.ofAgents(workers.agents()).map(atEnd) }),
    connections: withoutIdleLife(totals.connections(), search),
    steps: begun.map((step) => step.summary(slo, cutShort)),
    plannedSteps: steps.count,
    ...(search && { search }),
    errors: totals.errors,
    errorExamples: totals.errorExamples,
  };
}
