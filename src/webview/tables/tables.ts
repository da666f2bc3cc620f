import { connectPhases } from '../../base/endpoint';
import { countOf } from '../../base/errorClass';
import { fill, latencyWords } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import {
  agentReport,
  observedReport,
  repeatReport,
  stepNotes,
  type NotedStep,
  type ReportTable,
} from '../../measure/report/reportTables';
import { latencyOrDash, rateWords } from '../../measure/show/chartWords';
import {
  entryTable,
  errorRows,
  generatorRows,
  stepTable,
  rowTable,
} from '../../measure/show/panelTables';
import {
  entryRows,
  pushedRows,
  rowOfProgress,
  rowOfStep,
  type StepRow,
} from '../../measure/show/stepColumns';
import type {
  AgentProgress,
  ConnectTimes,
  LifeSummary,
  Quantiles,
  Recovery,
  StepSummary,
} from '../../measure/summary';
import type { PanelStrings, PanelText } from '../../messages/panelStrings';
import { element } from '../element';
import { decisiveStep, lastSeen, latestStep, problemOf, type ShownRun } from '../panelState';
import { createCard, noted, showTable, tablePlace, type StateCard, type TableView } from './card';
import {
  callBars,
  callRows,
  sessionSentences,
  stepOfCalls,
  type CallBar,
} from '../../measure/show/callTable';

function stepRows(state: ShownRun): StepRow[] {
  const { result, snapshots } = state;
  if (result) return result.steps.map(rowOfStep);
  const current = snapshots.at(-1)?.step?.index;
  return lastSeen(state).map((step) => {
    const over = step.over || step.index !== current;
    return { ...rowOfProgress({ ...step, over }), ...(!over && { current: true }) };
  });
}

export function stepsTable(state: ShownRun): TableView {
  const { strings } = state;
  const rows = stepRows(state);
  return { ...stepTable(rows, strings), ...noteOf(rows, strings) };
}

const noteOf = (steps: readonly NotedStep[], strings: PanelStrings): Pick<TableView, 'note'> =>
  noted(...stepNotes(steps, strings, strings.tailNote));

/** Most rows of the table of a mix: a long run shows its last steps. */
const mostEntryRows = 200;

/** One row per use case of a mix and step: of the result, or as last seen. Without rows for one use case. */
export function entriesTable(state: ShownRun): TableView {
  const { strings } = state;
  const steps = state.result?.steps ?? lastSeen(state);
  const rows = steps.flatMap(entryRows);
  const { rows: cells, ...table } = entryTable(rows, strings, mostEntryRows);
  const shortened = cells.map(([place = '', name = '', ...others]) => [
    ...[place, name.slice(0, longestName), ...others],
  ]);
  return { ...table, rows: shortened, ...noteOf(rows, strings) };
}

/** Longest name of a use case or call that is shown; a file may hold anything. */
const longestName = 60;

/** Longest error text shown; a server may send anything. */
const longestExample = 300;

