/** The tables of a run with what is said beside them: made once, and drawn by every shell in its own way. */
import { groupedBy } from '../../base/collect';
import { connectPhases } from '../../base/endpoint';
import { countOf, type ErrorCounts } from '../../base/errorClass';
import { fill } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import { comparedLatency, percentileName } from '../compare/comparisonWords';
import { repeatRows, type RepeatedStep } from '../compare/repeats';
import { cameEarly, countsLost, hidesTail, type ShownLatency } from '../latencySummary';
import type { Observed } from '../observed';
import { agentSentences, agentTable } from '../show/agentTable';
import { callRows, sessionSentences } from '../show/callTable';
import { latencyOrDash, rateWords } from '../show/chartWords';
import { thisMachineNote } from '../show/latenessWords';
import { findingSentence, observedTable } from '../show/observedWords';
import { errorTable, rowTable, type TextTable } from '../show/panelTables';
import type { PanelStrings } from '../show/panelStrings';
import {
  entryRows,
  pushedRows,
  rowOfProgress,
  rowOfStep,
  trafficRows,
  type StepRow,
} from '../show/stepColumns';
import type { StepProgress } from '../snapshot';
import type {
  AgentProgress,
  ConnectionSummary,
  ConnectTimes,
  DroppedConnection,
  ErrorExample,
  LifeSummary,
  Quantiles,
  Recovery,
  StepSummary,
} from '../summary';

export interface ReportTable extends TextTable {
  readonly title: string;
  /** About its rows, or what is not among them. */
  readonly notes: readonly string[];
  readonly sentences: readonly string[];
}

/** What is known of a run, while it goes on or when it is over. */
export interface ReportedRun {
  readonly steps: readonly (StepSummary | StepProgress)[];
  /** The step that goes on. */
  readonly current?: number;
  readonly connections?: ConnectionSummary;
  readonly repeats?: readonly RepeatedStep[];
  readonly observed?: Observed;
  readonly agents?: readonly AgentProgress[];
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorExample[];
}

/** @param most rows, of which there may be more in a long run or a file from elsewhere */
type Report = (run: ReportedRun, texts: PanelStrings, most: number) => ReportTable;

/** In the order in which they are shown. Those without rows and sentences are left out. */
export const reports = {
  steps: stepReport,
  repeats: repeatReport,
  entries: entryReport,
  calls: callReport,
  pushed: pushedReport,
  server: serverReport,
  agents: agentReport,
  traffic: trafficReport,
  connections: connectionReport,
  errors: errorReport,
} as const satisfies Readonly<Record<string, Report>>;

const table = (title: string, parts: TextTable & Partial<ReportTable>): ReportTable => ({
  ...{ notes: [], sentences: [], ...parts, title },
});

export const isEmpty = ({ rows, sentences }: ReportTable): boolean =>
  rows.length + sentences.length === 0;

/** Of sentences that a file may have any number of. */
const mostSentences = 20;

type NotedStep = ShownLatency & Pick<StepRow, 'index' | 'generator'>;

/** Why a dash stands where p99.9 belongs, whether lost deliveries count in the percentiles, and what of them is this machine's. */
export function stepNotes(steps: readonly NotedStep[], texts: PanelStrings): string[] {
  const ours = thisMachineNote(steps, texts['lateness.ofStep']);
  return [
    ...(hidesTail(steps.map(({ latencyUs }) => latencyUs)) ? [texts.tailNote] : []),
    ...(countsLost(steps) ? [texts.lostCounted] : []),
    ...(cameEarly(steps) ? [texts.cameEarly] : []),
    ...(ours === undefined ? [] : [`${ours}.`]),
  ];
}

function stepReport({ steps, current }: ReportedRun, texts: PanelStrings, most: number) {
  const rows = steps
    .slice(-most)
    .map((step) =>
      'over' in step
        ? { ...rowOfProgress(step), ...(step.index === current && { current: true }) }
        : rowOfStep(step),
    );
  const earlier = steps.length - rows.length;
  const hidden = earlier > 0 ? [fill(texts.earlierSteps, formatCount(earlier))] : [];
  const notes = [...hidden, ...stepNotes(rows, texts)];
  return table(texts.stepsTable, { ...rowTable('steps', rows, texts, most), notes });
}

/** One row per use case of a mix and step; none for one use case. */
function entryReport({ steps }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const rows = steps.flatMap(entryRows).slice(-most);
  const notes = stepNotes(rows, texts);
  return table(texts.entriesTable, { ...rowTable('entries', rows, texts, most), notes });
}

