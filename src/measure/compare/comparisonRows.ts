/** A compared step as rows of a table, the same in the terminal, in Markdown and in the panel. */
import { formatCount, formatShare } from '../../base/units';
import {
  comparedKeys,
  type Change,
  type ComparedNumber,
  type ComparedPercentile,
  type ComparedStep,
  type NoInterval,
} from './comparison';
import { changeWords, comparedLatency, intervalWords, percentileName } from './comparisonWords';

export interface ComparedRow {
  readonly name: string;
  readonly a: string;
  readonly b: string;
  /** Empty where nothing can be said of it. */
  readonly change: string;
  /** Empty where there is none. */
  readonly interval: string;
  /** Absent where it is only shown. */
  readonly verdict?: Change;
}

/** Before a change, so that colours are not needed to see it: latency that rises is worse. */
export const changeMarks: Readonly<Record<Change, string>> = {
  ...{ same: '', better: '▼ ', worse: '▲ ' },
};

const withoutWords: Readonly<Record<NoInterval, string>> = {
  short: 'too short a run',
  few: 'too few deliveries',
  lost: '',
};

export function comparedRows(step: ComparedStep): ComparedRow[] {
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
  ];
}

function percentileRow(name: string, percentile: ComparedPercentile): ComparedRow {
  const { a, b, ratio, interval, without, change } = percentile;
  return {
    ...{ name, a: comparedLatency(a), b: comparedLatency(b) },
    change: ratio === null ? '' : changeWords(ratio),
    interval: interval ? intervalWords(interval) : without ? withoutWords[without] : '',
    ...(change && { verdict: change }),
  };
}

function rateRow(name: string, { a, b, change }: ComparedNumber): ComparedRow {
  return {
    ...{ name, a: formatCount(a, 1), b: formatCount(b, 1), interval: '' },
    change: a > 0 ? changeWords(b / a) : '',
    ...(change && { verdict: change }),
  };
}

function lostRow({ lost, lostShare }: ComparedStep): ComparedRow {
  const more = lost.b - lost.a;
  const change = `${more > 0 ? '+' : more < 0 ? '−' : ''}${formatCount(Math.abs(more))}`;
  return {
    ...{ name: 'lost', a: formatCount(lost.a), b: formatCount(lost.b), change, interval: '' },
    ...(lostShare.change && { verdict: lostShare.change }),
  };
}

/** `+1 pt`: percentage points. */
function pointsWords({ a, b }: ComparedNumber): string {
  const points = 100 * (b - a);
  const size = Number(Math.abs(points).toFixed(Math.abs(points) < 10 ? 1 : 0));
  return size === 0 ? '0' : `${points > 0 ? '+' : '−'}${size} pt`;
}
