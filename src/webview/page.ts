import type { FromPanel } from '../protocol/panel';
import { createHeatMapCard } from './charts/heatMap';
import { createSpectrumCard } from './charts/spectrum';
import { createTimeChartCard } from './charts/timeChart';
import { timeCharts } from './charts/timeCharts';
import { element, setText } from './element';
import { createHeader } from './header';
import { isOver, isUnreachable, type PanelState, type ShownRun } from './panelState';
import { sentenceOf, spokenSentence } from './sentence';
import type { StateCard } from './tables/card';
import { tableCards } from './tables/tables';
import { createUnitsCard } from './tables/unitsCard';

/** Most often the live region speaks while a run goes on. */
const speakEveryMs = 10_000;

export interface Page {
  show(state: PanelState): void;
  redraw(): void;
}

interface RunPage {
  readonly id: string;
  update(state: ShownRun): void;
  redraw(): void;
}

export function createPage(root: HTMLElement, send: (message: FromPanel) => void): Page {
  const spoken = element('p', {
    class: 'unseen',
    attributes: { role: 'status', 'aria-live': 'polite' },
  });
  const main = element('main');
  root.replaceChildren(main, spoken);
  let shown: RunPage | undefined;
  let spokenAt = -Infinity;
  let wasOver = false;
  const speak = (state: ShownRun): void => {
    const over = isOver(state);
    if (over === wasOver && performance.now() - spokenAt < speakEveryMs) return;
    [wasOver, spokenAt] = [over, performance.now()];
    setText(spoken, spokenSentence(sentenceOf(state), state.strings));
  };
  return {
    show(state) {
      if (state.kind !== 'run') {
        shown = undefined;
        main.replaceChildren(...messageOf(state));
        return;
      }
      if (shown?.id !== state.run.id) shown = createRunPage(main, state, send);
      shown.update(state);
      speak(state);
    },
    redraw: () => shown?.redraw(),
  };
}

function messageOf(state: Exclude<PanelState, ShownRun>): HTMLElement[] {
  if (state.kind === 'waiting') return [element('p', { text: state.strings.waiting })];
  const lead = element('strong', { text: state.strings.unreadable });
  return [
    element('p', {
      class: 'verdict bad',
      attributes: { role: 'alert' },
      children: [element('span', { children: [lead, ' ', state.message] })],
    }),
  ];
}

function createRunPage(
  main: HTMLElement,
  state: ShownRun,
  send: (message: FromPanel) => void,
): RunPage {
  const header = createHeader(state, send);
  const overTime: StateCard[] = timeCharts.map((spec) => createTimeChartCard(spec, state));
  const heat = createHeatMapCard(state);
  const { steps, entries, connections, errors, generator } = tableCards(state);
  const side = [createUnitsCard(state), createSpectrumCard(state), generator];
  const below = [steps, entries, connections, errors];
  const missing = element('p', { class: 'card quiet', text: state.strings.noSamples });
  const roots = (cards: readonly StateCard[]): HTMLElement[] => cards.map(({ card }) => card.root);
  const first = element('div', { children: [missing, ...roots([...overTime, heat])] });
  const last = element('div', { class: 'below-grid', children: roots(below) });
  main.replaceChildren(
    header.root,
    element('div', {
      class: 'grid',
      children: [first, element('div', { children: roots(side) })],
    }),
    last,
  );
  const cards = [...overTime, heat, ...side, ...below];
  return {
    id: state.run.id,
    update(next) {
      const unreachable = isUnreachable(next);
      const nothing = isOver(next) && next.snapshots.length === 0;
      missing.hidden = !nothing || unreachable;
      for (const { card } of overTime) card.show(!nothing && !unreachable);
      // In place of charts of which none has a line.
      const place = unreachable ? first : last;
      if (errors.card.root.parentElement !== place) place.append(errors.card.root);
      header.update(next);
      for (const card of cards) card.update(next);
      generator.card.show(!unreachable);
    },
    redraw: () => {
      for (const card of cards) card.redraw?.();
    },
  };
}
