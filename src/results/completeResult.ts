import { sentence, mapPlainText, type Words } from '../base/sentence';
import { isDisturbance, createReason } from '../measure/judge/reason';
import { ExpectedError } from '../base/expectedError';
import type { Row, RowValue } from '../base/personalText';
import { isSecretName, redacted } from '../base/secrets';
import { formatCount } from '../base/units';
import { estimate, scenarioEstimate, type EstimateModel } from '../capacity/estimate';
import { formatBilling } from '../capacity/judge/billing';
import { calibratedUnit, type Calibration } from '../capacity/judge/calibrate';
import {
  measuredLoadOf,
  recommend,
  type MeasuredStep,
  type Carried,
  type Recommendation,
  type StepStatus,
} from '../capacity/judge/recommend';
import { withUnitVerdict } from '../capacity/judge/unitVerdict';
import { loadOf } from '../capacity/load/loadOf';
import type { EstimateOptions } from '../capacity/model';
import { complaintWords, firstComplaint } from '../measure/judge/hubComplaint';
import { summarizeRepeats } from '../measure/compare/repeats';
import { isInvalidByLatenessOnly, judgeRun } from '../measure/judge/verdict';
import type { RunSummary, StepSummary, Verdict } from '../measure/summary';
import type { IdentitiesSpec, ObserveSpec, Scenario } from '../scenario/scenario';
import { messageSizeRefusal } from '../capacity/load/wireSizes';
import { repeatCount, stepCount, scenarioAtSearchValue } from '../scenario/steps';
import type { Parameters } from '../usecases/parameters';
import { mapTargetTexts } from '../scenario/target/targetKinds';
import {
  redactArgument,
  redactInArguments,
  redactBody,
  redactCommand,
  redactHeader,
  redactSecret,
  redactTarget,
  redactText,
  redactUrl,
  redactWords,
} from './redact';
import { emulationKind, resultSchema, emulationNotes, type Result } from './result';

export interface CompleteOptions extends EstimateOptions {
  readonly id: string;
  readonly scenarioName?: string;
  readonly toolVersion: string;
  readonly calibrations?: readonly Calibration[];
}

export type CapacityModel = EstimateModel & RecommendModel;

/** Judges a run, adds estimate and recommendation, and removes literal secrets. */
export function completeResult(
  summary: RunSummary,
  scenario: Scenario,
  options: CompleteOptions,
  model: CapacityModel = { loadOf, estimate, measuredLoadOf, recommend },
): Result {
  const clean = cleanSummary(summary);
  const verdict = withCause(judgeRun(clean, scenario.slo), clean, scenario);
  const made = recommended(...carriedBySearch(scenario, { ...clean, verdict }), options, model);
  const unit = made.recommendation?.unit ?? null;
  return {
    schema: resultSchema,
    id: options.id,
    ...(options.scenarioName !== undefined && { scenarioName: options.scenarioName }),
    tool: { name: 'signalr-bench', version: options.toolVersion },
    ...withoutWords(clean),
    ...(repeatCount(scenario) > 1 && {
      repeats: summarizeRepeats(clean.steps, stepCount(scenario)),
    }),
    ...(clean.search && { search: { ...clean.search, unit } }),
    verdict,
    scenario: redactScenario(scenario),
    ...estimated(scenario, options, model),
    ...made,
  };
}

const withoutWords = ({ endingWords: _words, ...run }: RunSummary): RunSummary => run;

type FinishedRun = Run & Pick<RunSummary, 'target' | 'search' | 'startedAt'>;

/** After a search: the scenario and the last step at the highest value that passed. */
function carriedBySearch(scenario: Scenario, run: FinishedRun): [Scenario, FinishedRun] {
  const { low, steps: tried = [] } = run.search ?? { low: null };
  if (run.search === undefined || run.verdict.status === 'invalid') return [scenario, run];
  const held = tried.filter(({ value, status }) => value === low && status === 'pass').at(-1);
  const step = run.steps.find(({ index }) => index === held?.index);
  const verdict = { ...run.verdict, status: 'pass' as const };
  if (low === null || step === undefined) return [scenario, { ...run, verdict, steps: [] }];
  // Connections lost in other steps do not count in this one.
  const connections = { ...run.connections, failed: 0, dropped: 0, notBack: 0 };
  return [scenarioAtSearchValue(scenario, low), { ...run, connections, verdict, steps: [step] }];
}

