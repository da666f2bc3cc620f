import { latencyMetrics, type LatencyMetric } from '../../base/objectives/percentile';
import { ExpectedError } from '../../base/expectedError';
import { seededRandom } from '../../base/random';
import { formatCount } from '../../base/units';
import { compareSteps, worstOf, type StepPair } from '../../measure/compare/compareSteps';
import {
  confidence,
  defaultTolerance,
  judgedAlways,
  type ComparedRun,
  type ComparedStep,
  type Comparison,
  type ComparisonVerdict,
  type Difference,
} from '../../measure/compare/comparison';
import { comparisonSentence } from '../../measure/compare/comparisonWords';
import type { StepSummary } from '../../measure/summary';
import { listed } from '../../scenario/text/words';
import type { Result } from '../result';
import { differencesOf } from './differences';
import { pooledSteps } from './pooledSteps';

export interface ComparingOptions {
  /** 0…; change of a percentile up to which nothing is called better or worse. */
  readonly tolerance?: number;
}

/** So that it ends within a second however long the runs were. */
const mostPairs = 100;
/** The same draws each time. */
const seed = 1;

/** How `b` stands to `a`, step by step. Where that cannot be said the verdict is `unlike`, with the reasons. */
export function compareResults(a: Result, b: Result, options: ComparingOptions = {}): Comparison {
  const { tolerance = defaultTolerance } = options;
  const differences = differencesOf(a, b);
  const refused = [
    ...[a, b].flatMap(refusal),
    ...differences.filter(({ load }) => load).map(loadWords),
  ];
  const of = { a: runOf(a), b: runOf(b), tolerance, confidence, differences };
  const unlike = (reasons: readonly string[], steps: readonly ComparedStep[] = []): Comparison =>
    withSentence({ ...of, verdict: 'unlike', steps, reasons });
  if (refused.length > 0) return unlike(refused);
  const pooled = poolsOf(a, b);
  if (typeof pooled === 'string') return unlike([pooled]);
  const { pairs: all, alone } = pairsOf(...pooled);
  const pairs = all.slice(-mostPairs);
  if (pairs.length === 0) return unlike([noPairWords(...pooled)]);
  let steps: ComparedStep[];
  try {
    steps = compareSteps(pairs, {
      tolerance,
      judged: judgedIn(a, b),
      judgesRate: b.scenario.pacing === 'closed',
      random: seededRandom(seed),
    });
  } catch (error) {
    if (error instanceof ExpectedError) return unlike([error.message]);
    throw error;
  }
  const left = all.length - pairs.length;
  const reasons = [
    ...steps.flatMap(({ problem }) => problem ?? []),
    ...alone,
    ...(left > 0 ? [`only the last ${formatCount(mostPairs)} steps are compared`] : []),
  ];
  const verdicts = steps.flatMap(({ verdict }) => verdict ?? []);
  if (verdicts.length === 0) return unlike(reasons, steps);
  return withSentence({ ...of, verdict: worstOf(verdicts), steps, reasons });
}

/** Each of the later runs with the first one. */
export const compareAll = (
  baseline: Result,
  others: readonly Result[],
  options: ComparingOptions = {},
): Comparison[] => others.map((other) => compareResults(baseline, other, options));

/** One that is worse decides; then one that cannot be compared. */
export function verdictOfAll(comparisons: readonly Comparison[]): ComparisonVerdict {
  const verdicts = comparisons.map(({ verdict }) => verdict);
  const order: readonly ComparisonVerdict[] = ['worse', 'unlike', 'better'];
  return order.find((verdict) => verdicts.includes(verdict)) ?? 'same';
}

const withSentence = (comparison: Omit<Comparison, 'sentence'>): Comparison => {
  const { verdict, ...rest } = comparison;
  return { verdict, sentence: comparisonSentence(comparison), ...rest };
};

const runOf = ({ id, startedAt, tool }: Result): ComparedRun => ({
  ...{ id, name: scenarioNameOf(id), startedAt, tool: tool.version },
});

/** `chat-room` of `2026-11-21T14-02-11-chat-room`. */
export const scenarioNameOf = (id: string): string =>
  id.replace(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?=.)/, '');

/** Why a result is compared with none. */
export function refusal({ id, search, verdict }: Result): string[] {
  if (search !== undefined)
    return [
      `${id} is a capacity search: each has steps of its own, so compare what they have found`,
    ];
  if (verdict.status !== 'invalid') return [];
  return [`${id} is invalid: ${verdict.reasons[0]?.message ?? 'its load was not sent in time'}`];
}

/** `config.connections is 100 in one and 200 in the other`. */
export const loadWords = ({ what, a, b }: Difference): string =>
  `another load: ${what} is ${a} in one and ${b} in the other`;

/** A step that was broken off, or that this machine could not send, says nothing of the target. */
export const isMeasured = ({ verdict: { status } }: StepSummary): boolean =>
  status === 'pass' || status === 'fail';

type Steps = Pick<Result, 'id' | 'steps'>;

/** In a sentence why their repeats cannot be put together. */
function poolsOf(a: Result, b: Result): readonly [Steps, Steps] | string {
  try {
    return [
      { id: a.id, steps: pooledSteps(a) },
      { id: b.id, steps: pooledSteps(b) },
    ];
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    throw error;
  }
}

function pairsOf(a: Steps, b: Steps) {
  const [before, after] = [a.steps.filter(isMeasured), b.steps.filter(isMeasured)];
  const pairs = after.flatMap((step): StepPair[] => {
    const other = before.find(
      ({ index, senders }) => index === step.index && senders === step.senders,
    );
    return other ? [{ a: other, b: step }] : [];
  });
  const unpaired = (steps: readonly StepSummary[], side: 'a' | 'b', id: string): string[] => {
    const left = steps.filter((step) => pairs.every((pair) => pair[side] !== step));
    if (left.length === 0) return [];
    const named = left.slice(0, mostNamed).map(({ index }) => formatCount(index));
    const more =
      left.length > named.length ? ` and ${formatCount(left.length - named.length)} more` : '';
    return [`${left.length === 1 ? 'step' : 'steps'} ${named.join(', ')}${more}: in ${id} alone`];
  };
  return { pairs, alone: [...unpaired(before, 'a', a.id), ...unpaired(after, 'b', b.id)] };
}

const mostNamed = 5;

function noPairWords(...runs: readonly [Steps, Steps]): string {
  const [before, now] = runs.map(({ steps }) =>
    steps.filter(isMeasured).map(({ senders }) => senders),
  ) as [number[], number[]];
  if (before.length === 0 || now.length === 0) return 'no step passed or failed in both runs';
  return noCommonStep(before, now);
}

/** Why steps with these senders cannot be compared. */
export const noCommonStep = (before: readonly number[], now: readonly number[]): string =>
  `the runs have no step with the same place and number of senders: baseline ${listedCounts(before)}, now ${listedCounts(now)}`;

/** `25, 50 and 75`. */
function listedCounts(values: readonly number[]): string {
  const named = values.slice(0, mostNamed).map((value) => formatCount(value));
  const more = values.length - named.length;
  return listed(more > 0 ? [...named, `${formatCount(more)} more`] : named);
}

function judgedIn(a: Result, b: Result): LatencyMetric[] {
  const named = [a, b].flatMap(({ scenario }) => Object.keys(scenario.slo.latencyUs));
  const judged = new Set<string>([...judgedAlways, ...named]);
  // One delivery alone decides on the maximum.
  return latencyMetrics.filter((metric) => metric !== 'max' && judged.has(metric));
}
