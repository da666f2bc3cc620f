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

/** The last step with the verdict of the whole, else the last one. */
export const decidingStep = ({
  steps,
  verdict,
}: Pick<Comparison, 'steps' | 'verdict'>): ComparedStep | undefined =>
  steps.filter((step) => step.verdict === verdict).at(-1) ?? steps.at(-1);

/** What decided: of the last step with the verdict the 99th percentile, else the one that changed most. */
interface Decisive {
  readonly step: ComparedStep;
  readonly key: ComparedKey;
  readonly percentile: ComparedPercentile;
}

export function decisiveOf(steps: readonly ComparedStep[], verdict: Change): Decisive | undefined {
  const all = steps.flatMap((step) =>
    comparedKeys.flatMap((key) => {
      const percentile = step.latency[key];
      return percentile?.change === verdict ? [{ step, key, percentile }] : [];
    }),
  );
  const last = all.at(-1)?.step;
  const ofLast = all.filter(({ step }) => step === last);
  const size = ({ percentile: { ratio } }: Decisive): number =>
    ratio === null ? Infinity : Math.abs(Math.log(ratio));
  return (
    ofLast.find(({ key }) => key === 'p99') ??
    ofLast.sort((one, other) => size(other) - size(one))[0]
  );
}

/** The sentence a person reads first: `✗ worse; step 3: p99 rose from 41 ms to 57 ms (+39 %, between +28 and +52 %; …)`. */
export function comparisonSentence(
  comparison: Pick<Comparison, 'verdict' | 'steps' | 'reasons' | 'tolerance'>,
): string {
  const { verdict, reasons } = comparison;
  if (verdict === 'unlike') {
    const more = reasons.length > 1 ? ` (and ${formatCount(reasons.length - 1)} more)` : '';
    return `■ cannot be compared; ${reasons[0] ?? 'nothing was measured'}${more}`;
  }
  return `${leads[verdict]}; ${whatChanged(comparison, verdict)}`;
}

const leads: Readonly<Record<Change, string>> = {
  worse: '✗ worse',
  better: '✓ better',
  same: '✓ the same',
};

function whatChanged(
  { steps, tolerance }: Pick<Comparison, 'steps' | 'tolerance'>,
  verdict: Change,
): string {
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
  const { a, b, ratio, interval } = percentile;
  const place = `step ${formatCount(step.index)}: ${percentileName(key)}`;
  if (ratio === null) return `${place} was ${comparedLatency(a)} and is ${comparedLatency(b)}`;
  const between = interval === null ? '' : `, ${betweenWords(interval)}`;
  const chance = `(${changeWords(ratio)}${between}; tolerance ${formatShare(tolerance)})`;
  if (verdict === 'same') {
    const wide = interval !== null && interval[1] > 1 + tolerance;
    const doubt = wide ? '; a smaller change than that cannot be seen in runs so short' : '';
    return `${place} ${comparedLatency(a)} and ${comparedLatency(b)} ${chance}${doubt}`;
  }
  const moved = ratio > 1 ? 'rose' : 'fell';
  return `${place} ${moved} from ${comparedLatency(a)} to ${comparedLatency(b)} ${chance}`;
}

function betweenWords([low, high]: readonly [number, number]): string {
  return high >= 10
    ? `between ${changeWords(low)} and ${changeWords(high)}`
    : `between ${signed(low)} and ${signed(high)} %`;
}
