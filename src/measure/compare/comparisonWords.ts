import { latencyWords, formatCount, formatShare } from '../../base/units';
import {
  comparedKeys,
  type Change,
  type ComparedCall,
  type ComparedNumber,
  type ComparedPercentile,
  type ComparedSessions,
  type ComparedStep,
  type MissingIntervalReason,
  type ComparedKey,
  type Comparison,
  type ComparisonVerdict,
} from './comparison';
import { joinWords, say, sentence, wholeSentence, type Words } from '../../base/sentence';
import { english, type Translate } from '../../base/text';

/** `p99.9` of a result's `p999`. */
export const percentileName = (key: ComparedKey): string =>
  ({ p999: 'p99.9', p9999: 'p99.99' })[key as string] ?? key;

/** `+39 %`, `−3 %`, `0 %`; from a tenfold on `×12`. */
export function changeWords(ratio: number): string {
  if (ratio >= 10) return `×${formatCount(ratio)}`;
  return `${signed(ratio)} %`;
}

function signed(ratio: number): string {
  const percent = Math.round((ratio - 1) * 100);
  if (percent === 0) return '0';
  return percent > 0 ? `+${formatCount(percent)}` : `−${formatCount(-percent)}`;
}

/** `+28 … +52 %`. */
export function intervalWords([low, high]: readonly [number, number]): string {
  return high >= 10
    ? `${changeWords(low)} … ${changeWords(high)}`
    : `${signed(low)} … ${signed(high)} %`;
}

/** `41 ms`; a percentile that falls on a lost delivery has no time. */
export const latencyOrLostWords = (us: number | null): string =>
  us === null ? 'lost' : latencyWords(us);

type Judged = Pick<Comparison, 'steps' | 'verdict' | 'tolerance'>;

/** The step that the sentence is about, else the last one. */
export const headlineStep = (comparison: Judged): ComparedStep | undefined =>
  possibleRegression(comparison)?.step ??
  comparison.steps.filter((step) => step.verdict === comparison.verdict).at(-1) ??
  comparison.steps.at(-1);

/** What decided: of the last step with the verdict the 99th percentile, else the one that changed most. */
interface Decisive {
  readonly step: ComparedStep;
  readonly key: ComparedKey;
  readonly percentile: ComparedPercentile;
}

export function decisivePercentile(
  steps: readonly ComparedStep[],
  verdict: Change,
): Decisive | undefined {
  const size = ({ ratio }: ComparedPercentile): number =>
    ratio === null ? Infinity : Math.abs(Math.log(ratio));
  return decisiveAmong(steps, ({ change }) => change === verdict, size);
}

function decisiveAmong(
  steps: readonly ComparedStep[],
  isOne: (percentile: ComparedPercentile) => boolean,
  size: (percentile: ComparedPercentile) => number,
): Decisive | undefined {
  const all = steps.flatMap((step) =>
    comparedKeys.flatMap((key) => {
      const percentile = step.latency[key];
      return percentile && isOne(percentile) ? [{ step, key, percentile }] : [];
    }),
  );
  const last = all.at(-1)?.step;
  const ofLast = all.filter(({ step }) => step === last);
  return (
    ofLast.find(({ key }) => key === 'p99') ??
    ofLast.sort((one, other) => size(other.percentile) - size(one.percentile))[0]
  );
}

/** `unshown`: the same within the tolerance, but measured too briefly to rule out more. */
export type ComparisonState = ComparisonVerdict | 'unshown';

export const comparisonState = (comparison: Judged): ComparisonState =>
  possibleRegression(comparison) === undefined ? comparison.verdict : 'unshown';

/** Of runs that are called the same: what may be worse by more than the tolerance, as far as its interval says. */
export function possibleRegression({ steps, verdict, tolerance }: Judged): Decisive | undefined {
  if (verdict !== 'same') return undefined;
  const high = ({ interval }: ComparedPercentile): number => interval?.[1] ?? 0;
  const isWide = (one: ComparedPercentile): boolean =>
    one.change === 'same' && high(one) > 1 + tolerance;
  return decisiveAmong(steps, isWide, high);
}

/** The change itself is sure, and smaller than what is tolerated. */
export const isRiseCertain = ({ interval }: ComparedPercentile): boolean =>
  interval !== null && interval[0] > 1;

/** What the sentence leaves: that of runs which cannot be compared has the first reason already. */
export const remainingComparisonReasons = ({
  verdict,
  reasons,
}: Pick<Comparison, 'verdict' | 'reasons'>) => (verdict === 'unlike' ? reasons.slice(1) : reasons);

export const measureLongerWords = (tolerance: number): Words =>
  tolerance > 0
    ? sentence('measure longer to see a change of {0}', formatShare(tolerance))
    : sentence('measure longer to see a smaller change');

type Told = Pick<Comparison, 'verdict' | 'steps' | 'reasons' | 'tolerance'>;

