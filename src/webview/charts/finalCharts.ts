import { createCard } from '../tables/card';
import { element } from '../element';
import { heatMapOf, type HeatMap } from './heatMap';
import { createHeatMapChart } from './heatMapChart';
import { createLegend } from './legend';
import { latencyWords } from '../../base/objectives/words';
import type { ShownRun } from '../panelState';
import { createSpectrumChart } from './spectrumChart';
import { spectrumViewOf } from './spectrumView';
import { axisEndS } from './stepBands';
import { chartTable } from '../tables/tables';
import type { StateCard } from './timeChartCard';
import { timeCharts } from './timeCharts';
import { createTwin } from '../tables/twin';
import { fill } from '../../base/objectives/words';

/** Deliveries by time and latency; shown when the run is over, since it takes all of it. */
export function createHeatMapCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.heatMap, 'heat');
  const place = element('div', { class: 'chart', attributes: { role: 'img' } });
  const twin = createTwin(strings.asTable, strings.heatMap);
  card.body.append(place, element('p', { class: 'quiet', text: strings.heatMapMore }), twin.root);
  const chart = createHeatMapChart(place);
  let made: { readonly of: ShownRun['snapshots']; readonly map: HeatMap | undefined } | undefined;
  return {
    card,
    update(state) {
      const over = state.result !== undefined || state.interrupted;
      if (over && made?.of !== state.snapshots) {
        made = { of: state.snapshots, map: heatMapOf(state.snapshots) };
      }
      const map = over ? made?.map : undefined;
      card.show(map !== undefined);
      if (!map) return;
      chart.update(map, axisEndS(state));
      const ends = [map.latenciesUs[0]!, map.latenciesUs.at(-1)!].map(latencyWords);
      const range = fill(strings.heatMapRange, ...ends);
      place.setAttribute('aria-label', fill(strings.chartSummary, strings.heatMap, range));
      twin.update(() => chartTable(timeCharts[0]!, state), true);
    },
    redraw: () => chart.redraw(),
  };
}

/** The latency spectrum of a step, to be chosen when there are several. */
export function createSpectrumCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.spectrum, 'spectrum');
  const place = element('div', { class: 'chart', attributes: { role: 'img' } });
  const choice = element('select');
  const chooser = element('label', {
    class: 'chooser',
    children: [`${strings.spectrumStep} `, choice],
  });
  const legend = createLegend([
    { label: strings.fromIntended, colour: 'p99', dash: [], widthPx: 2.5 },
    { label: strings.fromSend, colour: 'sent', dash: [6, 3], widthPx: 1.5 },
  ]);
  const twin = createTwin(strings.asTable, '');
  card.body.append(place, element('div', { class: 'below', children: [legend.root, chooser] }));
  card.body.append(twin.root);
  const chart = createSpectrumChart(place);
  let wanted: number | undefined;
  let shown: ShownRun | undefined;
  const update = (state: ShownRun): void => {
    shown = state;
    const view = spectrumViewOf(state, wanted);
    card.show(view !== undefined);
    if (!view) return;
    card.setTitle(view.title);
    const told = view.table.rows.map(([share = '', us = '']) => `${share} ${us}`).join(', ');
    place.setAttribute('aria-label', fill(strings.chartSummary, view.title, told));
    twin.name(view.title);
    chooser.hidden = view.steps.length < 2;
    const options = view.steps.map((step) => String(step));
    if (choice.options.length !== options.length) {
      choice.replaceChildren(...options.map((text) => element('option', { text })));
    }
    choice.value = String(view.step);
    legend.showLine(1, view.sent.length > 0);
    chart.update(view);
    twin.update(() => view.table, state.result !== undefined);
  };
  choice.addEventListener('change', () => {
    wanted = Number(choice.value);
    if (shown) update(shown);
  });
  return { card, update, redraw: () => chart.redraw() };
}
