import uPlot from 'uplot';
import { latencyWords, formatCount } from '../../base/units';
import { timeLabel } from '../../measure/show/chartWords';
import { element, setAttributes, setText } from '../element';
import type { Snapshot } from '../../measure/snapshot';

// uPlot declares const enums, which our compiler cannot inline.
/* eslint-disable typescript/no-unsafe-enum-assignment */
export const logarithmic = 3 as uPlot.Scale.Distr;
export const rightSide = 1 as uPlot.Axis.Side;
/* eslint-enable typescript/no-unsafe-enum-assignment */

/** CSS pixels, equal in all charts so that their times align. */
export const sidePadding = { left: 62, right: 54 };

const belowAxis = { size: 32, gap: 10, grid: false };

const nothing = { left: 0, top: 0, width: 0, height: 0 };

const quietChart: Pick<uPlot.Options, 'legend' | 'select' | 'cursor'> = {
  legend: { show: false },
  select: { show: false, ...nothing },
  cursor: { show: false },
};

/** Options for choosing a range by dragging. */
export function rangeSelection(
  view: Pick<TimeView, 'zoom' | 'point'>,
): Pick<ChartOptions, 'cursor' | 'select'> & { readonly setSelect: (plot: uPlot) => void } {
  return {
    cursor: {
      ...{ x: false, y: false, points: { show: false } },
      drag: { x: true, y: false, setScale: false, dist: 5 },
      // A double click of uPlot would reset to its own idea of the whole.
      bind: { dblclick: () => null },
    },
    select: { show: true, ...nothing },
    setSelect: (plot) => {
      const { left, width } = plot.select;
      if (width === 0) return;
      plot.setSelect(nothing, false);
      const range = [left, left + width].map((x) => plot.posToVal(x, 'x')) as [number, number];
      // The pointed place moves away under the mouse.
      view.point(undefined);
      view.zoom(range);
    },
  };
}

type AxisParts = Pick<
  uPlot.Axis,
  'scale' | 'splits' | 'values' | 'size' | 'gap' | 'side' | 'space' | 'incrs'
> & { readonly grid?: boolean };

function axis({ grid = true, ...parts }: AxisParts): uPlot.Axis {
  return {
    ...parts,
    stroke: () => themeColour('--quiet'),
    font: axisFont(),
    grid: { show: grid, stroke: () => themeColour('--chart-grid'), width: 1 },
    ticks: { show: false },
    border: { show: false },
  };
}

export function timeAxis(): uPlot.Axis {
  return axis({
    values: (_plot, splits) => splits.map(timeLabel),
    incrs: [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400],
    ...belowAxis,
    space: 70,
  });
}

export const countAxis = (parts: AxisParts): uPlot.Axis =>
  axis({
    values: (_plot, splits) => splits.map((value) => formatCount(value)),
    incrs: wholeSteps,
    ...parts,
  });

export const countAxisBelow = (space: number): uPlot.Axis => countAxis({ ...belowAxis, space });

/** An axis with labels for given places; places beyond the last point are dropped. */
export const placeAxis = (
  places: (min: number, max: number) => readonly number[],
  label: (place: number) => string,
): uPlot.Axis =>
  axis({
    splits: (_plot, _axis, min, max) => places(min, max).filter((each) => each <= max + 1e-9),
    values: (plot, splits) => apartLabels(plot, splits, label),
    ...belowAxis,
  });

export const latencyAxis = (): uPlot.Axis =>
  axis({
    scale: 'y',
    splits: decades,
    values: (_plot, splits) => splits.map((us) => latencyWords(us)),
    size: sidePadding.left,
  });

const wholeSteps = Array.from({ length: 12 }, (_, at) => 10 ** at).flatMap((power) => [
  power,
  2 * power,
  5 * power,
]);

function decades(_plot: uPlot, _axis: number, min: number, max: number): number[] {
  const first = Math.ceil(Math.log10(min) - 1e-9);
  const last = Math.floor(Math.log10(max) + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => 10 ** (first + at));
}

/** Whole decades of microseconds around the values; from 1 ms without values. */
function decadeRange(min: number | null, max: number | null): [number, number] {
  const low = 10 ** Math.floor(Math.log10(Math.max(1, min ?? 1000)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(10, max ?? 10)));
  return [low, Math.max(high, low * 10)];
}

/** Decades of microseconds that include a limit. */
export const latencyScale = (limitUs: () => number = () => 0): uPlot.Scale => ({
  ...{ distr: logarithmic, log: 10 },
  range: (_plot, min, max) => decadeRange(min, Math.max(max, limitUs())),
});

const joinedLine = ({ colour, dash, widthPx }: LegendLine): uPlot.Series => ({
  stroke: () => themeColour(`--line-${colour}`),
  ...{ width: widthPx, spanGaps: true, points: { show: false } },
  ...(dash.length > 0 && { dash: [...dash] }),
});