/**
 * A message size that the service refuses, or a hub method that only answered with errors, causes the rest and comes
 * first.
 */
function withCause(
  verdict: Verdict,
  { steps, errors, errorExamples }: RunSummary,
  scenario: Scenario,
): Verdict {
  if (verdict.status !== 'fail' && verdict.status !== 'invalid') return verdict;
  // A service that closes such connections leaves nobody to send: that is no fault of the generator.
  const because = (code: string, words: Words): Verdict => ({
    ...verdict,
    status: 'fail',
    reasons: [createReason(code, words), ...verdict.reasons],
  });
  const refused = scenario.entries.flatMap((entry) => messageSizeRefusal(scenario, entry) ?? []);
  if (refused[0] !== undefined) return because('messageSize', refused[0]);
  if (verdict.status !== 'fail') return verdict;
  const complaint = firstComplaint(errorExamples);
  const arrived = steps.some(({ received }) => received > 0);
  if (arrived || complaint === undefined) return verdict;
  const answered = formatCount(errors.invocation ?? 0);
  const words = sentence(
    '{0} ({1} calls were answered with an error)',
    complaintWords(complaint),
    answered,
  );
  return because('hubMethod', words);
}

/** Texts that came from a server or a library may repeat a URL or a header with a secret in it. */
function cleanSummary({ endingStack: _notStored, ...summary }: RunSummary): RunSummary {
  const { connections, endingMessage, endingWords, errorExamples, target } = summary;
  const cleanText = <T extends { readonly text: string }>(each: T): T => ({
    ...each,
    text: redactText(each.text),
  });
  const cleanUrl = <T extends { readonly url: string }>(each: T): T => ({
    ...each,
    url: redactUrl(each.url),
  });
  return {
    ...summary,
    ...(endingMessage !== undefined && { endingMessage: redactText(endingMessage) }),
    ...(endingWords !== undefined && { endingWords: mapPlainText(endingWords, redactText) }),
    connections: {
      ...connections,
      ...(connections.drops && { drops: connections.drops.map(cleanText) }),
      ...(connections.targets && { targets: connections.targets.map(cleanUrl) }),
    },
    target: cleanUrl(target),
    errorExamples: errorExamples.map(cleanText),
  };
}

function estimated(
  scenario: Scenario,
  options: CompleteOptions,
  model: CapacityModel,
): Pick<Result, 'estimate' | 'estimateProblem'> {
  const found = scenarioEstimate(scenario, options, model);
  return 'problem' in found
    ? { estimate: null, estimateProblem: found.problem }
    : { estimate: { ...found.estimate, basis: 'published' } };
}

/** An emulator is named first, what is billed last. */
function recommended(
  scenario: Scenario,
  run: FinishedRun,
  options: CompleteOptions,
  model: CapacityModel,
): Pick<Result, 'recommendation' | 'recommendationProblem'> {
  const made = recommendUnits(scenario, run, options, model);
  if ('problem' in made) return { recommendation: null, recommendationProblem: made.problem };
  const recommendation = { ...withUnitVerdict(made.value, scenario), basis: 'measured' as const };
  const { reasons, reasonWords, notes } = recommendation;
  const { calibrations = [] } = options;
  const { requested } = run.connections;
  const calibrated = calibratedUnit(
    { ...recommendation, connections: requested },
    calibrations,
    Date.parse(run.startedAt),
  );
  const emulated = emulationKind(run.target, scenario.service);
  const billed = formatBilling(recommendation, scenario);
  return {
    recommendation: {
      ...recommendation,
      reasons: emulated === undefined ? reasons : [emulationNotes[emulated], ...reasons],
      reasonWords:
        emulated === undefined
          ? reasonWords
          : [emulationNotes[emulated], ...(reasonWords ?? reasons)],
      ...(calibrated && { calibrated }),
      notes: [...notes, calibrated?.sentence ?? [], billed ?? []].flat(),
    },
  };
}

interface RecommendModel {
  readonly measuredLoadOf: typeof measuredLoadOf;
  readonly recommend: typeof recommend;
}

type Recommended = { readonly value: Recommendation } | { readonly problem: string };

type Run = Pick<RunSummary, 'steps' | 'connections'> & { readonly verdict: Verdict };

type JudgedStep = Omit<StepSummary, 'verdict'> & { readonly status: StepStatus };

