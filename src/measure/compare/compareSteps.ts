import {
  minValuesBeyond,
  canShowPercentile,
  latencyShare,
  summaryKeys,
  type LatencyMetric,
} from '../../base/objectives/percentile';
import type { Random } from '../../base/random';
import { formatCount } from '../../base/units';
import { shownPercentileUs, shownPercentiles, type LatencySummary } from '../latencySummary';
import { sessionRows } from '../show/callTable';
import { latencyInsideAgents } from '../show/stepColumns';
import type { CallSummary, StepSummary } from '../summary';
import {
  comparedKeys,
  confidenceLevel,
  minimumBlocks,
  type Change,
  type ComparedCall,
  type ComparedKey,
  type ComparedNumber,
  type ComparedPercentile,
  type ComparedSessions,
  type ComparedStep,
  type MissingIntervalReason,
} from './comparison';
import {
  buildBlockTable,
  resamplePercentiles,
  countFilledBlocks,
  ratioInterval,
  type ResampledPercentile,
} from './resampling';

export interface StepPair {
  readonly a: StepSummary;
  readonly b: StepSummary;
}

interface CompareOptions {
  /** Change, 0…, up to which nothing is called better or worse. */
  readonly tolerance: number;
  readonly judged: readonly LatencyMetric[];
  /** How fast messages went is a result of the run, and not what it was asked for. */
  readonly judgesRate: boolean;
  readonly random: Random;
}

/** Draws of all steps together; with more steps each has fewer, so that the time it takes has a bound. */
const draws = { inAll: 10_000, most: 1000, least: 200 };

/** Judges all steps together: their intervals share one probability of error. */
export function compareSteps(pairs: readonly StepPair[], options: CompareOptions): ComparedStep[] {
  const each = Math.floor(draws.inAll / Math.max(1, pairs.length));
  const count = Math.max(draws.least, Math.min(draws.most, each));
  const judged = new Set(options.judged.map((metric) => summaryKeys[metric]) as string[]);
  const drawn = pairs.map((pair) => drawPair(pair, count, options.random));
  const intervals = drawn
    .flatMap((percentiles) => percentiles)
    .filter(({ key, draws }) => draws !== undefined && judged.has(key));
  return pairs.map((pair, at) => {
    const latency = drawn[at]!.map((percentile) => [
      percentile.key,
      compared(percentile, judged.has(percentile.key), intervals.length, options.tolerance),
    ]);
    return comparedStep(pair, Object.fromEntries(latency) as ComparedStep['latency'], options);
  });
}

interface DrawnPercentile {
  readonly key: ComparedKey;
  readonly a: number | null;
  readonly b: number | null;
  /** By how much either may be off, as clocks of agents differ, microseconds. */
  readonly errorUs: readonly [a: number, b: number];
  readonly draws?: readonly [a: ResampledPercentile, b: ResampledPercentile];
  readonly without?: MissingIntervalReason;
}

const metrics = Object.entries(summaryKeys) as [LatencyMetric, string][];
const shareOf = (key: ComparedKey): number =>
  latencyShare[metrics.find(([, name]) => name === key)![0]];

function drawPair({ a, b }: StepPair, count: number, random: Random): DrawnPercentile[] {
  const [shownA, shownB] = [shownPercentiles(a), shownPercentiles(b)];
  if (shownA === undefined || shownB === undefined) return [];
  const errorUs = [clockErrorOf(a), clockErrorOf(b)] as const;
  const found = comparedKeys.flatMap((key): DrawnPercentile[] => {
    const [valueA, valueB] = [shownA[key], shownB[key]];
    if (valueA === undefined || valueB === undefined) return [];
    const values = { key, a: valueA, b: valueB, errorUs };
    if (valueA === null || valueB === null) return [{ ...values, without: 'lost' }];
    return [{ ...values, ...(!shown(a, key) || !shown(b, key) ? { without: 'few' } : {}) }];
  });
  const open = found.filter(({ without }) => without === undefined).map(({ key }) => key);
  const [drawnA, drawnB] = [drawStep(a, open, count, random), drawStep(b, open, count, random)];
  return found.map((percentile) => {
    const at = open.indexOf(percentile.key);
    if (at < 0) return percentile;
    if (drawnA === undefined || drawnB === undefined) return { ...percentile, without: 'short' };
    return { ...percentile, draws: [drawnA[at]!, drawnB[at]!] };
  });
}