/** The sentence a person reads first: `✗ worse; step 3: p99 rose from 41 ms to 57 ms (+39 %, between +28 and +52 %; …)`. */
export function comparisonSentence(comparison: Told): string {
  const { sign, lead, rest } = headlineOf(comparison);
  return `${sign} ${say(lead)}; ${say(rest)}`;
}

/** The same in two sentences, for who shows them apart. */
export interface ComparisonSentences {
  readonly tone: 'good' | 'plain' | 'warn' | 'bad';
  readonly sign: string;
  readonly lead: string;
  readonly rest: string;
}

export function comparisonSentences(comparison: Told, t: Translate = english): ComparisonSentences {
  const { lead, rest, ...shown } = headlineOf(comparison);
  return { ...shown, lead: wholeSentence(lead, t), rest: wholeSentence(rest, t) };
}

const leads = {
  worse: { tone: 'bad', sign: '✗', lead: sentence('worse') },
  better: { tone: 'good', sign: '✓', lead: sentence('better') },
  same: { tone: 'good', sign: '✓', lead: sentence('the same') },
  unshown: { tone: 'plain', sign: '○', lead: sentence('no change could be shown') },
  unlike: { tone: 'warn', sign: '■', lead: sentence('cannot be compared') },
} as const satisfies Readonly<Record<ComparisonState, object>>;

function headlineOf(comparison: Told) {
  const { verdict, reasons } = comparison;
  const headline = leads[comparisonState(comparison)];
  if (verdict === 'unlike') {
    const first = reasons[0] ?? sentence('nothing was measured');
    const more = String(reasons.length - 1);
    const rest = reasons.length > 1 ? sentence('{0} (and {1} more)', first, more) : first;
    return { ...headline, rest };
  }
  const unshown = possibleRegression(comparison);
  if (unshown === undefined) return { ...headline, rest: whatChanged(comparison, verdict) };
  const beyond = sentence('no change beyond the tolerance could be shown');
  const lead = isRiseCertain(unshown.percentile) ? beyond : headline.lead;
  return { ...headline, lead, rest: unshownWords(unshown, comparison.tolerance) };
}

function unshownWords({ step, key, percentile }: Decisive, tolerance: number): Words {
  const times = [latencyOrLostWords(percentile.b), latencyOrLostWords(percentile.a)];
  const place = [formatCount(step.index), percentileName(key)];
  const chance = chanceWords(percentile, tolerance);
  const said = sentence('step {0}: {1} {2}, was {3} {4}', ...place, ...times, chance);
  return joinWords([said, measureLongerWords(tolerance)]);
}

function chanceWords({ ratio, interval }: ComparedPercentile, tolerance: number): Words {
  const [change, most] = [changeWords(ratio ?? 1), formatShare(tolerance)];
  if (interval === null) return sentence('({0}; tolerance {1})', change, most);
  const [low, high] = interval;
  const ends =
    high >= 10 ? [changeWords(low), changeWords(high)] : [signed(low), `${signed(high)} %`];
  return sentence('({0}, between {1} and {2}; tolerance {3})', change, ...ends, most);
}

function whatChanged({ steps, tolerance }: Omit<Judged, 'verdict'>, verdict: Change): Words {
  const loss = steps.filter(({ lostShare }) => lostShare.change === verdict).at(-1);
  if (loss && verdict !== 'same') {
    const { index, lost, lostShare } = loss;
    return sentence(
      'step {0}: {1} deliveries were lost ({2}), before {3} ({4})',
      ...[formatCount(index), formatCount(lost.b), formatShare(lostShare.b)],
      ...[formatCount(lost.a), formatShare(lostShare.a)],
    );
  }
  const rate = steps.filter(({ receivedPerSecond }) => receivedPerSecond.change === verdict).at(-1);
  const decisive = decisivePercentile(steps, verdict);
  if (decisive === undefined) {
    if (rate === undefined) return sentence('nothing has changed');
    const { a, b } = rate.receivedPerSecond;
    const rates = [formatCount(b, 1), formatCount(a, 1)];
    const text = 'step {0}: {1} deliveries a second, before {2}';
    return sentence(text, formatCount(rate.index), ...rates);
  }
  const { step, key, percentile } = decisive;
  const { a, b, ratio } = percentile;
  const place = [formatCount(step.index), percentileName(key)];
  const times = [latencyOrLostWords(a), latencyOrLostWords(b)];
  if (ratio === null) return sentence('step {0}: {1} was {2} and is {3}', ...place, ...times);
  const words = [...place, ...times, chanceWords(percentile, tolerance)];
  if (verdict === 'same') return sentence('step {0}: {1} was {2} and is {3} {4}', ...words);
  return ratio > 1
    ? sentence('step {0}: {1} rose from {2} to {3} {4}', ...words)
    : sentence('step {0}: {1} fell from {2} to {3} {4}', ...words);
}

