import { fill } from '../base/objectives/limitWords';
import { formatCount, formatShare } from '../base/units';
import type { Comparison, ComparisonVerdict } from '../measure/compare/comparison';
import {
  changeWords,
  comparedLatency,
  decisiveOf,
  intervalWords,
  percentileName,
} from '../measure/compare/comparisonWords';
import type { ComparisonStrings } from '../protocol/comparisonStrings';

export interface ComparisonSentence {
  readonly tone: 'good' | 'warn' | 'bad';
  readonly sign: string;
  readonly lead: string;
  readonly rest: string;
}

const tones: Readonly<Record<ComparisonVerdict, readonly [ComparisonSentence['tone'], string]>> = {
  worse: ['bad', '✗'],
  better: ['good', '✓'],
  same: ['good', '✓'],
  unlike: ['warn', '■'],
};

/** `Worse. In step 3 p99 rose from 41 ms to 57 ms (+39 %, 95 % interval +28 … +52 %); the tolerance is 10 %.` */
export function comparisonSentenceOf(
  comparison: Comparison,
  strings: ComparisonStrings,
): ComparisonSentence {
  const { verdict } = comparison;
  const [tone, sign] = tones[verdict];
  return { tone, sign, lead: strings[verdict], rest: restOf(comparison, strings) };
}

function restOf(
  { verdict, reasons, steps, tolerance }: Comparison,
  strings: ComparisonStrings,
): string {
  if (verdict === 'unlike') return reasons[0] ?? '';
  const loss = steps.filter(({ lostShare }) => lostShare.change === verdict).at(-1);
  if (verdict !== 'same' && loss) {
    const { index, lost, lostShare } = loss;
    const now = [formatCount(lost.b), formatShare(lostShare.b)] as const;
    return fill(strings.lossChanged, formatCount(index), ...now, formatCount(lost.a));
  }
  const decisive = decisiveOf(steps, verdict);
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
  const moved = verdict === 'same' ? strings.stayed : ratio > 1 ? strings.rose : strings.fell;
  const chance = interval === null ? strings.noValue : intervalWords(interval);
  return fill(moved, ...words, changeWords(ratio), chance, formatShare(tolerance));
}