const clockErrorOf = (step: StepSummary): number =>
  latencyInsideAgents(step) === undefined ? 0 : (step.clockErrorUs ?? 0);

const shown = ({ latencyUs }: StepSummary, key: ComparedKey): boolean =>
  shownPercentileUs(latencyUs, key) !== undefined &&
  canShowPercentile(latencyUs.count, shareOf(key));

/** Undefined where there are too few blocks of time. @throws ExpectedError `blocks-damaged` */
function drawStep(
  { latencyBlocks, judgedUs, expected, received }: StepSummary,
  keys: readonly ComparedKey[],
  count: number,
  random: Random,
): ResampledPercentile[] | undefined {
  if (keys.length === 0) return [];
  if (latencyBlocks === undefined || latencyBlocks.counts.length < minimumBlocks) return undefined;
  const table = buildBlockTable(latencyBlocks);
  if (countFilledBlocks(table) < minimumBlocks) return undefined;
  // A lost delivery is slower than any other: the percentile of what was expected lies higher in what arrived.
  const arrived = judgedUs === undefined || received <= 0 ? 1 : expected / received;
  const shares = keys.map((key) => Math.min(1, shareOf(key) * arrived));
  return resamplePercentiles(table, shares, count, random);
}

function compared(
  { a, b, draws, without, errorUs, key: _key }: DrawnPercentile,
  isJudged: boolean,
  together: number,
  tolerance: number,
): ComparedPercentile {
  if (a === null || b === null) {
    const change = a === b ? 'same' : b === null ? 'worse' : 'better';
    return { a, b, ratio: null, interval: null, without: 'lost', ...(isJudged && { change }) };
  }
  const ratio = Math.max(1, b) / Math.max(1, a);
  if (draws === undefined)
    return { a, b, ratio: rounded(ratio), interval: null, without: without ?? 'short' };
  const [low, high] = ratioInterval(...draws, confidenceLevel, Math.max(1, together));
  const [offA, offB] = errorUs;
  // As small and as large as clocks may have made it.
  const least = Math.max(1, b - offB) / Math.max(1, a + offA);
  const most = Math.max(1, b + offB) / Math.max(1, a - offA);
  const interval = [rounded(least * low), rounded(most * high)] as const;
  const change = changeOf(ratio, interval, tolerance);
  return { a, b, ratio: rounded(ratio), interval, ...(isJudged && { change }) };
}

const rounded = (value: number): number => Number(value.toPrecision(5));

type Interval = NonNullable<ComparedPercentile['interval']>;

function changeOf(ratio: number, [low, high]: Interval, tolerance: number): Change {
  if (low > 1 && ratio > 1 + tolerance) return 'worse';
  if (high < 1 && ratio < 1 - tolerance) return 'better';
  return 'same';
}

/** Of the deliveries: the guides' criterion leaves 1 % for those that are too slow, and the tolerance is a part of it. */
const lostAllowance = 0.01;

function comparedStep(
  { a, b }: StepPair,
  latency: ComparedStep['latency'],
  { tolerance, judgesRate }: CompareOptions,
): ComparedStep {
  const pair = (value: (step: StepSummary) => number): ComparedNumber => ({
    a: value(a),
    b: value(b),
  });
  const lost = pair((step) => step.lost);
  const lostShare = pair((step) => (step.expected > 0 ? step.lost / step.expected : 0));
  const received = pair((step) => step.receivedPerSecond);
  const step = {
    index: b.index,
    senders: b.senders,
    latency,
    lost,
    lostShare: { ...lostShare, change: lossChange(lost, lostShare, tolerance) },
    sentPerSecond: pair((each) => each.sentPerSecond),
    receivedPerSecond: judgesRate
      ? { ...received, change: rateChange(received, tolerance) }
      : received,
    cpuShare: pair((each) => each.generator.cpuShare),
    seconds: pair((each) => each.seconds),
    ...(a.calls && b.calls && { calls: comparedCalls(a.calls, b.calls) }),
    ...(a.sessions && b.sessions && { sessions: comparedSessions(a, b) }),
  };
  const changes = changesOf(step);
  const verdict = worstChange(changes);
  const unsaid = problemOf(step, a, b);
  if (unsaid === undefined || verdict === 'worse') return { ...step, verdict };
  return { ...step, problem: unsaid };
}

