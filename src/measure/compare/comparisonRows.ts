/** A compared step as rows of a table, the same in the terminal, in Markdown and in the panel. */
import { formatCount, formatShare } from '../../base/units';
import {
  comparedKeys,
  type Change,
  type ComparedCall,
  type ComparedNumber,
  type ComparedPercentile,
  type ComparedSessions,
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
    ...sessionRows(step),
  ];
}

/** Calls and sessions, those of each use case of a mix below a row with its name. */
function sessionRows({ calls = [], sessions = [] }: ComparedStep): ComparedRow[] {
  const shown = calls.slice(0, mostCalls);
  const entries = new Set([...shown, ...sessions].map(({ entry }) => entry));
  return [...entries].flatMap((entry) => [
    ...(entries.size > 1 && entry !== undefined ? [headRow(entry)] : []),
    ...shown.filter((call) => call.entry === entry).flatMap(callRows),
    ...sessions.filter((each) => each.entry === entry).flatMap(outcomeRows),
  ]);
}

const headRow = (name: string): ComparedRow => ({ name, a: '', b: '', change: '', interval: '' });

function outcomeRows({ started, completed, brokenOff, ...times }: ComparedSessions): ComparedRow[] {
  return [
    countRow('sessions started', started),
    countRow('sessions completed', completed),
    ...(brokenOff.a + brokenOff.b === 0 ? [] : [countRow('sessions broken off', brokenOff)]),
    ...timeRows('session duration', times),
  ];
}

const mostCalls = 100;
/** Longest name of a call in a row. */
const longestName = 17;

/** Of what arrived, without an interval: over time only the latency of whole steps is kept. */
function callRows({ name, p50, p99, lost }: ComparedCall): ComparedRow[] {
  const short = name.length > longestName ? `${name.slice(0, longestName - 1)}…` : name;
  const times = timeRows(short, { ...(p50 && { p50 }), ...(p99 && { p99 }) });
  return lost.a + lost.b === 0 ? times : [...times, countRow(`${short} lost`, lost)];
}

const timeRows = (name: string, { p50, p99 }: Pick<ComparedCall, 'p50' | 'p99'>): ComparedRow[] =>
  Object.entries({ p50, p99 }).flatMap(([key, times]) => {
    if (times === undefined) return [];
    const { a, b } = times;
    const change = changeWords(Math.max(1, b) / Math.max(1, a));
    const row = { a: comparedLatency(a), b: comparedLatency(b), change, interval: '' };
    return [{ name: `${name} ${key}`, ...row }];
  });

function countRow(name: string, { a, b }: ComparedNumber): ComparedRow {
  const more = b - a;
  const change = `${more > 0 ? '+' : more < 0 ? '−' : ''}${formatCount(Math.abs(more))}`;
  return { name, a: formatCount(a), b: formatCount(b), change, interval: '' };
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
  return { ...countRow('lost', lost), ...(lostShare.change && { verdict: lostShare.change }) };
}

/** `+1 pt`: percentage points. */
function pointsWords({ a, b }: ComparedNumber): string {
  const points = 100 * (b - a);
  const size = Number(Math.abs(points).toFixed(Math.abs(points) < 10 ? 1 : 0));
  return size === 0 ? '0' : `${points > 0 ? '+' : '−'}${size} pt`;
}