/** Recommends by the last step that passed or failed; `problem` is the sentence why there is no size. */
export function recommendUnits(
  scenario: Scenario,
  run: Run & Pick<RunSummary, 'search'>,
  options: EstimateOptions,
  model: RecommendModel,
): Recommended {
  const [cause] = run.verdict.reasons;
  if (cause?.code === 'nothingSent') return { problem: 'Nothing was sent.' };
  if (cause?.code === 'messageSize') return { problem: cause.message };
  if (cause?.code === 'hubMethod') return { problem: `${cause.message}.` };
  if (run.steps.length > 0 && run.steps.every((step) => step.expected > 0 && step.received === 0))
    return { problem: 'No delivery arrived in any step, so no traffic was carried.' };
  const isWorthless = ({ verdict }: StepSummary): boolean =>
    verdict.status === 'invalid' && !isInvalidByLatenessOnly(verdict);
  if (run.verdict.status === 'invalid' && (run.search || run.steps.some(isWorthless))) {
    const isDisturbed = isDisturbance(run.verdict.reasons[0]?.code);
    const why = isDisturbed
      ? 'This machine was late to send or to read'
      : 'The load generator was the bottleneck';
    return { problem: `${why}, so the measured rates say nothing about the target.` };
  }
  const recommendStep = (step: JudgedStep, carried?: Carried | null): Recommended => {
    const counts = measuredStep(step, run, carried);
    // Of a search the scenario has the one step that is asked about, of repeats those of one round.
    const cycle = run.search === undefined ? stepCount(scenario) : 1;
    const isPlanned = run.search === undefined && repeatCount(scenario) === 1;
    const measured = isPlanned ? counts : { ...counts, planned: ((step.index - 1) % cycle) + 1 };
    const found = model.measuredLoadOf(scenario, measured);
    if ('problem' in found) return found;
    const { load } = found;
    const remarks = [
      ...(load.remarks ?? []),
      ...openWords(run, step),
      ...unfinishedWords(run, step),
    ];
    return orProblem(() => model.recommend({ ...load, remarks }, options));
  };
  const judged = judgedSteps(run);
  const step = judged.at(-1);
  if (step === undefined) return { problem: noStepWords(run) };
  if (step.status === 'pass') return recommendStep(step);
  return recommendStep(step, carriedOf(judged, recommendStep));
}

function noStepWords({ steps, search }: Pick<RunSummary, 'steps' | 'search'>): string {
  if (search !== undefined) return 'No value held.';
  const last = steps.at(-1);
  if (last === undefined) return 'No step was measured.';
  const { index, verdict } = last;
  const why = verdict.reasons[0]?.message;
  return `Step ${formatCount(index)} is incomplete${why === undefined ? '' : `: ${why}`}.`;
}

/** Where the run failed and none of its steps did, it failed as a whole: none of them was carried. */
function judgedSteps({ steps, verdict }: Run): JudgedStep[] {
  const judged = steps.flatMap(({ verdict: of, ...step }): JudgedStep[] => {
    // It has carried its load, however long that took.
    const status = isInvalidByLatenessOnly(of) ? 'pass' : of.status;
    return status === 'pass' || status === 'fail' ? [{ ...step, status }] : [];
  });
  const failed = verdict.status === 'fail' && judged.every(({ status }) => status === 'pass');
  return failed ? judged.map((step) => ({ ...step, status: 'fail' })) : judged;
}

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
  const { index, status, seconds, sent, expected, lost, entries, calls, membership, pushed } = step;
  const { skipped = 0 } = step;
  const { received, payloadBytesOut } = step;
  // A service counts every connection that is open, also those that are about to leave.
  const { requested, open, held = 0 } = step.connections ?? { ...all, open: all.requested };
  const { failed, dropped, notBack = 0, life } = all;
  // Where connections come and go as planned, those that are away at the end of a step are not lost.
  const away = life === undefined ? requested - open : 0;
  return {
    ...{ index, status, seconds, sent, expected, lost, extra: unexpected(step) },
    ...{ received, payloadBytesOut, skipped },
    connections: Math.max(requested, held),
    lostConnections: Math.max(away, failed + dropped + notBack),
    ...(carried !== undefined && { carried }),
    ...(entries && { entries: entries.map((each) => ({ ...each, extra: unexpected(each) })) }),
    ...(calls !== undefined && { calls }),
    ...(pushed !== undefined && { pushed }),
    ...(membership !== undefined && {
      moves: {
        done: membership.joins + membership.leaves,
        missed: membership.joinsFailed + membership.skipped,
      },
    }),
  };
}

