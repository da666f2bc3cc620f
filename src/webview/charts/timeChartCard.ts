import { latencyMetrics } from '../../base/objectives/latency';
import { atRest } from './atRest';
import { createCard, type Card } from '../tables/card';
import { columnsOf, rightAxisOf, type Columns } from './columns';
import { element, setText } from '../element';
import { createLegend } from './legend';
import type { ShownRun } from '../panelState';
import { axisEndS, stepBands } from './stepBands';
import { chartTable, seriesLabel } from '../tables/tables';
import { createTimeChart, type LimitLine } from './timeChart';
import type { TimeChartSpec } from './timeCharts';
import { createTwin } from '../tables/twin';
import { fill } from '../../base/objectives/words';
import { timeLabel, valueWords } from '../wording';

/** Lines with a point at every pixel would hide each other. */
const mostPoints = 400;

export interface StateCard {
  readonly card: Card;
  update(state: ShownRun): void;
  /** The editor's theme has changed. */
  redraw(): void;
}

/** A chart over time with legend and table; the legend tells the values at the pointer, else those {@link atRest}. */
export function createTimeChartCard(spec: TimeChartSpec, { strings }: ShownRun): StateCard {
  const title = strings[spec.title];
  const card = createCard(title, `chart-${spec.id}`);
  const place = element('div', { class: 'chart', attributes: { role: 'img' } });
  const legend = createLegend(
    spec.series.map((series) => ({ ...series, label: seriesLabel(series, strings) })),
  );
  const at = element('span', { class: 'at' });
  const twin = createTwin(strings.asTable, title);
  card.body.append(
    place,
    element('div', { class: 'below', children: [legend.root, at] }),
    twin.root,
  );
  let columns: Columns = { seconds: [], lines: [], perPoint: 1 };
  let over = false;
  let pointedAt: number | undefined;
  const words = (value: number | null | undefined): string =>
    value === null || value === undefined ? strings.noValue : valueWords(spec.unit, value);
  const tell = (): void => {
    const index = pointedAt;
    if (index === undefined) {
      const { label, values } = atRest(spec, columns, over, strings);
      setText(at, label);
      legend.setValues(values.map(words));
    } else {
      setText(at, timeLabel(columns.seconds[index] ?? 0));
      legend.setValues(columns.lines.map((line) => words(line[index])));
    }
  };
  const describe = (): void => {
    const { label, values } = atRest(spec, columns, over, strings);
    const told = spec.series.map(
      (series, index) => `${seriesLabel(series, strings)} ${words(values[index])}`,
    );
    const text = fill(strings.chartSummary, `${title}, ${label}`, told.join(', '));
    place.setAttribute('aria-label', text);
  };
  const chart = createTimeChart(place, spec, strings, (index) => {
    pointedAt = index;
    tell();
  });
  return {
    card,
    update(state) {
      const { snapshots, result, interrupted } = state;
      columns = columnsOf(spec, snapshots, mostPoints);
      over = result !== undefined || interrupted;
      chart.update(columns, {
        bands: stepBands(snapshots),
        limits: limitsOf(state),
        endS: axisEndS(state),
      });
      const twoSides = rightAxisOf(spec, columns) !== 'none';
      for (const [index, series] of spec.series.entries()) {
        const label = seriesLabel(series, strings);
        const onRight = twoSides && spec.right.includes(series.id);
        legend.setLabel(index, onRight ? fill(strings.onRight, label) : label);
      }
      tell();
      describe();
      twin.update(() => chartTable(spec, state), over);
    },
    redraw: () => chart.redraw(),
  };
}

function limitsOf({ run }: ShownRun): LimitLine[] {
  const { latencyUs } = run.scenario.slo;
  return latencyMetrics.flatMap((metric) => {
    const us = latencyUs[metric];
    return us === undefined ? [] : [{ metric, us }];
  });
}
