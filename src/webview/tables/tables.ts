import { countOf, errorClasses } from '../../base/errorClass';
import { formatCount, formatShare } from '../../base/units';
import { countsLost, type ShownLatency } from '../../measure/judge/judgedLatency';
import { latencyWords } from '../../base/objectives/words';
import type { StepProgress } from '../../measure/show/snapshot';
import {
  columnsOf as stepColumnsOf,
  columnText,
  tooFew,
  type StepColumn,
} from '../../measure/show/stepColumns';
import { entryRows, rowOfProgress, rowOfStep, type StepRow } from '../../measure/show/stepRows';
import type { GeneratorHealth } from '../../measure/show/summary';
import { tailReason } from '../../measure/tails';
import type { PanelStrings } from '../../protocol/panelStrings';
import { columnsOf } from '../charts/columns';
import { latestStep, problemOf, type ShownRun } from '../panelState';
import { decisiveStep } from './tiles';
import type { SeriesSpec, TimeChartSpec } from '../charts/timeCharts';
import { fill } from '../../base/objectives/words';
import { latencyOrDash, rateWords, timeLabel, valueWords } from '../wording';

/** A table of texts; `textColumns` are set from the left, the others from the right. */
export interface TableView {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly textColumns: readonly number[];
  readonly note?: string;
}

/** Most rows of a table beside a chart: a person reads it, a longer run is summed up. */
const mostRows = 120;

export function seriesLabel({ label }: SeriesSpec, strings: PanelStrings): string {
  return typeof label === 'string' ? label : strings[label.key];
}

