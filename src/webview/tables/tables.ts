import { countOf, errorClasses } from '../../base/errorClass';
import { formatCount, formatShare } from '../../base/units';
import { countsLost, shownLatency } from '../../measure/judge/judgedLatency';
import type { GeneratorHealth, StepSummary, VerdictStatus } from '../../measure/show/summary';
import type { StepProgress } from '../../measure/show/snapshot';
import { tailReason } from '../../measure/tails';
import type { PanelStrings } from '../../protocol/panelStrings';
import { columnsOf } from '../charts/columns';
import { latestStep, problemOf, type ShownRun } from '../panelState';
import { decisiveStep } from './tiles';
import type { SeriesSpec, TimeChartSpec } from '../charts/timeCharts';
import { fill, latencyOrDash, latencyOrLost, rateWords, timeLabel, valueWords } from '../wording';

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

/** One row per step: of the result, or as last seen. */
export function stepsTable(state: ShownRun): TableView {
  const { strings, result, snapshots } = state;
  const heads = [
    strings.step,
    strings.sendersColumn,
    strings.sentColumn,
    strings.receivedColumn,
    'p50',
    'p99',
    'p99.9',
    'max',
    strings.lostColumn,
    strings.verdictColumn,
  ];
  if (result) {
    const rows = result.steps.map((step) => stepRow(step, strings));
    return { heads, rows, textColumns: [9], ...noteOf(result.steps, strings) };
  }
  const current = snapshots.at(-1)?.step?.index;
  const seen = lastSeen(state);
  const rows = seen.map((step) => {
    const over = step.over || step.index !== current;
    const verdict = step.verdict && verdictWord(step.verdict, strings);
    return [
      ...stepNumbers(step, strings),
      over ? formatCount(step.outstanding) : strings.noValue,
      verdict ?? (over ? strings.noValue : strings.verdictRunning),
    ];
  });
  return { heads, rows, textColumns: [9], ...noteOf(seen, strings) };
}

/** Why a dash stands where p99.9 belongs, and whether lost deliveries count in the percentiles. */
function noteOf(
  steps: readonly Pick<StepSummary, 'latencyUs' | 'judgedUs'>[],
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
  const { heads } = stepsTable(state);
  const steps = state.result?.steps ?? lastSeen(state);
  const rows = steps.flatMap((step) =>
    (step.entries ?? []).map((entry) => {
      const [index = '', ...numbers] = stepNumbers({ ...entry, index: step.index }, strings);
      const lost = 'lost' in entry ? entry.lost : isOver(step) ? entry.outstanding : undefined;
      const cell = lost === undefined ? strings.noValue : formatCount(lost);
      return [index, entry.name.slice(0, longestName), ...numbers, cell];
    }),
  );
  return {
    heads: [heads[0]!, strings.useCaseColumn, ...heads.slice(1, -1)],
    rows: rows.slice(-mostEntryRows),
    textColumns: [1],
    ...noteOf(
      steps.flatMap((step): readonly Pick<StepSummary, 'latencyUs'>[] => step.entries ?? []),
      strings,
    ),
  };
}

function stepRow(step: StepSummary, strings: PanelStrings): string[] {
  const numbers = stepNumbers(step, strings);
  return [...numbers, formatCount(step.lost), verdictWord(step.verdict.status, strings)];
}

type StepNumbers = Pick<
  StepSummary,
  'index' | 'senders' | 'sentPerSecond' | 'receivedPerSecond' | 'latencyUs' | 'judgedUs'
>;

/** Longest name of a use case that is shown; a file may hold anything. */
const longestName = 60;

const isOver = (step: StepSummary | StepProgress): boolean => !('over' in step) || step.over;

function verdictWord(status: VerdictStatus, strings: PanelStrings): string {
  const words = {
    pass: strings.verdictPass,
    fail: strings.verdictFail,
    invalid: strings.verdictInvalid,
    incomplete: strings.verdictIncomplete,
  };
  return words[status];
}

function stepNumbers(step: StepNumbers, strings: PanelStrings): string[] {
  const shown = shownLatency(step);
  return [
    formatCount(step.index),
    formatCount(step.senders),
    rateWords(step.sentPerSecond),
    rateWords(step.receivedPerSecond),
    ...[shown?.p50, shown?.p99, shown?.p999, shown?.max].map((us) => latencyOrLost(us, strings)),
  ];
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
