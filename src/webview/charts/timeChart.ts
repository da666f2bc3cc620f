import type uPlot from 'uplot';
import { fill } from '../../base/text';
import { latencyLimits, type SummaryKey } from '../../base/objectives/percentile';
import { latencyWords, formatCount } from '../../base/units';
import { isTailHidden, shownPercentiles } from '../../measure/latencySummary';
import {
  type ChartUnit,
  latencyOrLost,
  timeLabel,
  valueWords,
} from '../../measure/show/chartWords';
import { observedCharts } from '../../measure/show/observedWords';
import { chartTable, seriesLabel } from '../../measure/show/panelTables';
import {
  ChartColumns,
  type ChartPoints,
  readChartColumns,
  combineValues,
  combineByUnit,
  isolatedPoints,
  type RightAxis,
  chooseRightAxis,
  type SeriesSpec,
  type StepBand,
  stepBands,
  type TimeChartSpec,
} from '../../measure/show/timeSeries';
import type { PanelStrings } from '../../measure/show/panelStrings';
import { element } from '../element';
import { axisEndS, isOver, type ShownRun } from '../panelState';
import { noteOf, type TableView } from '../tables/card';
import { shownNumbers } from '../tables/tiles';
import {
  axisFont,
  rangeSelection,
  countAxis,
  drawLimit,
  latencyAxis,
  latencyScale,
  rightSide,
  sidePadding,
  themeColour,
  timeAxis,
  type ChartOptions,
  snapshotsIn,
  type TimeRange,
  type TimeView,
} from './chartFrame';
import { createChartCard, type ChartCard } from './chartCard';

/** More points would hide dashes. */
const mostPoints = 400;

/** A chart over time. The legend shows the pointed moment, else the values {@link legendAtRest}. */
export function createTimeChartCard(
  spec: TimeChartSpec,
  { strings }: ShownRun,
  view: TimeView,
): ChartCard<ShownRun> {
  const title = strings[spec.title];
  const names = spec.series.map((line) => seriesLabel(line, strings));
  const lines = spec.series.map((line, at) => ({ ...line, colour: line.id, label: names[at]! }));
  const ofRun = new ChartColumns(spec);
  const isNew = createNovelty();
  let backdrop: TimeBackdrop = { bands: [], limits: [], range: [0, 1] };
  return createChartCard<ShownRun>({
    ...{ name: `chart-${spec.id}`, title, strings, lines },
    time: { view, endS: axisEndS },
    view(state) {
      const { range } = view;
      const shown = { ...state, snapshots: snapshotsIn(state.snapshots, range) };
      const whole = ofRun.of(state.snapshots, mostPoints);
      const columns = range ? readChartColumns(spec, shown.snapshots, mostPoints) : whole;
      const isFinal = isOver(state) || range !== undefined;
      backdrop = backdropOf(state, range);
      const right = chooseRightAxis(spec, whole);
      const rest = legendAtRest(spec, columnsInRange(columns, range), state, range);
      const isRight = ({ id }: SeriesSpec): boolean => right !== 'none' && spec.right.includes(id);
      return {
        ...{ title, rest, kind: right, isFinal, isDrawn: !isNew(columns, right, !isFinal) },
        data: [[...columns.seconds], ...columns.lines.map((line) => [...line])],
        labels: spec.series.map((line, at) =>
          isRight(line) ? fill(strings.onRight, names[at]!) : names[at]!,
        ),
        spoken: [
          `${title}, ${rest.label}`,
          names.map((name, at) => `${name} ${rest.values[at]}`).join(', '),
        ],
        options: () => options(spec, right, () => backdrop, strings, view),
        read: (index) => ({
          title: timeLabel(columns.seconds[index] ?? 0),
          values: columns.lines.map((line) => pointWords(spec.unit, line[index], strings)),
        }),
        table: () => chartTableOf(spec, shown),
      };
    },
  });
}

/**
 * Whether redrawing shows anything new: while a whole run grows and points span several seconds, only a new point
 * does.
 */
function createNovelty() {
  let last: string | undefined;
  return ({ seconds, perPoint }: ChartPoints, right: RightAxis, grows: boolean): boolean => {
    const drawn = grows && perPoint > 1 ? `${seconds.length} ${right}` : undefined;
    const isNew = drawn === undefined || drawn !== last;
    last = drawn;
    return isNew;
  };
}

interface LimitLine {
  readonly metric: string;
  readonly us: number;
}

function backdropOf(state: ShownRun, range: TimeRange | undefined): TimeBackdrop {
  return {
    bands: stepBands(state.snapshots),
    limits: latencyLimits(state.run.scenario.slo),
    range: range ?? [0, Math.max(1, axisEndS(state))],
  };
}

interface TimeBackdrop {
  readonly bands: readonly StepBand[];
  readonly limits: readonly LimitLine[];
  readonly range: TimeRange;
}

