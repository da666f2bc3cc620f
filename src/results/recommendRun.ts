import { ExpectedError } from '../base/expectedError';
import { formatCount } from '../base/units';
import type { measuredLoadOf, MeasuredStep } from '../capacity/judge/measuredLoadOf';
import type {
  Carried,
  recommend,
  Recommendation,
  RecommendOptions,
  StepStatus,
} from '../capacity/judge/recommend';
import type { RunSummary, StepSummary, Verdict } from '../measure/show/summary';
import type { Scenario } from '../scenario/scenario';

/** The functions behind the recommendation; tests put others in their place. */
export interface RecommendModel {
  readonly measuredLoadOf: typeof measuredLoadOf;
  readonly recommend: typeof recommend;
}

type Recommended = { readonly value: Recommendation } | { readonly problem: string };

/** A run, judged. */
type Run = Pick<RunSummary, 'steps' | 'connections'> & { readonly verdict: Verdict };

/** A step that was measured to its end. */
type JudgedStep = Omit<StepSummary, 'verdict'> & { readonly status: StepStatus };

/**
 * What the traffic of a run needs: that of the last step that was measured to its end, met or missed its objectives
 * as it may have. A `problem` is the sentence why there is no number.
 */
export function recommendRun(
  scenario: Scenario,
  run: Run,
  options: RecommendOptions,
  model: RecommendModel,
): Recommended {
  if (run.verdict.reasons[0]?.code === 'nothingSent') return { problem: 'Nothing was sent.' };
  if (run.verdict.status === 'invalid') {
    const starved = run.verdict.reasons[0]?.code === 'starved';
    const why = starved ? 'The load was not sent in time' : 'The load generator was the bottleneck';
    return { problem: `${why}, so the measured rates say nothing about the target.` };
  }
  const recommendStep = (step: JudgedStep, carried?: Carried | null): Recommended => {
    const found = model.measuredLoadOf(scenario, measuredStep(step, run, carried));
    if ('problem' in found) return found;
    const { load } = found;
    const remarks = [...(load.remarks ?? []), ...unfinishedWords(run, step)];
    return orProblem(() => model.recommend({ ...load, remarks }, options));
  };
  const judged = judgedSteps(run);
  const step = judged.at(-1);
  if (step === undefined) return { problem: 'No step was measured to its end.' };
  if (step.status === 'pass') return recommendStep(step);
  return recommendStep(step, carriedOf(judged, recommendStep));
}

/** Where the run failed and none of its steps did, it failed as a whole: none of them was carried. */
function judgedSteps({ steps, verdict }: Run): JudgedStep[] {
  const judged = steps.flatMap(({ verdict: { status }, ...step }) =>
    status === 'pass' || status === 'fail' ? [{ ...step, status }] : [],
  );
  const failed = verdict.status === 'fail' && judged.every(({ status }) => status === 'pass');
  return failed ? judged.map((step) => ({ ...step, status: 'fail' })) : judged;
}

/** The last step that met its objectives, with its size. */
function carriedOf(
  steps: readonly JudgedStep[],
  recommendStep: (step: JudgedStep) => Recommended,
): Carried | null {
  const step = steps.filter(({ status }) => status === 'pass').at(-1);
  if (step === undefined) return null;
  const made = recommendStep(step);
  return 'problem' in made ? null : { step: step.index, unit: made.value.unit };
}

function measuredStep(
  step: JudgedStep,
  { connections: all }: Run,
  carried: Carried | null | undefined,
): MeasuredStep {
  const { index, status, seconds, sent, expected, extra, lost, entries, membership } = step;
  // A service counts every connection that is open, also those that are about to leave.
  const { requested, open, held = 0 } = step.connections ?? { ...all, open: all.requested };
  const { failed, dropped, notBack = 0, life } = all;
  // Where connections come and go as planned, those that are away at the end of a step are not lost.
  const away = life === undefined ? requested - open : 0;
  return {
    ...{ index, status, seconds, sent, expected, extra, lost },
    connections: Math.max(requested, held),
    lostConnections: Math.max(away, failed + dropped + notBack),
    ...(carried !== undefined && { carried }),
    ...(entries !== undefined && { entries }),
    ...(membership !== undefined && {
      moves: {
        done: membership.joins + membership.leaves,
        missed: membership.joinsFailed + membership.skipped,
      },
    }),
  };
}

/** That the run went on to a step of which nothing is known. */
function unfinishedWords({ steps }: Run, { index }: JudgedStep): string[] {
  const unfinished = steps.find((step) => step.index > index);
  if (unfinished?.verdict.status !== 'incomplete') return [];
  return [
    `The run ended in step ${formatCount(unfinished.index)}, which was not measured to its end and may need more.`,
  ];
}

/** A run must not lose its numbers because the tables do not know its load. */
function orProblem(make: () => Recommendation): Recommended {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof ExpectedError) return { problem: error.message };
    throw error;
  }
}
