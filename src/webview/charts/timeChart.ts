import type uPlot from 'uplot';
import { byShare, isPercentile } from '../../base/objectives/percentile';
import { fill, latencyWords } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import { timeLabel, valueWords } from '../../measure/show/chartWords';
import {
  columnsOf,
  islandsOf,
  rightAxisOf,
  stepBands,
  type Columns,
  type RightAxis,
  type SeriesSpec,
  type StepBand,
  type TimeChartSpec,
} from '../../measure/show/timeSeries';
import type { PanelStrings } from '../../protocol/panelStrings';
import { element, setText } from '../element';
import { axisEndS, isOver, type ShownRun } from '../panelState';
import { createCard, createTwin, type StateCard } from '../tables/card';
import {
  axis,
  axisFont,
  createChart,
  createLegend,
  decadeRange,
  latencyAxis,
  logarithmic,
  rightSide,
  sideRoom,
  themeColour,
  timeAxis,
  wholeSteps,
  type ChartOptions,
} from './chartFrame';
import { atRest, chartTable, seriesLabel } from './timeCharts';

/** Lines with a point at every pixel would hide each other. */
const mostPoints = 400;

/** A chart over time with legend and table; the legend shows the values at the pointer, else those {@link atRest}. */
export function createTimeChartCard(spec: TimeChartSpec, { strings }: ShownRun): StateCard {
  const title = strings[spec.title];
  const card = createCard(title, `chart-${spec.id}`);
  const chart = createChart();
  const { place } = chart;
  const legend = createLegend(
    spec.series.map((line) => ({ ...line, colour: line.id, label: seriesLabel(line, strings) })),
  );
  const at = element('span.at');
  const twin = createTwin(strings.asTable, title);
  card.body.append(place, element('div.below', legend.root, at), twin.root);
  let columns: Columns = { seconds: [], lines: [], perPoint: 1 };
  let over = false;
  let pointedAt: number | undefined;
  const words = (value: number | null | undefined): string =>
    value === null || value === undefined ? strings.noValue : valueWords(spec.unit, value);
  const showValues = (): void => {
    const index = pointedAt;
    const { label, values } =
      index === undefined
        ? atRest(spec, columns, over, strings)
        : {
            label: timeLabel(columns.seconds[index] ?? 0),
            values: columns.lines.map((line) => line[index]),
          };
    setText(at, label);
    legend.setValues(values.map(words));
  };
  const describe = (): void => {
    const { label, values } = atRest(spec, columns, over, strings);
    const shown = spec.series.map(
      (series, index) => `${seriesLabel(series, strings)} ${words(values[index])}`,
    );
    const text = fill(strings.chartSummary, `${title}, ${label}`, shown.join(', '));
    place.setAttribute('aria-label', text);
  };
  let backdrop: TimeBackdrop = { bands: [], limits: [], endS: 1 };
  return {
    card,
    update(state) {
      const { snapshots } = state;
      columns = columnsOf(spec, snapshots, mostPoints);
      over = isOver(state);
      const [bands, limits, endS] = [stepBands(snapshots), limitsOf(state), axisEndS(state)];
      backdrop = { bands, limits, endS };
      const right = rightAxisOf(spec, columns);
      chart.show([[...columns.seconds], ...columns.lines.map((line) => [...line])], right, () =>
        options(
          spec,
          right,
          () => backdrop,
          strings,
          (index) => {
            pointedAt = index;
            showValues();
          },
        ),
      );
      const twoSides = right !== 'none';
      for (const [index, series] of spec.series.entries()) {
        const label = seriesLabel(series, strings);
        const onRight = twoSides && spec.right.includes(series.id);
        legend.setLabel(index, onRight ? fill(strings.onRight, label) : label);
      }
      showValues();
      describe();
      twin.update(() => chartTable(spec, state), over);
    },
    redraw: () => chart.redraw(),
  };
}

function limitsOf({ run }: ShownRun): LimitLine[] {
  const { latencyUs } = run.scenario.slo;
  return Object.keys(latencyUs)
    .filter(isPercentile)
    .sort(byShare)
    .map((metric) => ({ metric, us: latencyUs[metric]! }));
}

interface LimitLine {
  readonly metric: string;
  readonly us: number;
}

interface TimeBackdrop {
  readonly bands: readonly StepBand[];
  readonly limits: readonly LimitLine[];
  readonly endS: number;
}

