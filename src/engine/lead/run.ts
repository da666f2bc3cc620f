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
import type { IdentityCalls, SignInPasses, TargetProblems } from '../../targets/target';
import { withoutIdleLife } from './progress';
import type { StepSource } from './stepSource';

export interface ConductorContext {
  readonly startWorkers: StartWorkers;
  readonly keepGoing: boolean;
  /** Absent: the steps of the plan. */
  readonly steps?: StepSource;
  /** Time for which the target was probed before the run. */
  readonly askedMs?: number;
  readonly secrets: readonly string[];
  /** Absent: connections have no secrets of their own. */
  readonly hider?: SecretHider;
  readonly nowUs: () => number;
  readonly targetUrls: readonly string[];
  readonly target: RunSummary['target'];
  readonly problems?: TargetProblems | undefined;
  readonly passes?: SignInPasses;
  readonly identityCalls?: IdentityCalls;
  readonly machine: RunSummary['machine'];
}

/** `stopped` by a person or program, `interrupted` by a signal. */
export type StopReason = 'stopped' | 'interrupted';

export interface Run {
  /** Every second, and at each change of phase. */
  readonly onSnapshot: Event<Snapshot>;
  /** Resolves on every ending; rejects only for a defect of ours. */
  readonly finished: Promise<RunSummary>;
  /** Ends the run in order and keeps what was measured; a second call closes at once. */
  stop(reason: StopReason): void;
}

/** Evaluated late: more may be known at the end. */
export type WhyEnded = () => Words;

interface Ended {
  readonly ending: Ending;
  readonly endingWords: Words | undefined;
  readonly endingStack: string | undefined;
  readonly startedAt: Date;
  /** By the monotonic clock. */
  readonly elapsedUs: number;
}

interface Led {
  readonly plan: Plan;
  readonly context: ConductorContext;
  readonly totals: RunTotals;
  readonly steps: StepSource;
  readonly workers: WorkerHost;
}

/** Agents that were neither lost nor left stayed to the end. */
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
