/** The calls of sessions: rows, columns, bars and sentences that every shell shares. */
import { countOf, sortedCounts } from '../../base/errorClass';
import { fill } from '../../base/objectives/limitWords';
import { withoutEnd } from '../../base/text';
import { formatCount } from '../../base/units';
import { latencyAt } from '../latencySummary';
import type { StepProgress } from '../snapshot';
import type { SessionSummary, StepSummary } from '../summary';
import { latencyOrDash } from './chartWords';
import { callName, type StepRow } from './stepColumns';

type Step = StepSummary | StepProgress;

/** None where there are no sessions. What is outstanding is lost when the step is over. */
export function callRows(step: Step): StepRow[] {
  const { index, calls = [] } = step;
  return calls.map(({ name: call, entry, errors, came, ...counts }) => {
    const { brokenOffAt = {} } = sessionsOf(step, entry) ?? {};
    const broken = Object.hasOwn(brokenOffAt, call) ? brokenOffAt[call]! : 0;
    const row = {
      ...{ index, call, errors: countOf(errors) },
      ...(entry !== undefined && { name: entry }),
      ...(broken > 0 && { brokenOff: broken }),
    };
    // Callbacks of a replay: nobody sends or expects them.
    if (came !== undefined) {
      const { recorded } = counts;
      return { ...row, ...(recorded !== undefined && { recorded }), received: came };
    }
    if ('lost' in counts) return { ...row, ...counts };
    const { outstanding, ...rest } = counts;
    return { ...row, ...rest, ...('over' in step && step.over && { lost: outstanding }) };
  });
}

/** Of one use case of a mix, where that is known: two may have calls of one name. */
function sessionsOf({ entries, sessions }: Step, entry?: string): SessionSummary | undefined {
  if (entry === undefined) return sessions;
  const own = entries?.find(({ name }) => name === entry);
  return own && 'sessions' in own ? own.sessions : undefined;
}

/** The last step in which calls were made; before there is one, the last that has any. */
export function stepOfCalls<Any extends Pick<Step, 'calls'>>(
  steps: readonly Any[],
): Any | undefined {
  const some = steps.filter(({ calls = [] }) => calls.length > 0);
  return some.filter(({ calls = [] }) => calls.some(({ sent }) => sent > 0)).at(-1) ?? some.at(-1);
}

/** Latency of a call on an axis that all have in common, logarithmic, 0…1. */
export interface CallBar {
  readonly name: string;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** In microseconds. */
  readonly us: Readonly<Record<'p50' | 'p99' | 'max', number>>;
}

/** What is faster makes no difference to anybody. */
const shortestUs = 100;

/** Of those that have a latency. */
export function callBars(rows: readonly StepRow[]): {
  bars: CallBar[];
  leastUs: number;
  mostUs: number;
} {
  const measured = rows.flatMap((row) =>
    row.latencyUs && row.latencyUs.count > 0
      ? [{ name: callName(row) ?? '', us: row.latencyUs }]
      : [],
  );
  const mostUs = measured.reduce((most, { us }) => Math.max(most, us.max), shortestUs * 10);
  const place = (us: number): number =>
    Math.min(1, Math.max(0, Math.log(us / shortestUs) / Math.log(mostUs / shortestUs)));
  const bars = measured.map(({ name, us: { p50, p99, max } }) => ({
    ...{ name, p50: place(p50), p99: place(p99), max: place(max), us: { p50, p99, max } },
  }));
  return { bars, leastUs: shortestUs, mostUs };
}

type SessionText =
  | 'sessionsStarted'
  | 'sessionsCompleted'
  | 'sessionsBrokenOff'
  | 'sessionsWaiting'
  | 'sessionsGoing'
  | 'sessionsTime';

/** Places where sessions broke off that are named. */
const mostPlaces = 10;

/** `2,000 started`, `1,998 completed`, `2 broken off at GetHistory`, …: what there is to say, each a part of a sentence. */
export function sessionParts(
  { started, completed, brokenOff, waiting = 0, brokenOffAt, durationUs }: SessionSummary,
  texts: Readonly<Record<SessionText | 'noValue', string>>,
  isOver = true,
): string[] {
  const places = Object.entries(brokenOffAt)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
  const named = places.slice(0, mostPlaces);
  const others = brokenOff - named.reduce((sum, [, count]) => sum + count, 0);
  const going = started - completed - brokenOff - waiting;
  const time = (key: 'p50' | 'p99'): string =>
    latencyOrDash(latencyAt(durationUs, key), texts.noValue);
  return [
    fill(texts.sessionsStarted, formatCount(started)),
    fill(texts.sessionsCompleted, formatCount(completed)),
    ...named.map(([call, count]) => fill(texts.sessionsBrokenOff, formatCount(count), call)),
    ...(others > 0 ? [fill(texts.sessionsBrokenOff, formatCount(others), '…')] : []),
    ...(isOver && waiting > 0 ? [fill(texts.sessionsWaiting, formatCount(waiting))] : []),
    ...(isOver && going > 0 ? [fill(texts.sessionsGoing, formatCount(going))] : []),
    ...(durationUs.count > 0 ? [fill(texts.sessionsTime, time('p50'), time('p99'))] : []),
  ];
}

/** Of each step one sentence on its sessions, and one on each of its calls that had errors: `GetHistory: 2 invocation: "history is busy"`. */
export function sessionSentences(
  steps: readonly Step[],
  texts: Readonly<Record<SessionText | 'noValue' | 'sessionsOfStep' | 'callErrors', string>>,
): string[] {
  return steps.flatMap((step) => {
    const { index, sessions } = step;
    if (sessions === undefined) return [];
    const isOver = !('over' in step) || step.over;
    const parts = sessionParts(sessions, texts, isOver).join(', ');
    const place = formatCount(index);
    return [
      fill(texts.sessionsOfStep, place, parts),
      ...callErrors(step).map(([call, words]) => fill(texts.callErrors, place, call, words)),
    ];
  });
}

/** `['GetHistory', '2 invocation: "history is busy"']` of each call that had errors. */
export const callErrors = ({ calls = [] }: Step): [call: string, words: string][] =>
  calls.flatMap(({ name, errors, errorText }): [string, string][] => {
    const counts = sortedCounts(errors);
    const words = counts.map(([of, count]) => `${formatCount(count)} ${of}`).join(', ');
    const example = errorText === undefined ? '' : `: "${withoutEnd(errorText, '. \t\r\n')}"`;
    return counts.length === 0 ? [] : [[name, words + example]];
  });
