import { observedCharts } from '../../measure/show/observedWords';
import { element } from '../element';
import type { ShownRun } from '../panelState';
import type { StateCard } from '../tables/card';
import { createTimeChartCard } from './timeChart';
import type { TimeView } from './timeView';

/** Charts of the server beside the load, on the time axis of the others; none where nothing is seen of it. */
export function createObservedCharts(view: TimeView) {
  const root = element('div.observed');
  root.hidden = true;
  let cards: StateCard[] = [];
  let drawn = '';
  return {
    root,
    update(state: ShownRun): void {
      const specs = observedCharts(state.snapshots, state.strings);
      const names = JSON.stringify(
        specs.map(({ id, series }) => [id, series.map((line) => line.label)]),
      );
      if (names !== drawn) {
        drawn = names;
        cards = specs.map((spec) => createTimeChartCard(spec, state, view));
        root.replaceChildren(...cards.map(({ card }) => card.root));
        root.hidden = cards.length === 0;
      }
      for (const card of cards) card.update(state);
    },
    redraw(): void {
      for (const card of cards) card.redraw?.();
    },
  };
}
