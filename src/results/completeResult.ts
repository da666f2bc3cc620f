import { formatCount } from '../base/units';
import { billingWords } from '../capacity/judge/billing';
import { estimate, type Edition } from '../capacity/estimate';
import { loadOf } from '../capacity/load/loadOf';
import { measuredLoadOf } from '../capacity/judge/measuredLoadOf';
import { recommend } from '../capacity/judge/recommend';
import { scenarioEstimate, type EstimateModel } from '../capacity/scenarioEstimate';
import { withVerdict } from '../capacity/judge/unitVerdict';
import { emulatedBy, standsFor } from './emulated';
import { complaintWords, firstComplaint } from '../measure/judge/hubComplaint';
import type { RunSummary, Verdict } from '../measure/show/summary';
import { judgeRun } from '../measure/judge/verdict';
import type { Scenario } from '../scenario/scenario';
import { recommendRun, type RecommendModel } from './recommendRun';
import { redactText, redactUrl } from './redact';
import { redactScenario } from './redactScenario';
import { resultSchema, type Result } from './result';

export interface CompleteOptions {
  readonly id: string;
  readonly toolVersion: string;
  readonly edition?: Edition;
  /** Share of the published limits to plan for, 0 < h ≤ 1. */
  readonly headroom?: number;
}

/** The pure functions of the capacity model; tests put others in their place. */
export type CapacityModel = EstimateModel & RecommendModel;

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
  const verdict = withCause(judgeRun(clean, scenario.slo), clean);
  return {
    schema: resultSchema,
    id: options.id,
    tool: { name: 'signalr-bench', version: options.toolVersion },
    ...clean,
    verdict,
    scenario: redactScenario(scenario),
    ...estimated(scenario, options, model),
    ...told(recommended(scenario, { ...clean, verdict }, options, model), clean.target, scenario),
  };
}

/** Where nothing has arrived because of a hub method, that comes first: the rest only follows from it. */
function withCause(verdict: Verdict, { steps, errors, errorExamples }: RunSummary): Verdict {
  const complaint = firstComplaint(errorExamples);
  const arrived = steps.some(({ received }) => received > 0);
  if (verdict.status !== 'fail' || arrived || complaint === undefined) return verdict;
  const message = `${complaintWords(complaint)} (${formatCount(errors.invocation ?? 0)} calls answered so)`;
  return { ...verdict, reasons: [{ code: 'hubMethod', message }, ...verdict.reasons] };
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
  const found = scenarioEstimate(scenario, editionAndHeadroom(options), model);
  return 'problem' in found
    ? { estimate: null, estimateProblem: found.problem }
    : { estimate: { ...found.estimate, basis: 'published' } };
}

function recommended(
  scenario: Scenario,
  run: RunSummary & Pick<Result, 'verdict'>,
  options: CompleteOptions,
  model: CapacityModel,
): Recommended {
  const made = recommendRun(scenario, run, editionAndHeadroom(options), model);
  return 'problem' in made
    ? { recommendation: null, recommendationProblem: made.problem }
    : { recommendation: { ...withVerdict(made.value, scenario), basis: 'measured' } };
}

/** What was measured against an emulator says first what it stands for; what is billed is said last. */
function told(made: Recommended, target: RunSummary['target'], scenario: Scenario): Recommended {
  const emulated = emulatedBy(target, scenario.service);
  const { recommendation } = made;
  if (recommendation === null) return made;
  const { reasons, notes } = recommendation;
  const billed = billingWords(recommendation, scenario);
  return {
    ...made,
    recommendation: {
      ...recommendation,
      reasons: emulated === undefined ? reasons : [standsFor[emulated], ...reasons],
      notes: billed === undefined ? notes : [...notes, billed],
    },
  };
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