function options(
  spec: TimeChartSpec,
  right: RightAxis,
  backdrop: () => TimeBackdrop,
  strings: PanelStrings,
  view: TimeView,
): ChartOptions {
  const { setSelect, ...dragging } = rangeSelection(view);
  const isLatency = spec.unit === 'latency';
  const twoSides = right !== 'none';
  const outAxis = countAxis({
    scale: 'out',
    side: rightSide,
    size: sidePadding.right,
    grid: false,
  });
  const upFromZero =
    (room: number): uPlot.Range.Function =>
    (_plot, _min, max) => [0, Math.max(10, max) * room];
  return {
    ...dragging,
    height: isLatency ? 270 : 180,
    padding: [8, twoSides ? 0 : sidePadding.right, 0, 0],
    series: [
      {},
      ...spec.series.map((series) => lineOf(series, twoSides && spec.right.includes(series.id))),
    ],
    scales: {
      x: { time: false, range: () => [...backdrop().range] },
      y: isLatency
        ? latencyScale(() => Math.max(0, ...backdrop().limits.map(({ us }) => us * 1.2)))
        : { range: upFromZero(right === 'larger' ? 1.4 : 1.08) },
      // Lines of one ratio would overlap: the larger ones go above.
      ...(twoSides && { out: { range: upFromZero(right === 'larger' ? 1.08 : 1.4) } }),
    },
    axes: [
      timeAxis(),
      isLatency ? latencyAxis() : countAxis({ scale: 'y', size: sidePadding.left }),
      ...(twoSides ? [outAxis] : []),
    ],
    hooks: {
      drawClear: [(plot) => drawBands(plot, backdrop())],
      // Above the lines, to stay readable.
      draw: isLatency
        ? [
            (plot) => backdrop().limits.forEach(({ us }) => drawLimit(plot, us)),
            (plot) => drawSenders(plot, backdrop().bands, strings),
            (plot) => drawLimitNames(plot, backdrop().limits, strings),
          ]
        : [],
      setSelect: [setSelect],
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
      filter: (plot, at) => isolatedPoints(plot.data[at]!),
      ...{ size: 2 * widthPx + 2, width: 1, stroke, fill: stroke },
    },
  };
}

/** Shades every second step; a line separates them in high contrast. */
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
    const shownLeft = Math.max(left, bbox.left);
    const room = Math.min(right, bbox.left + bbox.width) - shownLeft - 10 * devicePixelRatio;
    const place = { left: shownLeft + 6 * devicePixelRatio, top: bbox.top + 4 * devicePixelRatio };
    drawOnPlate(ctx, text, '--quiet', (width) => (width <= room ? place : undefined));
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

/** Draws text on an opaque plate; `placeOf` gets its width. Canvas pixels. */
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

/** Charts of the observed server; none without data. */
export function createObservedCharts(view: TimeView) {
  const root = element('div.observed');
  root.hidden = true;
  let cards: ChartCard<ShownRun>[] = [];
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
        for (const card of cards) card.dispose();
        cards = specs.map((spec) => createTimeChartCard(spec, state, view));
        root.replaceChildren(...cards.map(({ card }) => card.root));
        root.hidden = cards.length === 0;
      }
      for (const card of cards) card.update(state);
    },
    redraw(): void {
      for (const card of cards) card.redraw();
    },
  };
}

export function columnsInRange(columns: ChartPoints, range: TimeRange | undefined): ChartPoints {
  if (range === undefined) return columns;
  const { seconds, lines, perPoint } = columns;
  const inside = (_: unknown, at: number): boolean =>
    seconds[at]! >= range[0] && seconds[at]! <= range[1];
  return {
    seconds: seconds.filter(inside),
    lines: lines.map((line) => line.filter(inside)),
    perPoint,
  };
}

/**
 * Legend values without pointer. Latency: those of the tile, with the worst second. Else the latest, or mean and
 * last of a finished run. Of a zoomed range the worst, mean or last.
 */
export function legendAtRest(
  { id, unit, series }: TimeChartSpec,
  { lines }: ChartPoints,
  state: ShownRun,
  range?: TimeRange,
): { readonly label: string; readonly values: readonly string[] } {
  const { strings } = state;
  const over = isOver(state);
  const combine = over || range || unit === 'latency' ? combineByUnit[unit] : 'last';
  const combinedLines = lines.map((line) => combineValues(line, combine));
  const values = combinedLines.map((value) => pointWords(unit, value, strings));
  if (range) {
    const parts = { max: strings.worstOf, mean: strings.meanOf, last: strings.endOf };
    return { label: fill(parts[combine], ...range.map(timeLabel)), values };
  }
  if (id !== 'latency') {
    const label = combine === 'mean' ? strings.meanOfRun : strings.endOfRun;
    return { label: over ? label : strings.latest, values };
  }
  const numbers = shownNumbers(state);
  const shown = numbers && shownPercentiles(numbers);
  const worst = values[series.findIndex((line) => line.id === 'p99')] ?? strings.noValue;
  return {
    label: numbers ? fill(strings.ofStep, formatCount(numbers.index), worst) : '',
    values: series.map((line) => latencyOrLost(shown?.[line.id as SummaryKey], strings)),
  };
}

const pointWords = (
  unit: ChartUnit,
  value: number | null | undefined,
  { noValue }: PanelStrings,
): string => (value === null || value === undefined ? noValue : valueWords(unit, value));

export function chartTableOf(spec: TimeChartSpec, { strings, snapshots }: ShownRun): TableView {
  const { summed, ...table } = chartTable(spec, snapshots, strings);
  const latencies = snapshots.map(({ interval }) => interval?.latencyUs);
  const isCut = spec.unit === 'latency' && isTailHidden(latencies);
  return { ...table, ...noteOf(summed, isCut && strings.tailNote) };
}
