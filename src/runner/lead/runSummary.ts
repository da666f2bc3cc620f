import type {
  AgentProgress,
  AgentSummary,
  Ending,
  RunSummary,
  Verdict,
} from '../../measure/summary';
import type { RunTotals } from '../../measure/total/runTotals';
import type { Plan } from '../../plan/plan';
import type { WorkerHost } from '../../protocol/worker';
import { withoutIdleLife } from './progress';
import type { ConductorContext } from './run';
import type { StepSource } from './stepSource';

export interface Ended {
  readonly ending: Ending;
  readonly endingMessage: string | undefined;
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
  { ending, endingMessage, endingStack, startedAt, elapsedUs }: Ended,
): RunSummary {
  const cutShort: Verdict = {
    status: 'incomplete',
    reasons: [{ code: ending, message: 'the step was cut short' }],
  };
  const search = steps.found?.(ending, elapsedUs);
  const begun = totals.steps.filter((step) => step.seconds > 0 || step.sent > 0);
  return {
    startedAt: startedAt.toISOString(),
    endedAt: new Date(startedAt.getTime() + elapsedUs / 1000).toISOString(),
    ending,
    ...(endingMessage === undefined ? {} : { endingMessage }),
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