export interface ComparisonRow {
  readonly name: string;
  readonly a: string;
  readonly b: string;
  readonly change: string;
  readonly interval: string;
  readonly verdict?: Change;
}

/** Before a change, so that colours are not needed to see it: latency that rises is worse. */
export const changeMarks: Readonly<Record<Change, string>> = {
  ...{ same: '', better: '▼ ', worse: '▲ ' },
};

const withoutWords: Readonly<Record<MissingIntervalReason, string>> = {
  short: 'too short a run',
  few: 'too few deliveries',
  lost: '',
};

export function comparisonRows(step: ComparedStep): ComparisonRow[] {
  return [
    ...comparedKeys.flatMap((key) => {
      const percentile = step.latency[key];
      return percentile ? [percentileRow(percentileName(key), percentile)] : [];
    }),
    rateRow('sent/s', step.sentPerSecond),
    rateRow('received/s', step.receivedPerSecond),
    lostRow(step),
    {
      name: 'CPU of the generator',
      ...{ a: formatShare(step.cpuShare.a), b: formatShare(step.cpuShare.b) },
      ...{ change: pointsWords(step.cpuShare), interval: '' },
    },
    ...sessionRows(step),
  ];
}

function sessionRows({ calls = [], sessions = [] }: ComparedStep): ComparisonRow[] {
  const shown = calls.slice(0, mostCalls);
  const entries = new Set([...shown, ...sessions].map(({ entry }) => entry));
  return [...entries].flatMap((entry) => [
    ...(entries.size > 1 && entry !== undefined ? [headRow(entry)] : []),
    ...shown.filter((call) => call.entry === entry).flatMap(callRows),
    ...sessions.filter((each) => each.entry === entry).flatMap(outcomeRows),
  ]);
}

const headRow = (name: string): ComparisonRow => ({ name, a: '', b: '', change: '', interval: '' });

function outcomeRows({
  started,
  completed,
  brokenOff,
  ...times
}: ComparedSessions): ComparisonRow[] {
  return [
    countRow('sessions started', started),
    countRow('sessions completed', completed),
    ...(brokenOff.a + brokenOff.b === 0 ? [] : [countRow('sessions broken off', brokenOff)]),
    ...timeRows('session duration', times),
  ];
}

const mostCalls = 100;
const longestName = 17;

/** Of what arrived, without an interval: over time only the latency of whole steps is kept. */
function callRows({ name, p50, p99, lost }: ComparedCall): ComparisonRow[] {
  const short = name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
  const times = timeRows(short, { ...(p50 && { p50 }), ...(p99 && { p99 }) });
  return lost.a + lost.b === 0 ? times : [...times, countRow(`${short} lost`, lost)];
}

const timeRows = (name: string, { p50, p99 }: Pick<ComparedCall, 'p50' | 'p99'>): ComparisonRow[] =>
  Object.entries({ p50, p99 }).flatMap(([key, times]) => {
    if (times === undefined) return [];
    const { a, b } = times;
    const change = changeWords(Math.max(1, b) / Math.max(1, a));
    const row = { a: latencyOrLostWords(a), b: latencyOrLostWords(b), change, interval: '' };
    return [{ name: `${name} ${key}`, ...row }];
  });

function countRow(name: string, { a, b }: ComparedNumber): ComparisonRow {
  const more = b - a;
  const change = `${more > 0 ? '+' : more < 0 ? '−' : ''}${formatCount(Math.abs(more))}`;
  return { name, a: formatCount(a), b: formatCount(b), change, interval: '' };
}

function percentileRow(name: string, percentile: ComparedPercentile): ComparisonRow {
  const { a, b, ratio, interval, without, change } = percentile;
  return {
    ...{ name, a: latencyOrLostWords(a), b: latencyOrLostWords(b) },
    change: ratio === null ? '' : changeWords(ratio),
    interval: interval ? intervalWords(interval) : without ? withoutWords[without] : '',
    ...(change && { verdict: change }),
  };
}

function rateRow(name: string, { a, b, change }: ComparedNumber): ComparisonRow {
  return {
    ...{ name, a: formatCount(a, 1), b: formatCount(b, 1), interval: '' },
    change: a > 0 ? changeWords(b / a) : '',
    ...(change && { verdict: change }),
  };
}

function lostRow({ lost, lostShare }: ComparedStep): ComparisonRow {
  return { ...countRow('lost', lost), ...(lostShare.change && { verdict: lostShare.change }) };
}

/** `+1 pt`: percentage points. */
function pointsWords({ a, b }: ComparedNumber): string {
  const points = 100 * (b - a);
  const size = Number(Math.abs(points).toFixed(Math.abs(points) < 10 ? 1 : 0));
  return size === 0 ? '0' : `${points > 0 ? '+' : '−'}${size} pt`;
}