/** Each class of error with its count, its meaning, and a text that was kept. Most frequent first. */
export function errorsTable(state: ShownRun): TableView {
  const { result, snapshots, strings } = state;
  const counts = result?.errors ?? snapshots.at(-1)?.errors ?? {};
  const example = (name: string): string => exampleOf(name, state).slice(0, longestExample);
  const rows = errorRows(counts, strings, example);
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

export function generatorTable(state: ShownRun): TableView {
  const { strings, snapshots } = state;
  const health = decisiveStep(state)?.generator ?? latestStep(snapshots)?.generator;
  return { heads: [], rows: generatorRows(health, strings), textColumns: [0] };
}

/** Rows of a table in which each has its reasons to be there. */
const mostAgents = 200;

/** Where the load came from, when that was several processes or machines. */
const agentsOf = ({ result, agents }: ShownRun): readonly AgentProgress[] =>
  result ? (result.agents ?? []) : agents;

export const agentsTable = (state: ShownRun): TableView =>
  viewOf(agentReport(agentsOf(state), state.strings, mostAgents));

const viewOf = ({ notes, title: _title, sentences: _below, ...table }: ReportTable): TableView => ({
  ...table,
  ...noted(...notes),
});

const mostServerRows = 200;

const observedOf = ({ result, strings }: ShownRun): ReportTable => {
  const { rows, ...report } = observedReport(result?.observed, strings, mostServerRows);
  return { ...report, rows: rows.map((cells) => cells.map((text) => text.slice(0, 120))) };
};

export const repeatsTable = ({ result, strings }: ShownRun): ReportTable =>
  repeatReport(result?.repeats, strings, mostRepeats);

const mostRepeats = 1000;

type CardName =
  | 'steps'
  | 'repeats'
  | 'entries'
  | 'calls'
  | 'pushed'
  | 'server'
  | 'agents'
  | 'connections'
  | 'errors'
  | 'generator';

/** Those of the verdict that the first sentence of the panel does not say. */
export const otherReasons = ({ result }: Pick<ShownRun, 'result'>): string[] =>
  result?.otherReasons.slice(0, 20) ?? [];

export function tableCards(state: ShownRun): Record<CardName, StateCard> {
  return {
    steps: tableCard(state, 'stepsTable', 'steps', stepsTable, { below: otherReasons }),
    repeats: reportCard(state, 'repeatsTable', 'repeats', repeatsTable),
    entries: tableCard(state, 'entriesTable', 'entries', entriesTable),
    calls: createCallsCard(state),
    pushed: tableCard(state, 'pushedTable', 'pushed', pushedTable),
    server: reportCard(state, 'observedTable', 'server', observedOf),
    agents: reportCard(state, 'agentsTable', 'agents', (shown) =>
      agentReport(agentsOf(shown), shown.strings, mostAgents),
    ),
    connections: tableCard(state, 'connectionsTable', 'connecting', connectionsTable, {
      below: connectionSentences,
    }),
    errors: tableCard(state, 'errorsTable', 'errors', errorsTable, {
      without: state.strings.noErrors,
    }),
    generator: generatorCard(state),
  };
}

interface TableCardParts {
  /** Sentences below the table. */
  readonly below?: (state: ShownRun) => readonly string[];
  /** Said in place of a table without rows; the card is hidden where there is nothing to say. */
  readonly without?: string;
}

function tableCard(
  { strings }: ShownRun,
  title: PanelText,
  name: string,
  tableOf: (state: ShownRun) => TableView,
  { below = () => [], without }: TableCardParts = {},
): StateCard {
  const card = createCard(strings[title], name);
  const place = tablePlace(strings[title]);
  const nothing = element('p.quiet', without ?? '');
  const list = element('ul.reasons');
  card.body.append(place, nothing, list);
  let listed = '';
  return {
    card,
    update(state) {
      const table = tableOf(state);
      const some = table.rows.length > 0;
      card.show(some || without !== undefined);
      place.hidden = !some;
      nothing.hidden = some;
      if (some) showTable(place, table, strings[title]);
      const sentences = below(state);
      list.hidden = sentences.length === 0;
      if (sentences.join('\n') === listed) return;
      listed = sentences.join('\n');
      list.replaceChildren(...sentences.map((text) => element('li', text)));
    },
  };
}

const reportCard = (
  state: ShownRun,
  title: PanelText,
  name: string,
  reportOf: (state: ShownRun) => ReportTable,
): StateCard =>
  tableCard(state, title, name, (shown) => viewOf(reportOf(shown)), {
    below: (shown) => reportOf(shown).sentences,
  });

function generatorCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.generatorHealth, 'generator');
  const place = element('div');
  card.body.append(place);
  return {
    card,
    update: (state) => showTable(place, generatorTable(state), strings.generatorHealth),
  };
}

/** Dropped connections listed; the result has more. */
const mostDrops = 20;
const longestText = 200;

const counted = (count: number): string => formatCount(count);

export function connectionsTable({ result, strings }: ShownRun): TableView {
  const heads = ['', 'p50', 'p99', 'max'];
  if (result === undefined || result.connections.connected === 0)
    return { heads, rows: [], textColumns: [0] };
  const { connectUs, connectPhasesUs = {}, openedPerSecond, pings, life } = result.connections;
  const row = (label: string, times: ConnectTimes): string[] => timesRow(label, times, strings);
  return {
    heads,
    rows: [
      row(strings.connectTime, connectUs),
      ...connectPhases.flatMap((phase) => {
        const times = connectPhasesUs[phase];
        return times === undefined ? [] : [row(phase, times)];
      }),
      ...(life === undefined ? [] : lifeRows(life, strings)),
      ...membershipRows(result.steps, strings),
      ...(openedPerSecond === undefined
        ? []
        : [[strings.openedPerSecond, rateWords(openedPerSecond), '', '']]),
      ...(pings === undefined
        ? []
        : [[strings.pingCounts, [pings.sent, pings.received].map(counted).join(' / '), '', '']]),
    ],
    textColumns: [0],
  };
}

const timesRow = (
  label: string,
  { p50, p99, max }: ConnectTimes,
  { noValue }: PanelStrings,
): string[] => [label, ...[p50, p99, max].map((us) => latencyOrDash(us, noValue))];

function lifeRows(life: LifeSummary, strings: PanelStrings): string[][] {
  const { reconnectUs, lifeSpanMs, downMs, sla } = life;
  const percent = (share: number): string => `${Number((share * 100).toFixed(2))} %`;
  const counts = [life.drops, life.closed, life.reconnects].map(counted);
  const row = (label: string, values: Quantiles, words: (value: number) => string): string[] => [
    label,
    words(values.p50),
    words(values.p99),
    '',
  ];
  const ms = (value: number): string => latencyOrDash(value * 1000, strings.noValue);
  return [
    [strings.lifeCounts, counts.join(' / '), '', ''],
    row(strings.reconnectTime, reconnectUs, (us) => latencyOrDash(us, strings.noValue)),
    row(strings.lifeSpan, lifeSpanMs, ms),
    row(strings.downTime, downMs, ms),
    [...row(strings.sla, sla, percent).slice(0, 3), fill(strings.slaHead, percent(sla.mean))],
  ];
}

