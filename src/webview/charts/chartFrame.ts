import uPlot from 'uplot';
import { latencyWords, formatCount } from '../../base/units';
import { timeLabel } from '../../measure/show/chartWords';
import { element, setAttributes, setText } from '../element';
import type { TimeView } from './timeView';

// The library declares these names for compilers that put numbers in their place; ours may not.
/* eslint-disable typescript/no-unsafe-enum-assignment */
export const logarithmic = 3 as uPlot.Scale.Distr;
export const rightSide = 1 as uPlot.Axis.Side;
/* eslint-enable typescript/no-unsafe-enum-assignment */

/** Room on both sides of a chart over time, CSS pixels: the same in all, so that their times stand in line. */
export const sideRoom = { left: 62, right: 54 };

/** An axis below a chart: low enough that its first label keeps away from the lowest one at the side. */
const belowAxis = { size: 32, gap: 10, grid: false };

const nothing = { left: 0, top: 0, width: 0, height: 0 };

const quietChart: Pick<uPlot.Options, 'legend' | 'select' | 'cursor'> = {
  legend: { show: false },
  select: { show: false, ...nothing },
  cursor: { show: false },
};

/** Options of a chart over time in which a part of the run is chosen by dragging. */
export function choosesRange(
  view: Pick<TimeView, 'zoom' | 'point'>,
): Pick<ChartOptions, 'cursor' | 'select'> & { readonly setSelect: (plot: uPlot) => void } {
  return {
    cursor: {
      ...{ x: false, y: false, points: { show: false } },
      drag: { x: true, y: false, setScale: false, dist: 5 },
      // The library would show what it takes for the whole.
      bind: { dblclick: () => null },
    },
    select: { show: true, ...nothing },
    setSelect: (plot) => {
      const { left, width } = plot.select;
      if (width === 0) return;
      plot.setSelect(nothing, false);
      const range = [left, left + width].map((x) => plot.posToVal(x, 'x')) as [number, number];
      // What was pointed at moves away under the mouse.
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

/** An axis that counts, with labels at whole numbers. */
export const countAxis = (parts: AxisParts): uPlot.Axis =>
  axis({
    values: (_plot, splits) => splits.map((value) => formatCount(value)),
    incrs: wholeSteps,
    ...parts,
  });

export const countAxisBelow = (space: number): uPlot.Axis => countAxis({ ...belowAxis, space });

/** An axis below whose places have words of their own; those beyond the last point are left out. */
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
    size: sideRoom.left,
  });

/** Steps between the labels of an axis that counts: whole numbers. */
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

/** Whole decades of microseconds around the values, at least one; from 1 ms where there are none. */
function decadeRange(min: number | null, max: number | null): [number, number] {
  const low = 10 ** Math.floor(Math.log10(Math.max(1, min ?? 1000)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(10, max ?? 10)));
  return [low, Math.max(high, low * 10)];
}

/** Microseconds in whole decades, with room for a limit. */
export const latencyScale = (limitUs: () => number = () => 0): uPlot.Scale => ({
  ...{ distr: logarithmic, log: 10 },
  range: (_plot, min, max) => decadeRange(min, Math.max(max, limitUs())),
});

/** A line that goes on over gaps. */
const joinedLine = ({ colour, dash, widthPx }: LegendLine): uPlot.Series => ({
  stroke: () => themeColour(`--line-${colour}`),
  ...{ width: widthPx, spanGaps: true, points: { show: false } },
  ...(dash.length > 0 && { dash: [...dash] }),
});

/** Leaves out a label that would touch the one before it. */
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

/** Lines of latency over anything else than time. */
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

/** A dashed line at a limit of latency. */
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
    // The first series is the axis.
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
    /** The chart as it is drawn now; undefined before the first time. */
    plot: (): uPlot | undefined => plot,
    /** Leaves out lines by their numbers. */
    hideLines(lines: ReadonlySet<number>): void {
      hidden = lines;
      showLines();
    },
    isShown: (line: number): boolean => !hidden.has(line),
    /** Draws the data; a chart of another `kind` is made anew with the options. */
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
    /** Calls back when the chart has taken over what it was given, so that its places are right. */
    settled: (then: () => void): void => queueMicrotask(then),
    dispose(): void {
      observer.disconnect();
      plot?.destroy();
    },
    /** In the colours of another theme. */
    redraw(): void {
      themeValues.clear();
      plot?.redraw(false, true);
    },
  };
}

/** Of the present theme: to read one in the middle of drawing makes the browser compute all styles anew. */
const themeValues = new Map<string, string>();

function themeValue(name: string, read: (style: CSSStyleDeclaration) => string): string {
  let value = themeValues.get(name);
  if (value === undefined) {
    value = read(getComputedStyle(document.body));
    themeValues.set(name, value);
  }
  return value;
}

/** Reads a colour that panel.css takes from the editor's theme, such as `--line-p50`, for drawing. */
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
 * A legend; with `chosen`, each line is a button that leaves it alone in the chart, and again shows all. With Ctrl or Shift it
 * comes and goes beside the others. `chosen` gets the lines to hide.
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
      shown = afterClick(shown, at, ctrlKey || metaKey || shiftKey, lines.length);
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

/** The lines that are shown alone after a click on one; none of them chosen means all are shown. */
export function afterClick(
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
