/** How a comparison is said, in English. */
import { latencyWords } from '../../base/objectives/limitWords';
import { formatCount, formatShare } from '../../base/units';
import {
  comparedKeys,
  type Change,
  type ComparedKey,
  type ComparedPercentile,
  type ComparedStep,
  type Comparison,
  type ComparisonVerdict,
} from './comparison';

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
export const comparedLatency = (us: number | null): string =>
  us === null ? 'lost' : latencyWords(us);

type Judged = Pick<Comparison, 'steps' | 'verdict' | 'tolerance'>;

/** The step that the sentence is about, else the last one. */
export const decidingStep = (comparison: Judged): ComparedStep | undefined =>
  unshownOf(comparison)?.step ??
  comparison.steps.filter((step) => step.verdict === comparison.verdict).at(-1) ??
  comparison.steps.at(-1);

/** What decided: of the last step with the verdict the 99th percentile, else the one that changed most. */
interface Decisive {
  readonly step: ComparedStep;
  readonly key: ComparedKey;
  readonly percentile: ComparedPercentile;
}

export function decisiveOf(steps: readonly ComparedStep[], verdict: Change): Decisive | undefined {
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

/** What people are shown: runs called the same may be so alike, or measured too briefly to say more. */
export type ComparisonState = ComparisonVerdict | 'unshown';

export const stateOf = (comparison: Judged): ComparisonState =>
  unshownOf(comparison) === undefined ? comparison.verdict : 'unshown';

/** Of runs that are called the same: what may be worse by more than the tolerance, as far as its interval says. */
export function unshownOf({ steps, verdict, tolerance }: Judged): Decisive | undefined {
  if (verdict !== 'same') return undefined;
  const high = ({ interval }: ComparedPercentile): number => interval?.[1] ?? 0;
  const isWide = (one: ComparedPercentile): boolean =>
    one.change === 'same' && high(one) > 1 + tolerance;
  return decisiveAmong(steps, isWide, high);
}

/** The change itself is sure, and smaller than what is tolerated. */
export const isSureOfLess = ({ interval }: ComparedPercentile): boolean =>
  interval !== null && interval[0] > 1;

/** What the sentence leaves: that of runs which cannot be compared has the first reason already. */
export const otherReasons = ({ verdict, reasons }: Pick<Comparison, 'verdict' | 'reasons'>) =>
  verdict === 'unlike' ? reasons.slice(1) : reasons;

/** `measure longer to see a change of 10 %`. */
export const longerWords = (tolerance: number): string =>
  `measure longer to see a ${tolerance > 0 ? `change of ${formatShare(tolerance)}` : 'smaller change'}`;

/** The sentence a person reads first: `✗ worse; step 3: p99 rose from 41 ms to 57 ms (+39 %, between +28 and +52 %; …)`. */
export function comparisonSentence(
  comparison: Pick<Comparison, 'verdict' | 'steps' | 'reasons' | 'tolerance'>,
): string {
  const { verdict, reasons } = comparison;
  if (verdict === 'unlike') {
    const more = reasons.length > 1 ? ` (and ${formatCount(reasons.length - 1)} more)` : '';
    return `■ cannot be compared; ${reasons[0] ?? 'nothing was measured'}${more}`;
  }
  const unshown = unshownOf(comparison);
  return unshown === undefined
    ? `${leads[verdict]}; ${whatChanged(comparison, verdict)}`
    : unshownSentence(unshown, comparison.tolerance);
}

function unshownSentence({ step, key, percentile }: Decisive, tolerance: number): string {
  const { a, b } = percentile;
  const beyond = isSureOfLess(percentile) ? ' beyond the tolerance' : '';
  const place = `step ${formatCount(step.index)}: ${percentileName(key)}`;
  return `○ no change${beyond} could be shown; ${place} ${comparedLatency(b)}, was ${comparedLatency(a)} ${chanceWords(percentile, tolerance)}; ${longerWords(tolerance)}`;
}

function chanceWords({ ratio, interval }: ComparedPercentile, tolerance: number): string {
  const between = interval === null ? '' : `, ${betweenWords(interval)}`;
  return `(${changeWords(ratio ?? 1)}${between}; tolerance ${formatShare(tolerance)})`;
}

const leads: Readonly<Record<Change, string>> = {
  worse: '✗ worse',
  better: '✓ better',
  same: '✓ the same',
};

function whatChanged({ steps, tolerance }: Omit<Judged, 'verdict'>, verdict: Change): string {
  const loss = steps.filter(({ lostShare }) => lostShare.change === verdict).at(-1);
  if (loss && verdict !== 'same') {
    const { lost, lostShare } = loss;
    return `step ${formatCount(loss.index)}: ${formatCount(lost.b)} deliveries were lost (${formatShare(lostShare.b)}), before ${formatCount(lost.a)} (${formatShare(lostShare.a)})`;
  }
  const rate = steps.filter(({ receivedPerSecond }) => receivedPerSecond.change === verdict).at(-1);
  const decisive = decisiveOf(steps, verdict);
  if (decisive === undefined) {
    if (rate === undefined) return 'nothing has changed';
    const { a, b } = rate.receivedPerSecond;
    return `step ${formatCount(rate.index)}: ${formatCount(b, 1)} deliveries a second, before ${formatCount(a, 1)}`;
  }
  const { step, key, percentile } = decisive;
  const { a, b, ratio } = percentile;
  const place = `step ${formatCount(step.index)}: ${percentileName(key)}`;
  if (ratio === null) return `${place} was ${comparedLatency(a)} and is ${comparedLatency(b)}`;
  const chance = chanceWords(percentile, tolerance);
  if (verdict === 'same')
    return `${place} ${comparedLatency(a)} and ${comparedLatency(b)} ${chance}`;
  const moved = ratio > 1 ? 'rose' : 'fell';
  return `${place} ${moved} from ${comparedLatency(a)} to ${comparedLatency(b)} ${chance}`;
}

function betweenWords([low, high]: readonly [number, number]): string {
  return high >= 10
    ? `between ${changeWords(low)} and ${changeWords(high)}`
    : `between ${signed(low)} and ${signed(high)} %`;
}
