import { getOrCreate } from '../../base/collect';
import { fill } from '../../base/text';
import { latencyWords, formatCount } from '../../base/units';
import {
  reports,
  type ReportedRun,
  type ReportTable,
  decisiveStep,
} from '../../measure/report/reportModel';
import { callBars, callRows, lastStepWithCalls, type CallBar } from '../../measure/show/callTable';
import { generatorTable } from '../../measure/show/panelTables';
import { element } from '../element';
import { latestSteps, latestStep, latestProblem, type ShownRun } from '../panelState';
import { createCard, noteOf, showTable, tablePlace, type StateCard, type TableView } from './card';

/** Cached for all cards: each change creates a new state. */
const reportedRuns = new WeakMap<ShownRun, ReportedRun>();

const reportedRun = (state: ShownRun): ReportedRun =>
  getOrCreate(reportedRuns, state, () => reportedNow(state));

function reportedNow(state: ShownRun): ReportedRun {
  const { result, snapshots, agents } = state;
  if (result !== undefined) return result;
  const errors = snapshots.at(-1)?.errors ?? {};
  const current = snapshots.at(-1)?.step?.index;
  const seen = latestSteps(state).map((step) => ({
    ...step,
    over: step.over || step.index !== current,
  }));
  const going = seen.at(-1)?.over === false ? current : undefined;
  // Error texts arrive with the result, except that of the server.
  const text = latestProblem(state);
  const errorExamples = text === '' ? [] : [{ errorClass: 'ownServer', text }];
  return { steps: seen, current: going, agents, errors, errorExamples };
}

const mostRows = 200;

export const reportOf = (name: keyof typeof reports, state: ShownRun): ReportTable =>
  reports[name](reportedRun(state), state.strings, mostRows);

export function generatorView({ strings, snapshots, result }: ShownRun): TableView {
  const step = result ? decisiveStep(result) : latestStep(snapshots);
  return generatorTable(step?.generator, strings);
}

export const otherReasons = ({ result }: Pick<ShownRun, 'result'>): string[] =>
  result?.otherReasons.slice(0, 20) ?? [];

export function tableCards(state: ShownRun) {
  return {
    steps: tableCard(state, 'steps', { below: otherReasons }),
    repeats: tableCard(state, 'repeats'),
    entries: tableCard(state, 'entries'),
    calls: createCallsCard(state),
    pushed: tableCard(state, 'pushed'),
    server: tableCard(state, 'server'),
    agents: tableCard(state, 'agents'),
    connections: tableCard(state, 'connections', { kind: 'connecting' }),
    errors: tableCard(state, 'errors', { without: state.strings.noErrors }),
    generator: generatorCard(state),
  };
}

interface TableCardParts {
  readonly kind?: string;
  readonly below?: (state: ShownRun) => readonly string[];
  /** Shown instead of an empty table; otherwise the card is hidden. */
  readonly without?: string;
}

function tableCard(
  state: ShownRun,
  name: keyof typeof reports,
  { kind = name, below = () => [], without }: TableCardParts = {},
): StateCard {
  const { title } = reportOf(name, state);
  const card = createCard(title, kind);
  const place = tablePlace(title);
  const nothing = element('p.quiet', without ?? '');
  const list = element('ul.reasons');
  card.body.append(place, nothing, list);
  let listed = '';
  return {
    card,
    update(next) {
      const { sentences: own, notes, ...table } = reportOf(name, next);
      const some = table.rows.length > 0;
      const sentences = [...own, ...below(next)];
      card.show(some || sentences.length > 0 || without !== undefined);
      place.hidden = !some;
      nothing.hidden = some;
      if (some) showTable(place, { ...table, ...noteOf(...notes) }, title);
      list.hidden = sentences.length === 0;
      if (sentences.join('\n') === listed) return;
      listed = sentences.join('\n');
      list.replaceChildren(...sentences.map((text) => element('li', text)));
    },
  };
}

function generatorCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.generatorHealth, 'generator');
  const place = element('div');
  card.body.append(place);
  return {
    card,
    update: (state) => showTable(place, generatorView(state), strings.generatorHealth),
  };
}

/** Calls of sessions: a bar each, and their table. */
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
      const step = lastStepWithCalls(reportedRun(state).steps);
      card.show(step !== undefined);
      if (step === undefined) return;
      const { sentences, ...table } = reportOf('calls', state);
      showTable(place, table, strings.callsTable);
      const { bars: made, leastUs, mostUs } = callBars(callRows(step));
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

/** Bounded: a scenario may contain any name. */
const longestName = 60;

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