function membershipRows(steps: readonly StepSummary[], strings: PanelStrings): string[][] {
  const membership = steps.filter((step) => step.membership !== undefined).at(-1)?.membership;
  if (membership === undefined) return [];
  const { joins, joinsFailed, leaves, leavesFailed, joinUs, leaveUs } = membership;
  return [
    timesRow(fill(strings.joins, ...[joins, joinsFailed].map(counted)), joinUs, strings),
    timesRow(fill(strings.leaves, ...[leaves, leavesFailed].map(counted)), leaveUs, strings),
  ];
}

/** One sentence each: the targets, the first recoveries, the first connections that were dropped. */
export function connectionSentences({ result, strings }: ShownRun): string[] {
  const drops = (result?.connections.drops ?? [])
    .slice(0, mostDrops)
    .map(({ connection, atS, openS, errorClass, text }) =>
      fill(
        strings.droppedOne,
        formatCount(connection),
        atS.toFixed(1),
        openS.toFixed(1),
        `${errorClass}: ${text.slice(0, longestText)}`,
      ),
    );
  const recoveries = (result?.steps ?? []).flatMap(({ index, recoveries: found = [] }) =>
    found.map((recovery) => recoverySentence(index, recovery, strings)),
  );
  const targets = (result?.connections.targets ?? []).map(
    ({ url, connected, failed, dropped, received, connectUs, latencyUs }) =>
      fill(
        strings.targetLine,
        url,
        ...[connected, failed, dropped, received].map(counted),
        latencyOrDash(connected > 0 ? connectUs.p99 : undefined, strings.noValue),
        latencyOrDash(received > 0 ? latencyUs.p99 : undefined, strings.noValue),
      ),
  );
  return [...targets, ...recoveries.slice(0, mostDrops), ...drops];
}

function recoverySentence(step: number, recovery: Recovery, strings: PanelStrings): string {
  const { atS, missing, connectionsS, latencyS } = recovery;
  const words = (seconds: number | null): string =>
    seconds === null ? strings.notInStep : fill(strings.secondsWords, seconds.toFixed(1));
  const facts = [formatCount(step), atS.toFixed(1), formatCount(missing), words(connectionsS)];
  return latencyS === undefined
    ? fill(strings.recoveredOpen, ...facts)
    : fill(strings.recovered, ...facts, words(latencyS));
}

/** Most rows of the table: a long run shows its last steps. */
const mostCallRows = 200;
const mostSessionSentences = 20;

/** One row for each call of sessions and step: of the result, or as last seen. */
function callsTable(state: ShownRun): TableView {
  const steps = state.result?.steps ?? lastSeen(state);
  return withShortNames(rowTable('calls', steps.flatMap(callRows), state.strings, mostCallRows));
}

const withShortNames = ({ rows, ...table }: TableView): TableView => ({
  ...{ ...table, rows: rows.map((cells) => cells.map((text) => text.slice(0, longestName))) },
});

/** What hubs sent on their own, by step and name. */
const pushedTable = (state: ShownRun): TableView =>
  withShortNames(
    rowTable(
      'pushed',
      pushedRows(state.result?.steps ?? lastSeen(state)),
      state.strings,
      mostCallRows,
    ),
  );

/** What calls of sessions take: a bar for each, which the table below has in numbers. */
function createCallsCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.callsTable, 'calls');
  const head = element('p');
  const bars = element('div.bars', { 'aria-hidden': 'true' });
  const legend = element('p.quiet');
  const place = tablePlace(strings.callsTable);
  const list = element('ul.reasons');
  card.body.append(head, bars, legend, place, list);
  let drawn = '';
  return {
    card,
    update(state) {
      const steps = state.result?.steps ?? lastSeen(state);
      const step = stepOfCalls<(typeof steps)[number]>(steps);
      card.show(step !== undefined);
      if (step === undefined) return;
      showTable(place, callsTable(state), strings.callsTable);
      const { bars: made, leastUs, mostUs } = callBars(callRows(step));
      const sentences = sessionSentences(steps, strings).slice(-mostSessionSentences);
      const next = JSON.stringify([step.index, made, sentences]);
      if (next === drawn) return;
      drawn = next;
      for (const part of [head, bars, legend]) part.hidden = made.length === 0;
      head.textContent = fill(strings.callsChart, formatCount(step.index));
      legend.textContent = fill(strings.callsLegend, ...[leastUs, mostUs].map(latencyWords));
      bars.replaceChildren(...made.flatMap(barOf));
      list.replaceChildren(...sentences.map((text) => element('li', text)));
    },
  };
}

function barOf({ name, p50, p99, max, us }: CallBar): HTMLElement[] {
  const [range, end] = [element('b'), element('u')];
  const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;
  Object.assign(range.style, { left: percent(p50), width: percent(p99 - p50) });
  end.style.left = percent(max);
  return [
    element('span', name.slice(0, longestName)),
    element('i', range, end),
    element('span', latencyWords(us.p99)),
  ];
}