function options(
  spec: TimeChartSpec,
  right: RightAxis,
  backdrop: () => TimeBackdrop,
  strings: PanelStrings,
  pointed: (at: number | undefined) => void,
): ChartOptions {
  const isLatency = spec.unit === 'latency';
  const twoSides = right !== 'none';
  const values = (_plot: uPlot, splits: number[]): string[] =>
    splits.map((value) => formatCount(value));
  const upFromZero =
    (room: number): uPlot.Range.Function =>
    (_plot, _min, max) => [0, Math.max(10, max) * room];
  return {
    height: isLatency ? 270 : 180,
    padding: [8, twoSides ? 0 : sideRoom.right, 0, 0],
    series: [
      {},
      ...spec.series.map((series) => lineOf(series, twoSides && spec.right.includes(series.id))),
    ],
    scales: {
      x: { time: false, range: () => [0, Math.max(1, backdrop().endS)] },
      y: isLatency
        ? {
            distr: logarithmic,
            log: 10,
            range: (_plot, min, max) => latencyRange(min, max, backdrop()),
          }
        : { range: upFromZero(right === 'larger' ? 1.4 : 1.08) },
      // Lines of one ratio would lie upon each other: the larger ones are drawn above the others.
      ...(twoSides && { out: { range: upFromZero(right === 'larger' ? 1.08 : 1.4) } }),
    },
    axes: [
      timeAxis(),
      isLatency
        ? latencyAxis()
        : axis({ scale: 'y', values, size: sideRoom.left, incrs: wholeSteps }),
      ...(twoSides
        ? [
            axis({
              scale: 'out',
              side: rightSide,
              values,
              size: sideRoom.right,
              grid: false,
              incrs: wholeSteps,
            }),
          ]
        : []),
    ],
    hooks: {
      drawClear: [(plot) => drawBands(plot, backdrop())],
      // Above the lines: what is written has to be read.
      draw: isLatency
        ? [
            (plot) => drawLimitLines(plot, backdrop().limits),
            (plot) => drawSenders(plot, backdrop().bands, strings),
            (plot) => drawLimitNames(plot, backdrop().limits, strings),
          ]
        : [],
      setCursor: [(plot) => pointed(plot.cursor.idx ?? undefined)],
    },
  };
}

function lineOf({ id, dash, widthPx }: SeriesSpec, onRight: boolean): uPlot.Series {
  const stroke = (): string => themeColour(`--line-${id}`);
  return {
    scale: onRight ? 'out' : 'y',
    stroke,
    width: widthPx,
    ...(dash.length > 0 && { dash: [...dash] }),
    points: {
      show: false,
      filter: (plot, at) => islandsOf(plot.data[at]!),
      ...{ size: 2 * widthPx + 2, width: 1, stroke, fill: stroke },
    },
  };
}

function latencyRange(
  min: number | null,
  max: number | null,
  { limits }: TimeBackdrop,
): [number, number] {
  const highest = Math.max(max ?? 0, ...limits.map(({ us }) => us * 1.2));
  return decadeRange(min, highest);
}

/** Every second step is shaded; in high contrast a line parts them. */
function drawBands(plot: uPlot, { bands }: TimeBackdrop): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { index, fromS, toS } of bands) {
    const [left, right] = [plot.valToPos(fromS, 'x', true), plot.valToPos(toS, 'x', true)];
    if (index % 2 === 1) {
      ctx.fillStyle = themeColour('--band');
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.fillStyle = themeColour('--chart-grid');
    ctx.fillRect(left, bbox.top, devicePixelRatio, bbox.height);
  }
  ctx.restore();
}

function drawSenders(plot: uPlot, bands: readonly StepBand[], strings: PanelStrings): void {
  const { ctx, bbox } = plot;
  for (const { fromS, toS, senders } of bands) {
    const [left, right] = [plot.valToPos(fromS, 'x', true), plot.valToPos(toS, 'x', true)];
    const text = fill(strings.senders, formatCount(senders));
    // Where it does not fit it is left out; the table of steps has it.
    const room = right - left - 10 * devicePixelRatio;
    const place = { left: left + 6 * devicePixelRatio, top: bbox.top + 4 * devicePixelRatio };
    drawOnPlate(ctx, text, '--quiet', (width) => (width <= room ? place : undefined));
  }
}

function drawLimitLines(plot: uPlot, limits: readonly LimitLine[]): void {
  const { ctx, bbox } = plot;
  for (const { us } of limits) {
    const y = Math.round(plot.valToPos(us, 'y', true)) + 0.5;
    ctx.save();
    ctx.strokeStyle = themeColour('--bad');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }
}

function drawLimitNames(plot: uPlot, limits: readonly LimitLine[], strings: PanelStrings): void {
  const { ctx, bbox } = plot;
  for (const { metric, us } of limits) {
    const text = fill(strings.criterion, metric, latencyWords(us));
    const top = plot.valToPos(us, 'y', true) + 4 * devicePixelRatio;
    const right = bbox.left + bbox.width - 4 * devicePixelRatio;
    drawOnPlate(ctx, text, '--bad', (width) => ({ left: right - width, top }));
  }
}

/** Writes on a plate that hides the lines below; `placeOf` gets the text's width, all in canvas pixels. */
function drawOnPlate(
  ctx: CanvasRenderingContext2D,
  text: string,
  colour: string,
  placeOf: (width: number) => { readonly left: number; readonly top: number } | undefined,
): void {
  ctx.save();
  ctx.font = axisFont().replace('11px', `${11 * devicePixelRatio}px`);
  ctx.textAlign = 'left';
  ctx.textBaseline = 'top';
  const { width } = ctx.measureText(text);
  const place = placeOf(width);
  if (place) {
    const [margin, height] = [3 * devicePixelRatio, 11 * devicePixelRatio];
    const { left, top } = place;
    ctx.fillStyle = themeColour('--card');
    ctx.fillRect(left - margin, top - margin, width + 2 * margin, height + 2 * margin);
    ctx.fillStyle = themeColour(colour);
    ctx.fillText(text, left, top);
  }
  ctx.restore();
}
