import type uPlot from 'uplot';
import { fill } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import { shownStep, triesByValue } from '../../search/searchSummary';
import { element, setText } from '../element';
import type { ShownRun } from '../panelState';
import { kindWord, outcomeText, searchOf, searchValue, type ShownSearch } from '../searchState';
import { createCard, createTwin, type StateCard, type TableView } from '../tables/card';
import { latencyOrLost } from '../../measure/show/chartWords';
import {
  axis,
  belowAxis,
  createChart,
  createLegend,
  joinedLine,
  latencyAxis,
  latencyScale,
  sideRoom,
  themeColour,
  wholeSteps,
  type ChartOptions,
  type LegendLine,
} from './chartFrame';
import { imageButton } from './chartImage';
import { createPointer } from './pointer';

/** Each step in the order they were run. */
export function searchTable(search: ShownSearch, state: ShownRun): TableView {
  const { strings } = state;
  return {
    heads: ['#', kindWord(search.of, strings), 'p50', 'p99', strings.lostTile, ''],
    rows: search.steps.map((step) => [
      String(step.index),
      formatCount(step.value),
      ...pair(step, state),
      formatCount(step.lost),
      outcomeText(step, strings),
    ]),
    textColumns: [5],
  };
}

const pair = (
  { p50, p99, status }: ShownSearch['steps'][number],
  { strings }: ShownRun,
): string[] =>
  [p50, p99].map((us) =>
    latencyOrLost(status === 'incomplete' && us === null ? undefined : us, strings),
  );

/** By value, with the numbers that every view shows of it. */
export function searchColumns({ steps }: ShownSearch): uPlot.AlignedData {
  const rising = triesByValue(steps).map(shownStep);
  return [
    rising.map(({ value }) => value),
    rising.map(({ p50 }) => p50),
    rising.map(({ p99 }) => p99),
  ];
}

/** Latency over the value, the interval as a band, each step as a dot that held or did not. */
export function createSearchCard(first: ShownRun): StateCard {
  const { strings } = first;
  const card = createCard(strings.searchChart, 'chart-search');
  const chart = createChart();
  const { place } = chart;
  const lines = [
    { label: 'p50', colour: 'p50', dash: [4, 3], widthPx: 1.5 },
    { label: 'p99', colour: 'p99', dash: [], widthPx: 2.5 },
  ];
  const at = element('span.at');
  const twin = createTwin(strings.asTable, strings.searchChart);
  const legend = createLegend(lines, (hidden) => chart.hideLines(hidden));
  const image = imageButton(strings, chart, () => strings.searchChart, lines);
  card.body.append(place, element('div.below', legend.root, image, at), twin.root);
  let shown = first;
  let columns: uPlot.AlignedData = [[]];
  let pointed: number | undefined;
  const textsAt = (index: number): string[] =>
    lines.map((_, line) => latencyOrLost(columns[line + 1]?.[index], strings));
  const pointer = createPointer(chart, {
    hint: strings.chartHint,
    roleName: strings.chartRole,
    places: () => columns[0] as number[],
    moved: (value) => {
      pointed = value;
      showValues();
    },
    read: (index) => {
      const search = searchOf(shown);
      const value = columns[0][index]!;
      const texts = textsAt(index);
      const rows = lines.map(({ label, colour }, line) => ({ label, colour, value: texts[line]! }));
      const tries = search?.steps.filter((each) => each.value === value) ?? [];
      const outcome =
        tries.length > 0 ? [{ label: outcomeText(shownStep(tries), strings), value: '' }] : [];
      const title = search ? searchValue(search.of, value, strings) : '';
      return { title, rows: [...rows.filter((_, line) => chart.isShown(line)), ...outcome] };
    },
  });
  const showValues = (): void => {
    const search = searchOf(shown);
    if (search === undefined) return;
    const values = [...columns[0]];
    const index =
      pointer.index ?? (search.low === null ? values.length - 1 : values.indexOf(search.low));
    const value = values[index];
    setText(at, value === undefined ? '' : searchValue(search.of, value, strings));
    legend.setValues(textsAt(index));
  };
  return {
    card,
    update(state) {
      shown = state;
      const search = searchOf(state);
      card.show(search !== undefined);
      if (search === undefined) return;
      const title = fill(strings.searchChartBy, kindWord(search.of, strings));
      card.setTitle(title);
      twin.name(title);
      columns = searchColumns(search);
      chart.show(columns, search.of, () => options(() => shown, lines));
      const said = search.steps.map(
        (step) => `${searchValue(search.of, step.value, strings)} ${outcomeText(step, strings)}`,
      );
      place.setAttribute('aria-label', fill(strings.chartSummary, title, said.join('; ')));
      chart.settled(() => {
        pointer.show(pointed);
        showValues();
      });
      twin.update(() => searchTable(search, state), state.result !== undefined);
    },
    redraw: () => chart.redraw(),
  };
}