function apartLabels(
  plot: uPlot,
  splits: readonly number[],
  label: (split: number) => string,
): string[] {
  let free = -Infinity;
  return splits.map((split) => {
    const text = label(split);
    const [at, half] = [plot.valToPos(split, 'x'), text.length * 3.3];
    if (at - half < free) return '';
    free = at + half + 6;
    return text;
  });
}

export const latencyOptions = (
  lines: readonly LegendLine[],
  below: uPlot.Axis,
  range: (min: number, max: number) => [number, number],
  { right = 18, limitUs }: { readonly right?: number; readonly limitUs?: () => number } = {},
): ChartOptions => ({
  height: 240,
  padding: [14, right, 0, 0],
  series: [{}, ...lines.map(joinedLine)],
  scales: {
    x: { time: false, range: (_plot, min, max) => range(min, max) },
    y: latencyScale(limitUs),
  },
  axes: [below, latencyAxis()],
});

export function drawLimit(plot: uPlot, us: number): void {
  const { ctx, bbox } = plot;
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

/** Curves over the union of their places; undefined where one has no point. */
export function alignedCurves(curves: readonly (readonly (readonly [x: number, us: number])[])[]) {
  const known = curves.map((points) => new Map(points));
  const places = [...new Set(known.flatMap((points) => [...points.keys()]))].sort((a, b) => a - b);
  return { places, values: known.map((points) => places.map((place) => points.get(place))) };
}

export type ChartOptions = Omit<uPlot.Options, 'width'>;

export type Chart = ReturnType<typeof createChart>;

export function createChart() {
  const place = element('div.chart');
  let plot: uPlot | undefined;
  let drawn: unknown;
  let hidden: ReadonlySet<number> = new Set();
  const showLines = (): void => {
    for (const [at, { show }] of plot?.series.slice(1).entries() ?? []) {
      if (show === hidden.has(at)) plot!.setSeries(at + 1, { show: !hidden.has(at) });
    }
  };
  const observer = new ResizeObserver(() => {
    const width = place.clientWidth;
    if (plot && width > 0 && width !== plot.width) plot.setSize({ width, height: plot.height });
  });
  observer.observe(place);
  return {
    place,
    plot: (): uPlot | undefined => plot,
    hideLines(lines: ReadonlySet<number>): void {
      hidden = lines;
      showLines();
    },
    isShown: (line: number): boolean => !hidden.has(line),
    /** Draws the data; another `kind` recreates the chart. */
    show(data: uPlot.AlignedData, kind: unknown, options: () => ChartOptions): void {
      if (plot && kind === drawn) {
        plot.setData(data);
        return;
      }
      plot?.destroy();
      drawn = kind;
      const width = Math.max(200, place.clientWidth);
      plot = new uPlot({ ...quietChart, width, ...options() }, data, place);
      showLines();
    },
    /** Calls back once the chart has the data, so that positions are right. */
    settled: (then: () => void): void => queueMicrotask(then),
    dispose(): void {
      observer.disconnect();
      plot?.destroy();
    },
    redraw(): void {
      themeValues.clear();
      plot?.redraw(false, true);
    },
  };
}

/** Cached: reading styles while drawing makes the browser recompute them all. */
const themeValues = new Map<string, string>();

function themeValue(name: string, read: (style: CSSStyleDeclaration) => string): string {
  let value = themeValues.get(name);
  if (value === undefined) {
    value = read(getComputedStyle(document.body));
    themeValues.set(name, value);
  }
  return value;
}

/** A theme colour that panel.css defines, such as `--line-p50`. */
export const themeColour = (name: string): string =>
  themeValue(name, (style) => style.getPropertyValue(name).trim() || 'currentcolor');

export const axisFont = (): string => themeValue('font', ({ fontFamily }) => `11px ${fontFamily}`);

const svgNamespace = 'http://www.w3.org/2000/svg';

export interface LegendLine {
  readonly label: string;
  readonly colour: string;
  readonly dash: readonly number[];
  readonly widthPx: number;
}

/**
 * A legend. With `chosen`, a click shows only that line, a second click all; Ctrl or Shift toggles it. `chosen`
 * gets the hidden lines.
 */
export function createLegend(
  lines: readonly LegendLine[],
  chosen?: (hidden: ReadonlySet<number>) => void,
) {
  const values = lines.map(() => element('span.value'));
  const labels = lines.map(({ label }) => element('span', label));
  let shown: ReadonlySet<number> = new Set();
  const parts = lines.map((line, at) => {
    const content = [sample(line), labels[at]!, values[at]!];
    if (!chosen) return content;
    const button = element('button.plain', { type: 'button', 'aria-pressed': 'false' }, ...content);
    button.addEventListener('click', ({ ctrlKey, metaKey, shiftKey }) => {
      shown = shownAfterClick(shown, at, ctrlKey || metaKey || shiftKey, lines.length);
      for (const [each, item] of items.entries()) {
        const only = shown.has(each);
        item.classList.toggle('away', shown.size > 0 && !only);
        item.firstElementChild!.setAttribute('aria-pressed', String(only));
      }
      const all = lines.map((_, each) => each);
      chosen(new Set(shown.size === 0 ? [] : all.filter((each) => !shown.has(each))));
    });
    return [button];
  });
  const items = parts.map((content) => element('li', ...content));
  return {
    root: element('ul.legend', ...items),
    setValues(texts: readonly string[]): void {
      for (const [at, text] of texts.entries()) if (values[at]) setText(values[at], text);
    },
    showLine(at: number, visible: boolean): void {
      if (items[at]) items[at].hidden = !visible;
    },
    setLabel(at: number, label: string): void {
      if (labels[at]) setText(labels[at], label);
    },
  };
}

/** The lines shown alone after a click; an empty set shows all. */
export function shownAfterClick(
  shown: ReadonlySet<number>,
  at: number,
  beside: boolean,
  count: number,
): ReadonlySet<number> {
  if (!beside) return shown.size === 1 && shown.has(at) ? new Set() : new Set([at]);
  const all = shown.size === 0 ? Array.from({ length: count }, (_, each) => each) : [...shown];
  const next = all.includes(at) ? all.filter((each) => each !== at) : [...all, at];
  return new Set(next.length === count ? [] : next);
}

function sample({ colour, dash, widthPx }: LegendLine): SVGSVGElement {
  const svg = document.createElementNS(svgNamespace, 'svg');
  const line = document.createElementNS(svgNamespace, 'line');
  setAttributes(svg, { width: '24', height: '8', 'aria-hidden': 'true', class: `line-${colour}` });
  setAttributes(line, { x1: '0', x2: '24', y1: '4', y2: '4', 'stroke-width': String(widthPx) });
  if (dash.length > 0) line.setAttribute('stroke-dasharray', dash.join(' '));
  svg.append(line);
  return svg;
}

/** Seconds since the run began. */
export type TimeRange = readonly [fromS: number, toS: number];

interface TimeFollower {
  pointed(): void;
  zoomed(): void;
}

export type TimeView = ReturnType<typeof createTimeView>;

/** Shortest range, seconds. */
const shortestS = 2;

/** Pointed moment and zoomed range, shared by all charts over time. */
export function createTimeView() {
  const followers = new Set<TimeFollower>();
  let moment: number | undefined;
  let range: TimeRange | undefined;
  return {
    get moment(): number | undefined {
      return moment;
    },
    get range(): TimeRange | undefined {
      return range;
    },
    /** @returns a function that unsubscribes */
    follow(follower: TimeFollower): () => void {
      followers.add(follower);
      return () => {
        followers.delete(follower);
      };
    },
    point(seconds: number | undefined): void {
      if (seconds === moment) return;
      moment = seconds;
      for (const follower of followers) follower.pointed();
    },
    zoom(next: TimeRange | undefined): void {
      if (next === undefined && range === undefined) return;
      range = next && bounded(next);
      for (const follower of followers) follower.zoomed();
    },
  };
}

function bounded([fromS, toS]: TimeRange): TimeRange {
  const [low, high] = [Math.max(0, Math.min(fromS, toS)), Math.max(fromS, toS)];
  if (high - low >= shortestS) return [low, high];
  const middle = Math.max(shortestS / 2, (low + high) / 2);
  return [middle - shortestS / 2, middle + shortestS / 2];
}

/** Zooms around a moment; undefined if that is the whole run. */
export function zoomedBy(
  factor: number,
  aroundS: number,
  [fromS, toS]: TimeRange,
  endS: number,
): TimeRange | undefined {
  const [low, high] = [fromS, toS].map((end) => aroundS + (end - aroundS) * factor) as [
    number,
    number,
  ];
  return low <= 0 && high >= endS ? undefined : [Math.max(0, low), Math.min(endS, high)];
}

/** Snapshots of a range and one neighbour on each side, for the lines. */
export function snapshotsIn(
  snapshots: readonly Snapshot[],
  range: TimeRange | undefined,
): readonly Snapshot[] {
  if (range === undefined) return snapshots;
  const [fromMs, toMs] = [range[0] * 1000, range[1] * 1000];
  const first = snapshots.findIndex(({ atMs }) => atMs >= fromMs);
  const behind = snapshots.findIndex(({ atMs }) => atMs > toMs);
  if (first < 0) return [];
  return snapshots.slice(Math.max(0, first - 1), behind < 0 ? undefined : behind + 1);
}
