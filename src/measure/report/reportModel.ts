import { groupBy } from '../../base/collect';
import { connectPhases } from '../../base/endpoint';
import { totalErrors, type ErrorCounts } from '../../base/errorClass';
import { fill } from '../../base/text';
import { formatCount, formatShare } from '../../base/units';
import { latencyOrLostWords, percentileName } from '../compare/comparisonWords';
import { repeatRows, type RepeatedStep } from '../compare/repeats';
import {
  hasEarlyDeliveries,
  countsLostDeliveries,
  isTailHidden,
  type ShownLatency,
  shownPercentiles,
} from '../latencySummary';
import type { Observed } from '../observed';
import { agentSentences, agentTable } from '../show/agentTable';
import { callRows, sessionSentences } from '../show/callTable';
import {
  latencyOrDash,
  rateWords,
  generatorPartNote,
  latencyOrLost,
  generatorPartWords,
} from '../show/chartWords';
import { findingSentence, observedTable } from '../show/observedWords';
import { errorTable, rowTable, type TextTable } from '../show/panelTables';
import type { PanelStrings } from '../show/panelStrings';
import {
  entryRows,
  pushedRows,
  progressRow,
  stepRow,
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
import { isDisturbance } from '../judge/reason';
import type { SearchSummary } from '../../base/searchSummary';

export interface ReportTable extends TextTable {
  readonly title: string;
  readonly notes: readonly string[];
  readonly sentences: readonly string[];
}

export interface ReportedRun {
  readonly steps: readonly (StepSummary | StepProgress)[];
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

export const isEmptyTable = ({ rows, sentences }: ReportTable): boolean =>
  rows.length + sentences.length === 0;

const mostSentences = 20;

type NotedStep = ShownLatency & Pick<StepRow, 'index' | 'generator'>;

/** Why a dash stands where p99.9 belongs, whether lost deliveries count in the percentiles, and what of them is this machine's. */
export function stepNotes(steps: readonly NotedStep[], texts: PanelStrings): string[] {
  const ours = generatorPartNote(steps, texts['lateness.ofStep']);
  return [
    ...(isTailHidden(steps.map(({ latencyUs }) => latencyUs)) ? [texts.tailNote] : []),
    ...(countsLostDeliveries(steps) ? [texts.lostCounted] : []),
    ...(hasEarlyDeliveries(steps) ? [texts.cameEarly] : []),
    ...(ours === undefined ? [] : [`${ours}.`]),
  ];
}

function stepReport({ steps, current }: ReportedRun, texts: PanelStrings, most: number) {
  const rows = steps
    .slice(-most)
    .map((step) =>
      'over' in step
        ? { ...progressRow(step), ...(step.index === current && { current: true }) }
        : stepRow(step),
    );
  const earlier = steps.length - rows.length;
  const hidden = earlier > 0 ? [fill(texts.earlierSteps, formatCount(earlier))] : [];
  const notes = [...hidden, ...stepNotes(rows, texts)];
  return table(texts.stepsTable, { ...rowTable('steps', rows, texts, most), notes });
}

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

function pushedReport({ steps }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  return table(texts.pushedTable, rowTable('pushed', pushedRows(steps), texts, most));
}

function agentReport({ agents = [] }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const hidden = agents.length - most;
  return table(texts.agentsTable, {
    ...agentTable(agents, texts, most),
    notes: hidden > 0 ? [fill(texts.agentsHidden, formatCount(hidden))] : [],
    sentences: agentSentences(agents, texts),
  });
}

function serverReport({ observed }: ReportedRun, texts: PanelStrings, most: number): ReportTable {
  const { series = [], findings = [], problems = [] } = observed ?? {};
  const said = [findings.map(findingSentence), problems];
  return table(texts.observedTable, {
    ...observedTable(series, texts, most),
    sentences: said.flatMap((each) => each.slice(0, mostSentences)),
  });
}

function repeatReport({ repeats = [] }: ReportedRun, texts: PanelStrings, most: number) {
  const { spectrumStep, repeatMedian, repeatLowest, repeatHighest, repeatInterval } = texts;
  const outliers = repeats.flatMap((each) => each.outliers ?? []);
  return table(texts.repeatsTable, {
    heads: [spectrumStep, '', repeatMedian, repeatLowest, repeatHighest, repeatInterval],
    rows: repeatRows(repeats, texts.noValue).slice(-most),
    textColumns: [0, 1],
    sentences: outliers.slice(0, mostSentences).map(({ step, metric, value, median }) => {
      const times = [latencyOrLostWords(value), latencyOrLostWords(median)];
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
    return sum + (typeof warmupErrors === 'number' ? warmupErrors : totalErrors(warmupErrors));
  }, 0);
  const exampleOf = (name: string): string | undefined =>
    run.errorExamples.find(({ errorClass }) => errorClass === name)?.text;
  return table(texts.errorsTable, {
    ...errorTable(run.errors, texts, most, exampleOf),
    notes: inWarmup > 0 ? [fill(texts.warmupErrors, formatCount(inWarmup))] : [],
  });
}

const counted = (count: number): string => formatCount(count);

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
  const byReason = groupBy(drops, ({ connection, errorClass, text, atS }) =>
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

export interface ReportTile {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly of: string;
  readonly details: string;
  readonly tone: 'neutral' | 'warn' | 'bad';
}

export interface StepNumbers extends Pick<
  StepSummary,
  'index' | 'latencyUs' | 'judgedUs' | 'generator' | 'sentPerSecond' | 'receivedPerSecond'
> {
  readonly offeredPerSecond: number;
}

export interface TileFacts {
  readonly step?: StepNumbers;
  readonly limitUs?: number;
  readonly connections: Pick<ConnectionSummary, 'requested' | 'connected' | 'failed' | 'dropped'>;
  readonly connectP99Us?: number;
  /** Of all steps; what is outstanding is known while the run goes on, the rest when it is over. */
  readonly losses: { readonly lost: number; readonly duplicated: number } & (
    | { readonly expected: number; readonly outOfOrder: number }
    | { readonly outstanding: number }
  );
}

export const reportTiles = (facts: TileFacts, texts: PanelStrings): ReportTile[] => [
  p99Tile(facts, texts),
  sentTile(facts, texts),
  connectionsTile(facts, texts),
  lostTile(facts, texts),
  generatorTile(facts, texts),
];

/** The step that counts: of a search the last one with the highest value that held, else the last one judged. */
export function decisiveStep({
  steps,
  search,
}: {
  readonly steps: readonly StepSummary[];
  readonly search?: SearchSummary;
}): StepSummary | undefined {
  const held = search?.steps.filter(
    ({ value, status }) => value === search.low && status === 'pass',
  );
  const carried = steps.find(({ index }) => index === held?.at(-1)?.index);
  return (
    carried ?? steps.filter(({ verdict }) => verdict.status !== 'incomplete').at(-1) ?? steps.at(-1)
  );
}

export const stepNumbers = (step: StepSummary): StepNumbers => ({
  ...{ ...step, offeredPerSecond: step.offered / Math.max(1e-9, step.seconds) },
});

export const sumLosses = (steps: readonly StepSummary[]) => {
  const sum = (name: 'lost' | 'expected' | 'duplicated' | 'outOfOrder'): number =>
    steps.reduce((total, step) => total + step[name], 0);
  return {
    lost: sum('lost'),
    expected: sum('expected'),
    duplicated: sum('duplicated'),
    outOfOrder: sum('outOfOrder'),
  };
};

function p99Tile({ step, limitUs }: TileFacts, texts: PanelStrings): ReportTile {
  const shown = step && shownPercentiles(step);
  const words = (us: number | null | undefined): string => latencyOrLost(us, texts);
  const missed = shown !== undefined && limitUs !== undefined && (shown.p99 ?? Infinity) > limitUs;
  return {
    id: 'p99',
    label: texts.p99Tile,
    value: words(shown?.p99),
    of: (step && generatorPartWords(step, texts['lateness.part'])) ?? '',
    details:
      shown === undefined || shown.p999 !== undefined
        ? fill(texts.p99Details, words(shown?.p50), words(shown?.p999), words(shown?.max))
        : fill(texts.p99DetailsFew, words(shown.p50), words(shown.max)),
    tone: missed ? 'bad' : 'neutral',
  };
}

const sentTile = ({ step }: TileFacts, texts: PanelStrings): ReportTile => ({
  id: 'sent',
  label: texts.sentTile,
  value: step ? rateWords(step.sentPerSecond) : texts.noValue,
  of: step ? fill(texts.ofPerSecond, rateWords(step.offeredPerSecond)) : '',
  details: step ? fill(texts.receivedPerSecond, rateWords(step.receivedPerSecond)) : texts.noValue,
  tone: 'neutral',
});

function connectionsTile(facts: TileFacts, texts: PanelStrings): ReportTile {
  const { requested, connected, failed, dropped } = facts.connections;
  const [failedWords, droppedWords] = [formatCount(failed), formatCount(dropped)];
  const p99Us = connected > 0 ? facts.connectP99Us : undefined;
  return {
    id: 'connections',
    label: texts.connectionsTile,
    value: formatCount(connected),
    of: fill(texts.ofCount, formatCount(requested)),
    details:
      failed > 0 && connected > 0
        ? fill(texts.connectionsFailed, failedWords, droppedWords)
        : fill(texts.connectionsDetails, droppedWords, latencyOrDash(p99Us, texts.noValue)),
    tone: failed + dropped > 0 ? (connected > 0 ? 'warn' : 'bad') : 'neutral',
  };
}

function lostTile({ losses }: TileFacts, texts: PanelStrings): ReportTile {
  const duplicated = formatCount(losses.duplicated);
  const isOver = 'expected' in losses;
  return {
    id: 'lost',
    label: texts.lostTile,
    value: formatCount(losses.lost),
    of: isOver ? fill(texts.ofExpected, formatCount(losses.expected)) : '',
    details: isOver
      ? fill(texts.lostDetails, duplicated, formatCount(losses.outOfOrder))
      : fill(texts.lostLive, formatCount(losses.outstanding), duplicated),
    tone: losses.lost > 0 ? 'warn' : 'neutral',
  };
}

function generatorTile({ step }: TileFacts, texts: PanelStrings): ReportTile {
  const health = step?.generator;
  const dash = texts.noValue;
  const why = isDisturbance(health?.cause) ? texts.isStarved : texts.isBottleneck;
  const isBad = health?.valid === false;
  const share = health ? formatShare(health.cpuShare) : dash;
  return {
    id: 'generator',
    label: texts.generatorTile,
    value: health ? (isBad ? why : texts.healthy) : dash,
    of: '',
    details: fill(texts.generatorDetails, latencyOrDash(health?.slipP99Us, dash), share),
    tone: isBad ? 'bad' : 'neutral',
  };
}