function callReport({ steps }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  return table(texts.callsTable, {
    ...rowTable('calls', steps.flatMap(callRows), texts, most),
    sentences: sessionSentences(steps, texts).slice(-most),
  });
}

/** What hubs sent on their own, by step and name. */
function pushedReport({ steps }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  return table(texts.pushedTable, rowTable('pushed', pushedRows(steps), texts, most));
}

/** Where the load came from, when that was several processes or machines. */
function agentReport({ agents = [] }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const hidden = agents.length - most;
  return table(texts.agentsTable, {
    ...agentTable(agents, texts, most),
    notes: hidden > 0 ? [fill(texts.agentsHidden, formatCount(hidden))] : [],
    sentences: agentSentences(agents, texts),
  });
}

/** What was seen of the server beside the load, and what was not. */
function serverReport({ observed }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const { series = [], findings = [], problems = [] } = observed ?? {};
  const said = [findings.map(findingSentence), problems];
  return table(texts.observedTable, {
    ...observedTable(series, texts, most),
    sentences: said.flatMap((each) => each.slice(0, mostSentences)),
  });
}

/** How far the repeats of each step lie apart, where the steps were run more than once. */
function repeatReport({ repeats = [] }: ReportedRun, texts: PanelStrings, most: number) {
  const { spectrumStep, repeatMedian, repeatLowest, repeatHighest, repeatInterval } = texts;
  const outliers = repeats.flatMap((each) => each.outliers ?? []);
  return table(texts.repeatsTable, {
    heads: [spectrumStep, '', repeatMedian, repeatLowest, repeatHighest, repeatInterval],
    rows: repeatRows(repeats, texts.noValue).slice(-most),
    textColumns: [0, 1],
    sentences: outliers.slice(0, mostSentences).map(({ step, metric, value, median }) => {
      const times = [comparedLatency(value), comparedLatency(median)];
      return fill(texts.outlier, formatCount(step), percentileName(metric), ...times);
    }),
  });
}

/** Bytes of each step; `in` is client to service, `out` service to client. */
function trafficReport({ steps }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const way = (name: string): string[] => [`${name}: payload`, 'on wire', 'MB/s'];
  const measured = steps.filter((step): step is StepSummary => 'wireBytesIn' in step);
  const heads = [texts.spectrumStep, ...way('in'), ...way('out')];
  return table('Traffic', { heads, rows: trafficRows(measured.slice(-most)), textColumns: [] });
}

function errorReport(run: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const inWarmup = run.steps.reduce((sum, { warmupErrors = 0 }) => {
    return sum + (typeof warmupErrors === 'number' ? warmupErrors : countOf(warmupErrors));
  }, 0);
  const exampleOf = (name: string): string | undefined =>
    run.errorExamples.find(({ errorClass }) => errorClass === name)?.text;
  return table(texts.errorsTable, {
    ...errorTable(run.errors, texts, most, exampleOf),
    notes: inWarmup > 0 ? [fill(texts.warmupErrors, formatCount(inWarmup))] : [],
  });
}

const counted = (count: number): string => formatCount(count);

/** How long connecting took, and what became of the connections. */
function connectionReport(run: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const { connections, steps: all } = run;
  const shown = { heads: ['', 'p50', 'p99', 'max'], textColumns: [0] };
  if (connections === undefined || connections.connected === 0)
    return table(texts.connectionsTable, { ...shown, rows: [] });
  const steps = all.filter((step): step is StepSummary => !('over' in step));
  const { connectUs, connectPhasesUs = {}, openedPerSecond, pings, life } = connections;
  const recoveries = steps.flatMap(({ index, recoveries: found = [] }) =>
    found.map((recovery) => recoverySentence(index, recovery, texts)),
  );
  return table(texts.connectionsTable, {
    ...shown,
    rows: [
      timesRow(texts.connectTime, connectUs, texts),
      ...connectPhases.flatMap((phase) => {
        const times = connectPhasesUs[phase];
        return times === undefined ? [] : [timesRow(phase, times, texts)];
      }),
      ...(life === undefined ? [] : lifeRows(life, texts)),
      ...membershipRows(steps, texts).slice(-most),
      ...(openedPerSecond === undefined
        ? []
        : [[texts.openedPerSecond, rateWords(openedPerSecond), '', '']]),
      ...(pings === undefined || pings.sent + pings.received === 0
        ? []
        : [[texts.pingCounts, `${counted(pings.sent)} / ${counted(pings.received)}`, '', '']]),
    ],
    sentences: [
      ...targetSentences(connections, texts).slice(0, most),
      ...recoveries.slice(0, mostSentences),
      ...dropSentences(connections, texts),
    ],
  });
}