function comparedCalls(
  before: readonly CallSummary[],
  after: readonly CallSummary[],
): ComparedCall[] {
  return after.flatMap((b): ComparedCall[] => {
    const a = before.find(({ name, entry }) => name === b.name && entry === b.entry);
    if (a === undefined) return [];
    return [
      {
        ...{ name: b.name, ...(b.entry !== undefined && { entry: b.entry }) },
        ...comparedTimes(a.latencyUs, b.latencyUs),
        lost: { a: a.lost, b: b.lost },
      },
    ];
  });
}

function comparedSessions(before: StepSummary, after: StepSummary): ComparedSessions[] {
  const earlier = sessionRows(before);
  return sessionRows(after).flatMap(({ name, sessions: b }): ComparedSessions[] => {
    const a = earlier.find((row) => row.name === name)?.sessions;
    if (a === undefined) return [];
    const pair = (key: 'started' | 'completed' | 'brokenOff') => ({ a: a[key], b: b[key] });
    return [
      {
        ...(name !== undefined && { entry: name }),
        ...{ started: pair('started'), completed: pair('completed') },
        ...{ brokenOff: pair('brokenOff'), ...comparedTimes(a.durationUs, b.durationUs) },
      },
    ];
  });
}

function comparedTimes(a: LatencySummary, b: LatencySummary): Pick<ComparedCall, 'p50' | 'p99'> {
  if (a.count === 0 || b.count === 0) return {};
  const pair = (key: 'p50' | 'p99'): ComparedNumber => ({ a: a[key], b: b[key] });
  return { p50: pair('p50'), p99: pair('p99') };
}

function lossChange(lost: ComparedNumber, share: ComparedNumber, tolerance: number): Change {
  const few = Math.abs(lost.b - lost.a) < minValuesBeyond;
  if (few || Math.abs(share.b - share.a) <= tolerance * lostAllowance) return 'same';
  return share.b > share.a ? 'worse' : 'better';
}

function rateChange({ a, b }: ComparedNumber, tolerance: number): Change {
  if (b < a * (1 - tolerance)) return 'worse';
  return b > a * (1 + tolerance) ? 'better' : 'same';
}

function changesOf(step: Omit<ComparedStep, 'verdict' | 'problem'>): Change[] {
  const { latency, lostShare, receivedPerSecond } = step;
  return [...Object.values(latency), lostShare, receivedPerSecond].flatMap(
    ({ change }) => change ?? [],
  );
}

/** A change for the worse is not made up for by one for the better. */
export function worstChange(changes: readonly (Change | undefined)[]): Change {
  if (changes.includes('worse')) return 'worse';
  return changes.includes('better') ? 'better' : 'same';
}

function problemOf(
  { index, latency }: Pick<ComparedStep, 'index' | 'latency'>,
  a: StepSummary,
  b: StepSummary,
): string | undefined {
  const all = Object.values(latency);
  if (all.some(({ change }) => change !== undefined)) return undefined;
  const place = `step ${formatCount(index)}`;
  if (a.latencyUs.count === 0 || b.latencyUs.count === 0) {
    const both = a.latencyUs.count === b.latencyUs.count;
    return `${place}: nothing arrived in ${both ? 'either' : 'one of the'} run${both ? '' : 's'}`;
  }
  if (all.some(({ without }) => without === 'short')) {
    const bare = a.latencyBlocks === undefined || b.latencyBlocks === undefined;
    if (bare)
      return `${place}: one of the results has no latency over time (it is of another version)`;
    if (a.seconds >= minimumBlocks && b.seconds >= minimumBlocks)
      return `${place}: in one of the runs deliveries arrived in fewer than ${minimumBlocks} pieces of its time`;
    return `${place}: it was measured for ${secondsWords(a.seconds)} and ${secondsWords(b.seconds)}, and at least ${minimumBlocks} s of each run are needed to say what is chance; set singleStepDuration to ${minimumBlocks}s or more`;
  }
  return `${place}: too few deliveries to say what is chance (${formatCount(a.latencyUs.count)} and ${formatCount(b.latencyUs.count)})`;
}

const secondsWords = (seconds: number): string =>
  `${formatCount(seconds, Number.isInteger(seconds) ? 0 : 1)} s`;
