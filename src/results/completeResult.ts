import { ExpectedError } from '../base/expectedError';
import { estimate, type Edition, type EstimateInput } from '../capacity/estimate';
import { loadOf } from '../capacity/loadOf';
import { recommend } from '../capacity/recommend';
import type { RunSummary, StepSummary, Verdict } from '../measure/summary';
import { judgeRun } from '../measure/verdict';
import type { Scenario } from '../scenario/scenario';
import { redactScenario, redactText, redactUrl } from './redact';
import { resultSchema, type Result } from './result';

export interface CompleteOptions {
  readonly id: string;
  readonly toolVersion: string;
  readonly edition?: Edition;
  /** Share of the published limits to plan for, 0 < h ≤ 1. */
  readonly headroom?: number;
}

/** The pure functions of the capacity model; tests put others in their place. */
export interface CapacityModel {
  readonly loadOf: typeof loadOf;
  readonly estimate: typeof estimate;
  readonly recommend: typeof recommend;
}

type Estimated = Pick<Result, 'estimate' | 'estimateProblem'>;
type Recommended = Pick<Result, 'recommendation' | 'recommendationProblem'>;

/**
 * The result of a run: what was measured, judged, and set against the published tables. Literal secrets
 * of the scenario and of error texts are removed.
 */
export function completeResult(
  summary: RunSummary,
  scenario: Scenario,
  options: CompleteOptions,
  model: CapacityModel = { loadOf, estimate, recommend },
): Result {
  const clean = cleanSummary(summary);
  const verdict = judgeRun(clean, scenario.slo);
  const load = model.loadOf(scenario);
  return {
    schema: resultSchema,
    id: options.id,
    tool: { name: 'signalr-bench', version: options.toolVersion },
    ...clean,
    verdict,
    scenario: redactScenario(scenario),
    ...('problem' in load
      ? {
          estimate: null,
          estimateProblem: load.problem,
          recommendation: null,
          recommendationProblem: load.problem,
        }
      : {
          ...estimated(load.input, options, model),
          ...recommended(load.input, clean, verdict, options, model),
        }),
  };
}

/** Texts that came from a server or a library may repeat a URL or a header with a secret in it. */
function cleanSummary(summary: RunSummary): RunSummary {
  return {
    ...summary,
    ...(summary.endingMessage !== undefined && {
      endingMessage: redactText(summary.endingMessage),
    }),
    target: { ...summary.target, url: redactUrl(summary.target.url) },
    errorExamples: summary.errorExamples.map(({ errorClass, text }) => ({
      errorClass,
      text: redactText(text),
    })),
  };
}

function estimated(
  input: EstimateInput,
  options: CompleteOptions,
  model: CapacityModel,
): Estimated {
  const made = orProblem(() => model.estimate(input, editionAndHeadroom(options)));
  return 'problem' in made
    ? { estimate: null, estimateProblem: made.problem }
    : { estimate: { ...made.value, basis: 'published' } };
}

function recommended(
  input: EstimateInput,
  summary: RunSummary,
  verdict: Verdict,
  options: CompleteOptions,
  model: CapacityModel,
): Recommended {
  const nothing = (problem: string): Recommended => ({
    recommendation: null,
    recommendationProblem: problem,
  });
  if (verdict.status === 'invalid') {
    return nothing(
      'The load generator was the bottleneck, so the measured rates say nothing about the target.',
    );
  }
  const step = bestStep(summary.steps, input.useCases.length > 0);
  if (!step) return nothing('Nothing valid was measured.');
  if (input.useCases.length > 1) {
    return nothing('The rates of a mix are measured together, not for each use case.');
  }
  const made = orProblem(() =>
    model.recommend(
      {
        product: input.product,
        connections: summary.connections.connected,
        ...(input.stack && { stack: input.stack }),
        step: step.index,
        useCases: input.useCases.map(({ kind, messageBytes, groupMembers }) => ({
          kind,
          messageBytes,
          ...(groupMembers !== undefined && { groupMembers }),
          senders: step.senders,
          inPerSecond: step.sentPerSecond,
          outPerSecond: step.receivedPerSecond,
        })),
      },
      editionAndHeadroom(options),
    ),
  );
  return 'problem' in made
    ? nothing(made.problem)
    : { recommendation: { ...made.value, basis: 'measured' } };
}

/** The last step that passed, else the last in which the generator was no bottleneck. */
function bestStep(steps: readonly StepSummary[], sending: boolean): StepSummary | undefined {
  const valid = steps.filter(
    (step) =>
      step.generator.valid && step.verdict.status !== 'invalid' && (!sending || step.sent > 0),
  );
  return valid.filter(({ verdict }) => verdict.status === 'pass').at(-1) ?? valid.at(-1);
}

function editionAndHeadroom({ edition, headroom }: CompleteOptions): {
  edition?: Edition;
  headroom?: number;
} {
  return {
    ...(edition !== undefined && { edition }),
    ...(headroom !== undefined && { headroom }),
  };
}

/** A run must not lose its numbers because the tables do not know its load. */
function orProblem<T>(make: () => T): { value: T } | { problem: string } {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof ExpectedError) return { problem: error.message };
    throw error;
  }
}
