import { fill, latencyWords } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import {
  callBars,
  callRows,
  sessionSentences,
  stepOfCalls,
  type CallBar,
} from '../../measure/show/callTable';
import { callTable } from '../../measure/show/panelTables';
import { element } from '../element';
import { lastSeen, type ShownRun } from '../panelState';
import { createCard, showTable, tablePlace, type StateCard, type TableView } from './card';

/** Most rows of the table: a long run shows its last steps. */
const mostRows = 200;
const mostSentences = 20;
/** Longest name of a call that is shown; a file may hold anything. */
const longestName = 60;

/** One row for each call of sessions and step: of the result, or as last seen. */
export function callsTable(state: ShownRun): TableView {
  const steps = state.result?.steps ?? lastSeen(state);
  const { rows, ...table } = callTable(steps.flatMap(callRows), state.strings, mostRows);
  return { ...table, rows: rows.map((cells) => cells.map((text) => text.slice(0, longestName))) };
}

/** What calls of sessions take: a bar for each, which the table below has in numbers. */
export function createCallsCard({ strings }: ShownRun): StateCard {
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
      const sentences = sessionSentences(steps, strings).slice(-mostSentences);
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
