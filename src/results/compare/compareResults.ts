import { latencyMetrics, type LatencyMetric } from '../../base/objectives/percentile';
import { isLoopbackHost } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { seededRandom } from '../../base/random';
import { formatCount } from '../../base/units';
import { compareSteps, worstChange, type StepPair } from '../../measure/compare/compareSteps';
import {
  type ComparedRun,
  type ComparedStep,
  type Comparison,
  type ComparisonVerdict,
  confidenceLevel,
  defaultTolerance,
  type Difference,
  alwaysJudgedMetrics,
} from '../../measure/compare/comparison';
import { comparisonSentence } from '../../measure/compare/comparisonWords';
import type { StepSummary } from '../../measure/summary';
import { joinWords } from '../../scenario/text/words';
import type { Result } from '../result';
import type { Scenario } from '../../scenario/scenario';
import { targetRole } from '../../scenario/target/targetKinds';
import { decodeHistogram, LatencyHistogram } from '../../measure/histogram';
import { judgedLatency } from '../../measure/latencySummary';
import type { StoredBlocks } from '../../measure/latencyBlocks';

interface ComparingOptions {
  /** 0…; smaller changes of a percentile are neither better nor worse. */
  readonly tolerance?: number;
}

/** Keeps the time of a comparison below a second. */
const mostPairs = 100;
/** The same draws each time. */
const seed = 1;

/** Compares `b` with the earlier `a` step by step; `unlike`, with reasons, where they cannot be compared. */
export function compareResults(a: Result, b: Result, options: ComparingOptions = {}): Comparison {
  const { tolerance = defaultTolerance } = options;
  const differences = differencesOf(a, b);
  const refused = [
    ...[a, b].flatMap(reasonsNotComparable),
    ...differences.filter(({ load }) => load).map(describeLoadDifference),
  ];
  const of = { a: runOf(a), b: runOf(b), tolerance, confidence: confidenceLevel, differences };
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
  return withSentence({ ...of, verdict: worstChange(verdicts), steps, reasons });
}

export const compareAll = (
  baseline: Result,
  others: readonly Result[],
  options: ComparingOptions = {},
): Comparison[] => others.map((other) => compareResults(baseline, other, options));

export function overallVerdict(comparisons: readonly Comparison[]): ComparisonVerdict {
  const verdicts = comparisons.map(({ verdict }) => verdict);
  const order: readonly ComparisonVerdict[] = ['worse', 'unlike', 'better'];
  return order.find((verdict) => verdicts.includes(verdict)) ?? 'same';
}

const withSentence = (comparison: Omit<Comparison, 'sentence'>): Comparison => {
  const { verdict, ...rest } = comparison;
  return { verdict, sentence: comparisonSentence(comparison), ...rest };
};

const runOf = ({ id, startedAt, tool }: Result): ComparedRun => ({
  ...{ id, name: scenarioNameFromId(id), startedAt, tool: tool.version },
});

export const scenarioNameFromId = (id: string): string =>
  id.replace(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?=.)/, '');

export function reasonsNotComparable({ id, search, verdict }: Result): string[] {
  if (search !== undefined)
    return [
      `${id} is a capacity search: each has steps of its own, so compare what they have found`,
    ];
  if (verdict.status !== 'invalid') return [];
  return [`${id} is invalid: ${verdict.reasons[0]?.message ?? 'it measured the load generator'}`];
}

/** `config.connections is 100 in one and 200 in the other`. */
export const describeLoadDifference = ({ what, a, b }: Difference): string =>
  `another load: ${what} is ${a} in one and ${b} in the other`;

/** Incomplete and invalid steps say nothing of the target. */
export const passedOrFailed = ({ verdict: { status } }: StepSummary): boolean =>
  status === 'pass' || status === 'fail';

type Steps = Pick<Result, 'id' | 'steps'>;

function poolsOf(a: Result, b: Result): readonly [Steps, Steps] | string {
  try {
    return [
      { id: a.id, steps: poolRepeats(a) },
      { id: b.id, steps: poolRepeats(b) },
    ];
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    throw error;
  }
}

function pairsOf(a: Steps, b: Steps) {
  const [before, after] = [a.steps.filter(passedOrFailed), b.steps.filter(passedOrFailed)];
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
    steps.filter(passedOrFailed).map(({ senders }) => senders),
  ) as [number[], number[]];
  if (before.length === 0 || now.length === 0) return 'no step passed or failed in both runs';
  return noCommonStepReason(before, now);
}

export const noCommonStepReason = (before: readonly number[], now: readonly number[]): string =>
  `the runs have no step with the same place and number of senders: baseline ${listedCounts(before)}, now ${listedCounts(now)}`;

/** `25, 50 and 75`. */
function listedCounts(values: readonly number[]): string {
  const named = values.slice(0, mostNamed).map((value) => formatCount(value));
  const more = values.length - named.length;
  return joinWords(more > 0 ? [...named, `${formatCount(more)} more`] : named);
}

function judgedIn(a: Result, b: Result): LatencyMetric[] {
  const named = [a, b].flatMap(({ scenario }) => Object.keys(scenario.slo.latencyUs));
  const judged = new Set<string>([...alwaysJudgedMetrics, ...named]);
  // One delivery alone decides on the maximum.
  return latencyMetrics.filter((metric) => metric !== 'max' && judged.has(metric));
}

type Facts = ReadonlyMap<string, string>;

/** Keys of which the load is made: runs in which one of them differs measured different things. */
const loadKeys = /^(config\.(connections|pacing|arrivals|stages)|scenario|scenarios)(\.|$)/;
const otherwise: readonly string[] = ['slo', 'entries', 'target'];

