import { ExpectedError } from '../base/expectedError';
import { estimate, type Edition } from '../capacity/estimate';
import { loadOf } from '../capacity/loadOf';
import { measuredLoadOf } from '../capacity/measuredLoadOf';
import { recommend } from '../capacity/recommend';
import { emulatedBy, standsFor } from '../measure/emulated';
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
  readonly measuredLoadOf: typeof measuredLoadOf;
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
  model: CapacityModel = { loadOf, estimate, measuredLoadOf, recommend },
): Result {
  const clean = cleanSummary(summary);
  const verdict = judgeRun(clean, scenario.slo);
  return {
    schema: resultSchema,
    id: options.id,
    tool: { name: 'signalr-bench', version: options.toolVersion },
    ...clean,
    verdict,
    scenario: redactScenario(scenario),
    ...estimated(scenario, options, model),
    ...markedAs(recommended(scenario, clean, verdict, options, model), clean.target, scenario),
  };
}

/** Texts that came from a server or a library may repeat a URL or a header with a secret in it. */
function cleanSummary({ endingStack: _notStored, ...summary }: RunSummary): RunSummary {
  return {
    ...summary,
    ...(summary.endingMessage !== undefined && {
      endingMessage: redactText(summary.endingMessage),
    }),
    connections: {
      ...summary.connections,
      ...(summary.connections.drops && {
        drops: summary.connections.drops.map((drop) => ({ ...drop, text: redactText(drop.text) })),
      }),
      ...(summary.connections.targets && {
        targets: summary.connections.targets.map((target) => ({
          ...target,
          url: redactUrl(target.url),
        })),
      }),
    },
    target: { ...summary.target, url: redactUrl(summary.target.url) },
    errorExamples: summary.errorExamples.map(({ errorClass, text }) => ({
      errorClass,
      text: redactText(text),
    })),
  };
}

function estimated(scenario: Scenario, options: CompleteOptions, model: CapacityModel): Estimated {
  const load = model.loadOf(scenario);
  if ('problem' in load) return { estimate: null, estimateProblem: load.problem };
  const made = orProblem(() => model.estimate(load.input, editionAndHeadroom(options)));
  return 'problem' in made
    ? { estimate: null, estimateProblem: made.problem }
    : { estimate: { ...made.value, basis: 'published' } };
}

function recommended(
  scenario: Scenario,
  { steps, connections }: RunSummary,
  verdict: Verdict,
  options: CompleteOptions,
  model: CapacityModel,
): Recommended {
  const nothing = (problem: string): Recommended => ({
    recommendation: null,
    recommendationProblem: problem,
  });
  if (verdict.reasons[0]?.code === 'nothingSent') return nothing('Nothing was sent.');
  if (verdict.status === 'invalid') {
    const starved = verdict.reasons[0]?.code === 'starved';
    const why = starved ? 'The load was not sent in time' : 'The load generator was the bottleneck';
    return nothing(`${why}, so the measured rates say nothing about the target.`);
  }
  const step = bestStep(steps);
  // A service counts every connection that is open, also those that are about to leave.
  const { held, open } = step?.connections ?? {
    held: undefined,
    open: connections.connected - connections.dropped,
  };
  const counted = held ?? open;
  if (!step || counted <= 0)
    return nothing('No step was measured to its end with anything delivered.');
  const { index, sentPerSecond, receivedPerSecond, entries } = step;
  const measured = model.measuredLoadOf(scenario, {
    index,
    connections: counted,
    sentPerSecond,
    receivedPerSecond,
    ...(entries !== undefined && { entries }),
  });
  if ('problem' in measured) return nothing(measured.problem);
  if (step.sent === 0 && measured.load.useCases.length > 0) return nothing('Nothing was sent.');
  const made = orProblem(() => model.recommend(measured.load, editionAndHeadroom(options)));
  return 'problem' in made
    ? nothing(made.problem)
    : { recommendation: { ...made.value, basis: 'measured' } };
}

/** What was measured against an emulator says first what it stands for. */
function markedAs(
  made: Recommended,
  target: RunSummary['target'],
  { service }: Scenario,
): Recommended {
  const emulated = emulatedBy(target, service);
  const { recommendation } = made;
  if (emulated === undefined || recommendation === null) return made;
  const reasons = [standsFor[emulated], ...recommendation.reasons];
  return { ...made, recommendation: { ...recommendation, reasons } };
}

/** The last step that passed, else the last that was measured to its end and delivered something. */
function bestStep(steps: readonly StepSummary[]): StepSummary | undefined {
  const passed = steps.filter(({ verdict }) => verdict.status === 'pass');
  const failed = steps.filter(({ verdict, received }) => verdict.status === 'fail' && received > 0);
  return passed.at(-1) ?? failed.at(-1);
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
