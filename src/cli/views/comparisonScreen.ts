import { formatCount } from '../../base/units';
import type { ComparedStep, Comparison } from '../../measure/compare/comparison';
import {
  changeMarks,
  comparisonRows,
  type ComparisonRow,
  remainingComparisonReasons,
  comparisonState,
  type ComparisonState,
} from '../../measure/compare/comparisonWords';
import { wrapped, type Line, type Tone } from './line';

const tones: Readonly<Record<ComparisonState, Tone>> = {
  same: 'good',
  unshown: 'bold',
  better: 'good',
  worse: 'bad',
  unlike: 'warn',
};
export const comparisonTone = (comparison: Comparison): Tone => tones[comparisonState(comparison)];
const mostSteps = 10;
const mostReasons = 10;
const mostDifferences = 20;
const mostCharacters = 60;
const blank: Line = { text: '' };

export function comparisonScreen(comparison: Comparison, width: number): Line[] {
  const columns = Math.max(40, Math.min(width, 100));
  const { a, b, sentence, steps } = comparison;
  const left = remainingComparisonReasons(comparison);
  const earlier = steps.length - mostSteps;
  return [
    { text: `a: ${a.id}`, tone: 'dim' },
    { text: `b: ${b.id}`, tone: 'dim' },
    blank,
    ...wrapped(sentence, columns, '  ', comparisonTone(comparison)),
    ...left.slice(0, mostReasons).flatMap((reason) => wrapped(`  - ${reason}`, columns, '    ')),
    ...moreLines(left.length - mostReasons, '  - '),
    blank,
    ...moreLines(earlier, '', 'earlier steps'),
    ...steps.slice(-mostSteps).flatMap(stepLines),
    ...differenceLines(comparison, columns),
  ];
}

const moreLines = (count: number, lead: string, what = 'more'): Line[] =>
  count > 0 ? [{ text: `${lead}… ${formatCount(count)} ${what}`, tone: 'dim' }] : [];

function stepLines(step: ComparedStep): Line[] {
  const { index, senders } = step;
  const place = `step ${formatCount(index)}, ${formatCount(senders)} ${senders === 1 ? 'sender' : 'senders'}`;
  const head = `${place.padEnd(24)}${'a'.padStart(12)}${'b'.padStart(12)}${'change'.padStart(12)}  95 % interval`;
  return [{ text: head, tone: 'dim' }, ...comparisonRows(step).map(rowLine), blank];
}

function rowLine({ name, a, b, change, interval, verdict }: ComparisonRow): Line {
  const mark = verdict === undefined ? '' : changeMarks[verdict];
  const text = `  ${name.padEnd(22)}${a.padStart(12)}${b.padStart(12)}${(mark + change).padStart(12)}  ${interval}`;
  const tone: Tone | undefined =
    verdict === 'worse' ? 'bad' : verdict === 'better' ? 'good' : undefined;
  return { text, ...(tone && { tone }) };
}

function differenceLines({ differences }: Comparison, columns: number): Line[] {
  if (differences.length === 0)
    return [{ text: 'scenario, target, tool and machine are the same' }];
  const short = (text: string): string =>
    text.length > mostCharacters ? `${text.slice(0, mostCharacters - 1)}…` : text;
  return [
    { text: 'what differs', tone: 'bold' },
    ...differences
      .slice(0, mostDifferences)
      .flatMap(({ what, a, b }) =>
        wrapped(`  ${what}: ${short(a)} → ${short(b)}`, columns, '    '),
      ),
    ...moreLines(differences.length - mostDifferences, '  '),
  ];
}
