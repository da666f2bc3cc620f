import { totalErrors, sortErrorCounts } from '../../base/errorClass';
import { fill, trimEndCharacters } from '../../base/text';
import { formatCount } from '../../base/units';
import { shownPercentileUs } from '../latencySummary';
import type { StepProgress } from '../snapshot';
import type { CallSummary, SessionSummary, StepSummary } from '../summary';
import { latencyOrDash } from './chartWords';
import type { PanelStrings } from './panelStrings';
import { callNameWithCount, type StepRow } from './stepColumns';

type Step = StepSummary | StepProgress;

/** None where there are no sessions. What is outstanding is lost when the step is over. */
export function callRows(step: Step): StepRow[] {
  const { index, calls = [] } = step;
  const sessions = sessionRows(step);
  return calls.map(({ name: call, entry, errors, came, ...counts }) => {
    const { brokenOffAt = {} } = sessions.find(({ name }) => name === entry)?.sessions ?? {};
    const broken = Object.hasOwn(brokenOffAt, call) ? brokenOffAt[call]! : 0;
    const row = {
      ...{ index, call, errors: totalErrors(errors) },
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

/** One for each use case of a mix that has sessions, by its name; without a mix one. */
export function sessionRows({ index, entries = [], sessions }: Step): SessionRow[] {
  const apart = entries.flatMap(({ name, sessions: own }): SessionRow[] =>
    own === undefined ? [] : [{ index, name, sessions: own }],
  );
  if (apart.length > 0 || sessions === undefined) return apart;
  return [{ index, sessions }];
}

interface SessionRow extends StepRow {
  readonly sessions: SessionSummary;
}

/** `session 2, GetHistory`: with its use case where there are several. */
export const callLabel = (call: string, entry: string | undefined): string =>
  entry === undefined ? call : `${entry}, ${call}`;

/** The last step in which calls were made; before there is one, the last that has any. */
export function lastStepWithCalls<Any extends Pick<Step, 'calls'>>(
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
  readonly us: Readonly<Record<'p50' | 'p99' | 'max', number>>;
}

const shortestUs = 100;

export function callBars(rows: readonly StepRow[]): {
  bars: CallBar[];
  leastUs: number;
  mostUs: number;
} {
  const isMix = new Set(rows.map(({ name }) => name)).size > 1;
  const measured = rows.flatMap((row) =>
    row.latencyUs && row.latencyUs.count > 0
      ? [
          {
            name: callLabel(callNameWithCount(row) ?? '', isMix ? row.name : undefined),
            us: row.latencyUs,
          },
        ]
      : [],
  );
  const mostUs = measured.reduce((most, { us }) => Math.max(most, us.max), shortestUs * 10);
  const place = (us: number): number =>
    Math.min(1, Math.log(Math.max(us, shortestUs) / shortestUs) / Math.log(mostUs / shortestUs));
  const bars = measured.map(({ name, us: { p50, p99, max } }) => ({
    ...{ name, p50: place(p50), p99: place(p99), max: place(max), us: { p50, p99, max } },
  }));
  return { bars, leastUs: shortestUs, mostUs };
}

const mostPlaces = 10;

/** `2,000 started`, `1,998 completed`, `2 broken off at GetHistory`, …: what there is to say, each a part of a sentence. */
function outcomes(
  { started, completed, brokenOff, waiting = 0, brokenOffAt, durationUs }: SessionSummary,
  texts: PanelStrings,
  isOver: boolean,
): string[] {
  const places = Object.entries(brokenOffAt)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1]);
  const named = places.slice(0, mostPlaces);
  const others = brokenOff - named.reduce((sum, [, count]) => sum + count, 0);
  const going = started - completed - brokenOff - waiting;
  const time = (key: 'p50' | 'p99'): string =>
    latencyOrDash(shownPercentileUs(durationUs, key), texts.noValue);
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

/**
 * One sentence on the sessions of each step, and one on each call with errors: `GetHistory: 2 invocation: "history is
 * busy"`.
 */
export function sessionSentences(steps: readonly Step[], texts: PanelStrings): string[] {
  return steps.flatMap((step) => {
    const place = formatCount(step.index);
    return sessionParts(step, texts).flatMap(({ entry, parts, errors }) => [
      entry === undefined
        ? fill(texts.sessionsOfStep, place, parts)
        : fill(texts.sessionsOfEntry, place, entry, parts),
      ...errors.map(([call, words]) =>
        fill(texts.callErrors, place, callLabel(call, entry), words),
      ),
    ]);
  });
}

interface SessionPart {
  readonly entry?: string;
  readonly calls: readonly StepRow[];
  readonly parts: string;
  readonly errors: readonly (readonly [call: string, words: string])[];
}

export function sessionParts(step: Step, texts: PanelStrings): SessionPart[] {
  const isOver = !('over' in step) || step.over;
  const calls = callRows(step);
  const all = sessionRows(step);
  return all.map(({ name, sessions }) => {
    const isAll = all.length === 1;
    return {
      ...(!isAll && name !== undefined && { entry: name }),
      calls: calls.filter((call) => isAll || call.name === name),
      parts: outcomes(sessions, texts, isOver).join(', '),
      errors: (step.calls ?? []).filter(({ entry }) => isAll || entry === name).flatMap(errorsOf),
    };
  });
}

function errorsOf({ name, errors, errorText }: Pick<CallSummary, 'name' | 'errors' | 'errorText'>) {
  const counts = sortErrorCounts(errors);
  const words = counts.map(([of, count]) => `${formatCount(count)} ${of}`).join(', ');
  const example = errorText === undefined ? '' : `: "${trimEndCharacters(errorText, '. \t\r\n')}"`;
  return counts.length === 0 ? [] : [[name, words + example] as const];
}