function options(stateNow: () => ShownRun, lines: readonly LegendLine[]): ChartOptions {
  const limitUs = (): number | undefined => stateNow().run.scenario.slo.latencyUs.p99;
  return {
    height: 270,
    padding: [14, sideRoom.right, 0, 0],
    series: [{}, ...lines.map(joinedLine)],
    scales: {
      x: { time: false, range: (_plot, _min, max) => [0, Math.max(1, max) * 1.05] },
      y: latencyScale(() => limitUs() ?? 0),
    },
    axes: [
      axis({
        values: (_plot, splits) => splits.map((value) => formatCount(value)),
        ...{ ...belowAxis, grid: false, incrs: wholeSteps, space: 70 },
      }),
      latencyAxis(),
    ],
    hooks: {
      drawClear: [(plot) => drawInterval(plot, searchOf(stateNow()))],
      draw: [
        (plot) => drawLimit(plot, limitUs()),
        (plot) => drawSteps(plot, searchOf(stateNow())?.steps ?? []),
      ],
    },
  };
}

/** What lies between what held and what did not; a thin line where the end is not known. */
function drawInterval(plot: uPlot, search: ShownSearch | undefined): void {
  const { ctx, bbox } = plot;
  if (search === undefined || (search.low === null && search.high === null)) return;
  const low = search.low ?? search.high!;
  const [from, to] = [low, search.high ?? low].map((value) => plot.valToPos(value, 'x', true));
  ctx.save();
  ctx.globalAlpha = 0.25;
  ctx.fillStyle = themeColour('--line-p50');
  ctx.fillRect(from!, bbox.top, Math.max(2 * devicePixelRatio, to! - from!), bbox.height);
  ctx.restore();
}

function drawLimit(plot: uPlot, limitUs: number | undefined): void {
  const { ctx, bbox } = plot;
  if (limitUs === undefined) return;
  const y = plot.valToPos(limitUs, 'y', true);
  ctx.save();
  ctx.strokeStyle = themeColour('--bad');
  ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** Held: a filled dot; not held: a cross, so that colours are not needed to see it. */
function drawSteps(plot: uPlot, steps: ShownSearch['steps']): void {
  const { ctx } = plot;
  const size = 4 * devicePixelRatio;
  ctx.save();
  ctx.lineWidth = 2 * devicePixelRatio;
  for (const { value, p99, status } of steps) {
    if (p99 === null || status === 'incomplete') continue;
    const [x, y] = [plot.valToPos(value, 'x', true), plot.valToPos(p99, 'y', true)];
    ctx.beginPath();
    if (status === 'pass') {
      ctx.fillStyle = themeColour('--good');
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fill();
      continue;
    }
    ctx.strokeStyle = themeColour(status === 'invalid' ? '--quiet' : '--bad');
    ctx.moveTo(x - size, y - size);
    ctx.lineTo(x + size, y + size);
    ctx.moveTo(x - size, y + size);
    ctx.lineTo(x + size, y - size);
    ctx.stroke();
  }
  ctx.restore();
}
