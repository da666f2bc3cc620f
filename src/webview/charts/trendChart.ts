import type uPlot from 'uplot';
import { fill, latencyWords } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import type { OverviewRow, OverviewStrings } from '../../protocol/overviewPanel';
import { element } from '../element';
import type { Trend } from '../overviewRows';
import { createCard } from '../tables/card';
import {
  axis,
  belowAxis,
  createChart,
  createLegend,
  joinedLine,
  latencyAxis,
  latencyScale,
  rightSide,
  sideRoom,
  themeColour,
  wholeSteps,
  type ChartOptions,
  type LegendLine,
} from './chartFrame';
import { createPointer } from './pointer';

export const unitWords = (
  { unit }: Pick<OverviewRow, 'unit'>,
  { noUnit, noValue }: OverviewStrings,
): string => (unit === undefined ? noValue : unit === null ? noUnit : formatCount(unit));

/** The p99 of each run of a scenario, oldest first, and the Units it asked for; the table of results has the numbers. */
export function createTrendCard(strings: OverviewStrings) {
  const card = createCard('', 'chart-trend');
  const chart = createChart();
  const { place } = chart;
  const lines = [
    { label: 'p99', colour: 'p99', dash: [], widthPx: 2.5 },
    { label: strings.unit, colour: 'p50', dash: [6, 3], widthPx: 1.5 },
  ];
  const legend = createLegend(lines, (hidden) => chart.hideLines(hidden));
  card.body.append(place, element('div.below', legend.root));
  let runs: Trend['runs'] = [];
  const textsOf = (run: Trend['runs'][number]): string[] => [
    latencyWords(run.p99Us),
    unitWords(run, strings),
  ];
  const pointer = createPointer(chart, {
    hint: strings.chartHint,
    roleName: strings.chartRole,
    places: () => runs.map((_, at) => at + 1),
    moved: () => showValues(),
    read: (index) => {
      const run = runs[index]!;
      const values = textsOf(run);
      const rows = lines.map(({ label, colour }, at) => ({ label, colour, value: values[at]! }));
      const said = { label: run.status, value: '' };
      return { title: run.when, rows: [...rows.filter((_, at) => chart.isShown(at)), said] };
    },
  });
  const showValues = (): void => {
    const run = runs[pointer.index ?? runs.length - 1];
    legend.setValues(run ? textsOf(run) : []);
  };
  return {
    card,
    update(trend: Trend | undefined): void {
      runs = trend?.runs ?? [];
      card.show(trend !== undefined);
      if (trend === undefined) return;
      const title = fill(strings.trend, trend.scenario);
      card.setTitle(title);
      const said = runs.slice(-20).map((run) => `${run.when} ${textsOf(run).join(', ')}`);
      place.setAttribute('aria-label', fill(strings.chartSummary, title, said.join('; ')));
      const data: uPlot.AlignedData = [
        runs.map((_, at) => at + 1),
        runs.map(({ p99Us }) => Math.max(1, p99Us)),
        runs.map(({ unit }) => unit ?? null),
      ];
      chart.show(data, 'trend', () => options(lines));
      chart.settled(() => pointer.show(undefined));
      showValues();
    },
    redraw: () => chart.redraw(),
  };
}

function options(lines: readonly LegendLine[]): ChartOptions {
  const [p99, units] = lines.map((line): uPlot.Series => {
    const made = joinedLine(line);
    return {
      ...made,
      points: { show: true, size: 7, fill: () => themeColour(`--line-${line.colour}`) },
    };
  });
  const counts = (_plot: uPlot, splits: number[]): string[] =>
    splits.map((each) => formatCount(each));
  return {
    height: 230,
    padding: [14, 0, 0, 0],
    series: [{}, p99!, { ...units!, scale: 'units' }],
    scales: {
      x: { time: false, range: (_plot, min, max) => [min - 0.5, max + 0.5] },
      y: latencyScale(),
      units: { range: (_plot, _min, max) => [0, Math.max(1, max) * 1.2] },
    },
    axes: [
      axis({ values: counts, incrs: wholeSteps, ...belowAxis, grid: false, space: 50 }),
      latencyAxis(),
      axis({
        ...{ scale: 'units', side: rightSide, size: sideRoom.right, grid: false },
        ...{ values: counts, incrs: wholeSteps },
      }),
    ],
  };
}