/** Empty where both scenarios make the same load. */
export const loadDifferences = (a: Scenario, b: Scenario): Difference[] =>
  differing(scenarioFacts(a), scenarioFacts(b)).filter(({ load }) => load === true);

function differencesOf(a: Result, b: Result): Difference[] {
  const found = [
    ...differing(scenarioFacts(a.scenario), scenarioFacts(b.scenario)),
    ...differing(runFacts(a), runFacts(b)),
  ];
  return [...found.filter(({ load }) => load), ...found.filter(({ load }) => !load)].slice(0, most);
}

const most = 200;

function differing(a: Facts, b: Facts): Difference[] {
  return [...new Set([...a.keys(), ...b.keys()])].flatMap((what) => {
    const [one = '–', other = '–'] = [a.get(what), b.get(what)];
    if (one === other) return [];
    return [{ what, a: one, b: other, ...(loadKeys.test(what) && { load: true as const }) }];
  });
}

function runFacts({ target, tool, machine }: Result): Facts {
  return new Map([
    ['target.url', shown(placeOf(target))],
    ...(target.dialect === undefined ? [] : [['target.dialect', target.dialect] as const]),
    ['target.emulated', target.emulated === true ? 'yes' : 'no'],
    ['tool', shown(tool.version)],
    ['machine.cores', String(machine.cores)],
    ['machine.platform', shown(machine.platform)],
    ['machine.node', shown(machine.node)],
    ['machine.workers', String(machine.workers)],
  ]);
}

/** An embedded server has another port each time. */
const placeOf = ({ kind, url }: Result['target']): string =>
  targetRole({ kind }) !== 'ownServer'
    ? url
    : url.replace(
        /(\/\/([^/:\s]+|\[[^\]/\s]*\])):\d{1,5}(?!\d)/g,
        (whole, place: string, host: string) => (isLoopbackHost(host) ? place : whole),
      );

function scenarioFacts(scenario: Scenario): Facts {
  const facts = new Map<string, string>();
  for (const [name, value] of Object.entries(scenario))
    if (!otherwise.includes(name) && !isUsual(name, value))
      addFacts(facts, `config.${name}`, value);
  const { entries } = scenario;
  for (const [at, { name, senders, parameters }] of entries.entries()) {
    const place = entries.length === 1 ? 'scenario' : `scenarios.${at}`;
    addFacts(facts, `${place}.name`, name);
    if (senders !== undefined) addFacts(facts, `${place}.senders`, Object.values(senders).at(-1));
    addFacts(facts, `${place}.parameters`, parameters);
  }
  return facts;
}

const isUsual = (name: string, value: unknown): boolean =>
  (name === 'arrivals' && value === 'even') || (name === 'repeat' && value === 1);

const mostLevels = 4;

function addFacts(facts: Map<string, string>, name: string, value: unknown, level = 0): void {
  if (typeof value === 'object' && value !== null && level < mostLevels) {
    for (const [key, below] of Object.entries(value))
      addFacts(facts, `${name}.${key}`, below, level + 1);
  } else if (value !== undefined) facts.set(name, shown(value));
}

const mostCharacters = 200;

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.slice(0, mostCharacters);
}

export function poolRepeats({ repeats, steps }: Pick<Result, 'repeats' | 'steps'>): StepSummary[] {
  if (repeats === undefined) return [...steps];
  return repeats.flatMap(({ step, of }) => {
    const own = steps.filter(({ index }) => of.includes(index));
    return own.length === 0 ? [] : [pooled(step, own as [StepSummary, ...StepSummary[]])];
  });
}

function pooled(index: number, own: readonly [StepSummary, ...StepSummary[]]): StepSummary {
  const sum = (value: (step: StepSummary) => number): number =>
    own.reduce((total, step) => total + value(step), 0);
  const all = new LatencyHistogram();
  for (const { histogram } of own) all.add(decodeHistogram(histogram).counts());
  const [expected, received] = [sum((step) => step.expected), sum((step) => step.received)];
  const seconds = sum((step) => step.seconds);
  const perSecond = (value: (step: StepSummary) => number): number =>
    seconds > 0 ? sum((step) => value(step) * step.seconds) / seconds : 0;
  const [first] = own;
  const latencyBlocks = blocksOf(own);
  return {
    ...{ ...ofAll(first), index, seconds, expected, received, lost: sum((step) => step.lost) },
    ...{ sent: sum((step) => step.sent), offered: sum((step) => step.offered) },
    sentPerSecond: perSecond((step) => step.sentPerSecond),
    receivedPerSecond: perSecond((step) => step.receivedPerSecond),
    ...{ latencyUs: all.summary(), histogram: all.encode() },
    ...(own.some(({ judgedUs }) => judgedUs !== undefined) && {
      judgedUs: judgedLatency({
        ...{ expected, received },
        latencyAtShareUs: (share) => all.valueAtShare(share),
      }),
    }),
    ...(latencyBlocks && { latencyBlocks }),
    generator: {
      ...first.generator,
      cpuShare: Math.max(...own.map(({ generator }) => generator.cpuShare)),
    },
  };
}

const ofAll = ({ judgedUs: _ofOne, latencyBlocks: _too, ...rest }: StepSummary) => rest;

/** One repeat after the other; undefined where they are not cut alike. */
function blocksOf(own: readonly StepSummary[]): StoredBlocks | undefined {
  const all = own.flatMap(({ latencyBlocks }) => latencyBlocks ?? []);
  const [first] = all;
  const isAlike =
    all.length === own.length && all.every(({ seconds }) => seconds === first?.seconds);
  if (first === undefined || !isAlike) return undefined;
  return { seconds: first.seconds, counts: all.flatMap(({ counts }) => counts) };
}
