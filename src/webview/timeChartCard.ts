import { latencyMetrics } from '../base/slo';
import { createCard, type Card } from './card';
import { columnsOf, usesRightAxis, type Columns } from './columns';
import { element, setText } from './element';
import { createLegend } from './legend';
import type { ShownRun } from './panelState';
import { plannedEndS, stepBands } from './stepBands';
import { chartTable, seriesLabel } from './tables';
import { createTimeChart, type LimitLine } from './timeChart';
import type { TimeChartSpec } from './timeCharts';
import { createTwin } from './twin';
import { fill, timeLabel, valueWords } from './wording';

/** Lines with a point at every pixel would hide each other. */
const mostPoints = 400;

export interface StateCard {
  readonly card: Card;
  update(state: ShownRun): void;
  /** The editor's theme has changed. */
  redraw(): void;
}

/** A chart over time with legend and table; the legend tells the values at the pointer, else the last. */
export function createTimeChartCard(spec: TimeChartSpec, { strings }: ShownRun): StateCard {
  const title = strings[spec.title];
  const card = createCard(title, `chart-${spec.id}`);
  const place = element('div', { class: 'chart', attributes: { role: 'img' } });
  place.setAttribute('aria-label', fill(strings.chartSummary, title));
  const legend = createLegend(
    spec.series.map((series) => ({ ...series, label: seriesLabel(series, strings) })),
  );
  const at = element('span', { class: 'at' });
  const twin = createTwin(strings.asTable, title);
  const below = element('div', { class: 'below', children: [legend.root, at] });
  card.body.append(place, below, twin.root);
  let columns: Columns = { seconds: [], lines: [], perPoint: 1 };
  let pointedAt: number | undefined;
  const tell = (): void => {
    setText(at, pointedAt === undefined ? '' : timeLabel(columns.seconds[pointedAt] ?? 0));
    legend.setValues(
      columns.lines.map((line) => {
        const value = pointedAt === undefined ? lastOf(line) : line[pointedAt];
        return value === null || value === undefined
          ? strings.noValue
          : valueWords(spec.unit, value);
      }),
    );
  };
  const chart = createTimeChart(place, spec, strings, (index) => {
    pointedAt = index;
    tell();
  });
  return {
    card,
    update(state) {
      const { snapshots, run, result, interrupted } = state;
      columns = columnsOf(spec, snapshots, mostPoints);
      const over = result !== undefined || interrupted;
      chart.update(columns, {
        bands: stepBands(snapshots),
        limits: limitsOf(state),
        endS: over ? 0 : plannedEndS(run, snapshots),
      });
      const twoSides = usesRightAxis(spec, columns);
      for (const [index, series] of spec.series.entries()) {
        const label = seriesLabel(series, strings);
        const onRight = twoSides && spec.right.includes(series.id);
        legend.setLabel(index, onRight ? fill(strings.onRight, label) : label);
      }
      tell();
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

function lastOf(line: readonly (number | null)[]): number | null {
  for (let at = line.length - 1; at >= 0; at--) {
    const value = line[at];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}