const timesRow = (
  label: string,
  { p50, p99, max }: ConnectTimes,
  { noValue }: PanelStrings,
): string[] => [label, ...[p50, p99, max].map((us) => latencyOrDash(us, noValue))];

function lifeRows(life: LifeSummary, texts: PanelStrings): string[][] {
  const { reconnectUs, lifeSpanMs, downMs, sla } = life;
  const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
  const row = (
    label: string,
    { p50, p99 }: Quantiles,
    words: (value: number) => string,
    more = '',
  ): string[] => [label, words(p50), words(p99), more];
  const us = (value: number): string => latencyOrDash(value, texts.noValue);
  const ms = (value: number): string => us(value * 1000);
  return [
    [texts.lifeCounts, [life.drops, life.closed, life.reconnects].map(counted).join(' / '), '', ''],
    row(texts.reconnectTime, reconnectUs, us),
    row(texts.lifeSpan, lifeSpanMs, ms),
    row(texts.downTime, downMs, ms),
    row(texts.sla, sla, percent, fill(texts.slaHead, percent(sla.mean))),
  ];
}

/** Where connections move in and out of groups; with their step where there are several. */
function membershipRows(steps: readonly StepSummary[], texts: PanelStrings): string[][] {
  const moving = steps.filter(({ membership }) => membership !== undefined);
  return moving.flatMap(({ index, membership }) => {
    const { joins, joinsFailed, leaves, leavesFailed, skipped, joinUs, leaveUs } = membership!;
    const label = (text: string, ...counts: number[]): string => {
      const said = fill(text, ...counts.map(counted));
      return moving.length > 1 ? fill(texts.searchStep, formatCount(index), said) : said;
    };
    return [
      timesRow(label(texts.joins, joins, joinsFailed), joinUs, texts),
      timesRow(label(texts.leaves, leaves, leavesFailed), leaveUs, texts),
      ...(skipped > 0 ? [[label(texts.movesSkipped), counted(skipped), '', '']] : []),
    ];
  });
}

const targetSentences = ({ targets = [] }: ConnectionSummary, texts: PanelStrings): string[] =>
  targets.map(({ url, connected, failed, dropped, received, connectUs, latencyUs }) =>
    fill(
      texts.targetLine,
      url,
      ...[connected, failed, dropped, received].map(counted),
      latencyOrDash(connected > 0 ? connectUs.p99 : undefined, texts.noValue),
      latencyOrDash(received > 0 ? latencyUs.p99 : undefined, texts.noValue),
    ),
  );

function recoverySentence(step: number, recovery: Recovery, texts: PanelStrings): string {
  const { atS, missing, connectionsS, latencyS } = recovery;
  const words = (seconds: number | null): string =>
    seconds === null ? texts.notInStep : fill(texts.secondsWords, seconds.toFixed(1));
  const facts = [formatCount(step), atS.toFixed(1), formatCount(missing), words(connectionsS)];
  return latencyS === undefined
    ? fill(texts.recoveredOpen, ...facts)
    : fill(texts.recovered, ...facts, words(latencyS));
}

const longestText = 200;

/** The first ones; those with one answer of a hub in common together. */
function dropSentences({ drops = [], dropped }: ConnectionSummary, texts: PanelStrings): string[] {
  const byReason = groupedBy(drops, ({ connection, errorClass, text, atS }) =>
    errorClass === 'invocation' ? text : `${connection} ${atS}`,
  );
  const shown = [...byReason.values()].slice(0, mostSentences);
  const others = dropped - shown.reduce((sum, { length }) => sum + length, 0);
  return [
    ...shown.map((same) => dropSentence(same, texts)),
    ...(shown.length > 0 && others > 0 ? [fill(texts.moreDropped, formatCount(others))] : []),
  ];
}

function dropSentence(same: readonly DroppedConnection[], texts: PanelStrings): string {
  const { connection, atS, openS, errorClass, text } = same[0]!;
  const reason = `${errorClass}: ${text.slice(0, longestText)}`;
  if (same.length === 1) {
    const times = [atS.toFixed(1), openS.toFixed(1)];
    return fill(texts.droppedOne, formatCount(connection), ...times, reason);
  }
  const times = same.map((drop) => drop.atS);
  const range = [Math.min(...times), Math.max(...times)].map((each) => each.toFixed(1));
  return fill(texts.droppedSame, formatCount(same.length), ...range, reason);
}