/** A service carries what went to those that were leaving as well, and what came twice. */
const unexpected = ({
  extra,
  leaving = 0,
  duplicated,
}: Pick<StepSummary, 'extra' | 'leaving' | 'duplicated'>): number => extra + leaving + duplicated;

function openWords({ steps }: Run, { index }: JudgedStep): Words[] {
  const isOpen = steps.some(
    (step) => step.index === index && isInvalidByLatenessOnly(step.verdict),
  );
  return isOpen
    ? [
        sentence(
          'Step {0} carried its load, but whether it kept its limits is open.',
          formatCount(index),
        ),
      ]
    : [];
}

function unfinishedWords({ steps }: Run, { index }: JudgedStep): Words[] {
  const unfinished = steps.find((step) => step.index > index);
  if (unfinished?.verdict.status !== 'incomplete') return [];
  return [
    sentence(
      'The run ended in step {0}, which is incomplete and may need more.',
      formatCount(unfinished.index),
    ),
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

export function redactScenario(scenario: Scenario): Scenario {
  const { target, accessToken, keyPassword, upstream, identities, observe } = scenario;
  return {
    ...scenario,
    ...(target && { target: mapTargetTexts(target, redactTarget) }),
    headers: mapValues(scenario.headers, redactHeader),
    query: mapValues(scenario.query, (_name, value) => redactSecret(value)),
    ...(accessToken !== undefined && { accessToken: redactSecret(accessToken) }),
    ...(keyPassword !== undefined && { keyPassword: redactSecret(keyPassword) }),
    ...(identities && { identities: redactIdentities(identities) }),
    ...(upstream?.publicUrl !== undefined && {
      upstream: { ...upstream, publicUrl: redactUrl(upstream.publicUrl) },
    }),
    ...(observe && { observe: observe.map(redactObserve) }),
    entries: scenario.entries.map((entry) => ({
      ...entry,
      parameters: Object.fromEntries(
        Object.entries(entry.parameters).map(([name, value]) => [
          name,
          redactParameter(name, value),
        ]),
      ),
    })),
  };
}

/** Arguments are JSON text, and stand in steps of a session. */
function redactParameter(name: string, value: Parameters[string]): Parameters[string] {
  if (typeof value !== 'string') return value;
  if (name === 'arguments' || name === 'streamingItems')
    return JSON.stringify(redactArguments(JSON.parse(value)));
  if (name !== 'steps') return value;
  return JSON.stringify(
    JSON.parse(value, (key: string, member: unknown) =>
      key === 'arguments' ? redactArguments(member) : member,
    ),
  );
}

const redactArguments = (value: unknown): RowValue =>
  redactValues(value as RowValue, '', redactArgument, redactInArguments);

function redactObserve(one: ObserveSpec): ObserveSpec {
  if (one.kind !== 'prometheus') return one;
  const { authorization } = one;
  return {
    ...{ ...one, url: redactUrl(one.url) },
    ...(authorization !== undefined && { authorization: redactSecret(authorization) }),
  };
}

function redactIdentities(spec: IdentitiesSpec): IdentitiesSpec {
  switch (spec.kind) {
    case 'list':
      return { kind: 'list', rows: spec.rows.map((row) => redactValues(row) as Row) };
    case 'file':
      return spec;
    case 'rule':
      return { ...spec, key: redactSecret(spec.key), claims: redactValues(spec.claims) as Row };
    case 'command':
      return {
        ...spec,
        command: redactCommand(spec.command),
        env: mapValues(spec.env, (_name, value) => redactSecret(value)),
      };
    case 'url':
      return {
        ...spec,
        url: redactUrl(spec.url),
        headers: mapValues(spec.headers, redactHeader),
        ...(spec.body !== undefined && { body: redactBody(spec.body) }),
      };
  }
}

function redactValues(
  value: RowValue,
  name = '',
  redact = redactSecret,
  redactOther = redactWords,
): RowValue {
  if (typeof value === 'string') return (isSecretName(name) ? redact : redactOther)(value);
  if (Array.isArray(value))
    return (value as readonly RowValue[]).map((item) =>
      redactValues(item, name, redact, redactOther),
    );
  if (typeof value !== 'object' || value === null)
    return isSecretName(name) && typeof value === 'number' ? redacted : value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      redactValues(member, key, redact, redactOther),
    ]),
  );
}

type Texts = Readonly<Record<string, string>>;

const mapValues = (values: Texts, change: (name: string, value: string) => string): Texts =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]));