/** The same numbers as the chart. */
export function chartTable(spec: TimeChartSpec, state: ShownRun): TableView {
  const { strings, snapshots } = state;
  const { seconds, lines, perPoint } = columnsOf(spec, snapshots, mostRows);
  const rows = seconds
    .map((second, at) => ({ second, values: lines.map((line) => line[at] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null))
    .map(({ second, values }) => [
      timeLabel(second),
      ...values.map((value) => (value === null ? strings.noValue : valueWords(spec.unit, value))),
    ]);
  return {
    heads: [strings.time, ...spec.series.map((series) => seriesLabel(series, strings))],
    rows,
    textColumns: [],
    ...chartNote(spec, state, perPoint > 1 ? formatCount(meanGap(seconds)) : undefined),
  };
}

function chartNote(
  { unit }: TimeChartSpec,
  { strings, snapshots }: ShownRun,
  everyS: string | undefined,
): Pick<TableView, 'note'> {
  const summaries = unit === 'latency' ? snapshots.map(({ interval }) => interval?.latencyUs) : [];
  const notes = [
    ...(everyS === undefined ? [] : [fill(strings.everySeconds, everyS)]),
    ...(tailReason(summaries) === undefined ? [] : [strings.tailNote]),
  ];
  return notes.length === 0 ? {} : { note: notes.join(' ') };
}

/** Seconds between points. Of a long run not each second has a snapshot, so these are not counted. */
const meanGap = (seconds: readonly number[]): number =>
  (seconds.at(-1)! - seconds[0]!) / Math.max(1, seconds.length - 1);

/** Each step as its last snapshot had it. */
function lastSeen({ snapshots }: ShownRun): StepProgress[] {
  const steps = new Map<number, StepProgress>();
  for (const { step } of snapshots) if (step) steps.set(step.index, step);
  return [...steps.values()];
}

/** The rows of steps: of the result, or as last seen. */
function stepRows(state: ShownRun): StepRow[] {
  const { result, snapshots } = state;
  if (result) return result.steps.map(rowOfStep);
  const current = snapshots.at(-1)?.step?.index;
  return lastSeen(state).map((step) => {
    const over = step.over || step.index !== current;
    return { ...rowOfProgress({ ...step, over }), ...(!over && { current: true }) };
  });
}

/** One row per step. */
export function stepsTable(state: ShownRun): TableView {
  const { strings } = state;
  const columns = stepColumnsOf('panel');
  const rows = stepRows(state);
  return {
    heads: columns.map((column) => headOf(column, strings)),
    rows: rows.map((row) => columns.map((column) => cellOf(column, row, strings))),
    textColumns: textColumnsOf(columns),
    ...noteOf(rows, strings),
  };
}

const headOf = ({ id, head }: StepColumn, strings: PanelStrings): string =>
  strings[columnText(id)] ?? head;

const textColumnsOf = (columns: readonly StepColumn[]): number[] =>
  columns.flatMap(({ unit }, at) => (unit === 'verdict' || unit === 'word' ? [at] : []));

function cellOf({ unit, value: valueOf }: StepColumn, row: StepRow, strings: PanelStrings): string {
  const value = valueOf(row);
  if (value === undefined || value === tooFew) return strings.noValue;
  if (value === null) return strings.isLost;
  if (typeof value === 'string') return unit === 'verdict' ? verdictWord(value, strings) : value;
  return unit === 'latency'
    ? latencyWords(value)
    : unit === 'perSecond'
      ? rateWords(value)
      : formatCount(value);
}

/** Why a dash stands where p99.9 belongs, and whether lost deliveries count in the percentiles. */
function noteOf(
  steps: readonly ShownLatency[],
  { tailNote, lostCounted }: PanelStrings,
): Pick<TableView, 'note'> {
  const missing = tailReason(steps.map(({ latencyUs }) => latencyUs)) !== undefined;
  const notes = [...(missing ? [tailNote] : []), ...(countsLost(steps) ? [lostCounted] : [])];
  return notes.length === 0 ? {} : { note: notes.join(' ') };
}

/** Most rows of the table of a mix: a long run shows its last steps. */
const mostEntryRows = 200;

/** One row per use case of a mix and step: of the result, or as last seen. Without rows for one use case. */
export function entriesTable(state: ShownRun): TableView {
  const { strings } = state;
  const columns = stepColumnsOf('panel', 'entries');
  const steps = state.result?.steps ?? lastSeen(state);
  const rows = steps.flatMap(entryRows);
  const [index = '', ...heads] = columns.map((column) => headOf(column, strings));
  return {
    heads: [index, strings.useCaseColumn, ...heads],
    rows: rows.slice(-mostEntryRows).map((row) => {
      const [place = '', ...cells] = columns.map((column) => cellOf(column, row, strings));
      return [place, (row.name ?? '').slice(0, longestName), ...cells];
    }),
    textColumns: [1, ...textColumnsOf(columns).map((at) => at + 1)],
    ...noteOf(rows, strings),
  };
}

/** Longest name of a use case that is shown; a file may hold anything. */
const longestName = 60;

function verdictWord(status: string, strings: PanelStrings): string {
  const words: Readonly<Record<string, string>> = {
    pass: strings.verdictPass,
    fail: strings.verdictFail,
    invalid: strings.verdictInvalid,
    incomplete: strings.verdictIncomplete,
    running: strings.verdictRunning,
  };
  return words[status] ?? status;
}

/** Longest error text shown; a server may send anything. */
const longestExample = 300;

/** Each class of error with its count, its meaning, and a text that was kept. Most frequent first. */
export function errorsTable(state: ShownRun): TableView {
  const { result, snapshots, strings } = state;
  const counts = result?.errors ?? snapshots.at(-1)?.errors ?? {};
  const rows = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([name, count]) => [
      name,
      formatCount(count),
      (errorClasses as Readonly<Record<string, string>>)[name] ?? strings.otherError,
      exampleOf(name, state).slice(0, longestExample),
    ]);
  const inWarmup = warmupErrors(state);
  return {
    heads: [strings.errorClass, strings.count, strings.meaning, strings.example],
    rows,
    textColumns: [0, 2, 3],
    ...(inWarmup > 0 && { note: fill(strings.warmupErrors, formatCount(inWarmup)) }),
  };
}

function warmupErrors(state: ShownRun): number {
  const { result } = state;
  const counts = result
    ? result.steps.map((step) => countOf(step.warmupErrors ?? {}))
    : lastSeen(state).map((step) => step.warmupErrors ?? 0);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Texts come with the result; that of a server of the run is known before. */
function exampleOf(name: string, state: ShownRun): string {
  const kept = state.result?.errorExamples.find(({ errorClass }) => errorClass === name);
  return kept?.text ?? (name === 'ownServer' ? problemOf(state) : '');
}

/** What the load generator itself had to do, in the last step. */
export function generatorTable(state: ShownRun): TableView {
  const { strings, snapshots } = state;
  const health: GeneratorHealth | undefined =
    decisiveStep(state)?.generator ?? latestStep(snapshots)?.generator;
  const dash = strings.noValue;
  const share = (value: number | undefined): string =>
    value === undefined ? dash : formatShare(value);
  return {
    heads: [],
    rows: [
      [strings.cpuShare, share(health?.cpuShare)],
      [strings.cpuPerMessage, latencyOrDash(health?.cpuUsPerMessage, dash)],
      // Nothing measured: a worker that sends all the time sets no timer that could be late.
      [strings.loopDelay, latencyOrDash(health?.loopDelayP99Us || undefined, dash)],
      [strings.slip, latencyOrDash(health?.slipP99Us, dash)],
      // Results of earlier versions have no such share.
      [strings.gcShare, share(health?.gcShare)],
      [strings.keptSchedule, health ? (health.valid ? strings.yes : strings.no) : dash],
    ],
    textColumns: [0],
  };
}
