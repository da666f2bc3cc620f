import { fill } from '../../base/objectives/limitWords';
import { formatCount, formatShare } from '../../base/units';
import type { Comparison } from './comparison';
import {
  changeWords,
  comparedLatency,
  decisiveOf,
  intervalWords,
  isSureOfLess,
  percentileName,
  stateOf,
  unshownOf,
  type ComparisonState,
} from './comparisonWords';

/** Texts of the sentence in the language of who reads it; `{0}`, `{1}` … stand for what is filled in. */
type ComparisonTexts = Readonly<
  Record<
    | ComparisonState
    | 'unshownBeyond'
    | 'rose'
    | 'fell'
    | 'stayed'
    | 'unseen'
    | 'nowLost'
    | 'lossChanged'
    | 'rateChanged'
    | 'nothingChanged'
    | 'noValue',
    string
  >
>;

export interface ComparisonSentence {
  readonly tone: 'good' | 'plain' | 'warn' | 'bad';
  readonly sign: string;
  readonly lead: string;
  readonly rest: string;
}

const tones: Readonly<Record<ComparisonState, readonly [ComparisonSentence['tone'], string]>> = {
  worse: ['bad', '✗'],
  better: ['good', '✓'],
  same: ['good', '✓'],
  unshown: ['plain', '○'],
  unlike: ['warn', '■'],
};

/** `Worse. In step 3 p99 rose from 41 ms to 57 ms (+39 %, 95 % interval +28 … +52 %); the tolerance is 10 %.` */
export function comparisonSentenceOf(
  comparison: Comparison,
  strings: ComparisonTexts,
): ComparisonSentence {
  const state = stateOf(comparison);
  const unshown = unshownOf(comparison)?.percentile;
  const lead = unshown && isSureOfLess(unshown) ? strings.unshownBeyond : strings[state];
  const [tone, sign] = tones[state];
  return { tone, sign, lead, rest: restOf(comparison, strings) };
}

function restOf(comparison: Comparison, strings: ComparisonTexts): string {
  const { verdict, reasons, steps, tolerance } = comparison;
  if (verdict === 'unlike') return reasons[0] ?? '';
  const loss = steps.filter(({ lostShare }) => lostShare.change === verdict).at(-1);
  if (verdict !== 'same' && loss) {
    const { index, lost, lostShare } = loss;
    const now = [formatCount(lost.b), formatShare(lostShare.b)] as const;
    return fill(strings.lossChanged, formatCount(index), ...now, formatCount(lost.a));
  }
  const unshown = unshownOf(comparison);
  const decisive = unshown ?? decisiveOf(steps, verdict);
  if (decisive === undefined) {
    const rate = steps.filter((step) => step.receivedPerSecond.change === verdict).at(-1);
    if (rate === undefined) return strings.nothingChanged;
    const { a, b } = rate.receivedPerSecond;
    const rates = [formatCount(b, 1), formatCount(a, 1)] as const;
    return fill(strings.rateChanged, formatCount(rate.index), ...rates);
  }
  const { a, b, ratio, interval } = decisive.percentile;
  const words = [
    formatCount(decisive.step.index),
    percentileName(decisive.key),
    ...[comparedLatency(a), comparedLatency(b)],
  ];
  if (ratio === null) return fill(strings.nowLost, ...words);
  const stayed = unshown ? strings.unseen : strings.stayed;
  const moved = verdict === 'same' ? stayed : ratio > 1 ? strings.rose : strings.fell;
  const chance = interval === null ? strings.noValue : intervalWords(interval);
  return fill(moved, ...words, changeWords(ratio), chance, formatShare(tolerance));
}
