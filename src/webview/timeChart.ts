import uPlot from 'uplot';
import { formatCount } from '../base/units';
import { latencyWords } from '../measure/sloWords';
import type { PanelStrings } from '../protocol/panelStrings';
import {
  axis,
  decadeRange,
  decades,
  keepWidth,
  logarithmic,
  quietChart,
  rightSide,
  timeAxis,
  wholeSteps,
} from './chartFrame';
import { usesRightAxis, type Columns } from './columns';
import type { StepBand } from './stepBands';
import { axisFont, themeColour } from './theme';
import type { SeriesSpec, TimeChartSpec } from './timeCharts';
import { fill } from './wording';

/** A limit of the run, drawn as a line across. */
export interface LimitLine {
  readonly metric: string;
  readonly us: number;
}

/** What is drawn beside the lines. */
export interface TimeBackdrop {
  readonly bands: readonly StepBand[];
  readonly limits: readonly LimitLine[];
  /** End of the time axis, seconds. */
  readonly endS: number;
}

export interface TimeChart {
  /** Draws these values; `pointed` is told which of them the pointer is at. */
  update(columns: Columns, backdrop: TimeBackdrop): void;
  redraw(): void;
}

/** Draws the lines of `spec` into `place`. */
export function createTimeChart(
  place: HTMLElement,
  spec: TimeChartSpec,
  strings: PanelStrings,
  pointed: (at: number | undefined) => void,
): TimeChart {
  let plot: uPlot | undefined;
  let backdrop: TimeBackdrop = { bands: [], limits: [], endS: 1 };
  keepWidth(place, () => plot);
  const make = (data: uPlot.AlignedData, twoSides: boolean): uPlot =>
    new uPlot(
      options(spec, place, twoSides, () => backdrop, strings, pointed),
      data,
      place,
    );
  let sides = false;
  return {
    update(columns, next) {
      backdrop = next;
      const data: uPlot.AlignedData = [
        [...columns.seconds],
        ...columns.lines.map((line) => [...line]),
      ];
      const twoSides = usesRightAxis(spec, columns);
      if (!plot || twoSides !== sides) {
        plot?.destroy();
        plot = make(data, twoSides);
        sides = twoSides;
      } else plot.setData(data);
    },
    redraw: () => plot?.redraw(false, true),
  };
}

type Backdrop = () => TimeBackdrop;

function options(
  spec: TimeChartSpec,
  place: HTMLElement,
  twoSides: boolean,
  backdrop: Backdrop,
  strings: PanelStrings,
  pointed: (at: number | undefined) => void,
): uPlot.Options {
  const isLatency = spec.unit === 'latency';
  const label = isLatency
    ? (value: number) => latencyWords(value)
    : (value: number) => formatCount(value);
  const values = (_plot: uPlot, splits: number[]): string[] => splits.map(label);
  const upFromZero =
    (room: number): uPlot.Range.Function =>
    (_plot, _min, max) => [0, Math.max(10, max) * room];
  return {
    ...quietChart,
    width: Math.max(200, place.clientWidth),
    height: isLatency ? 270 : 180,
    padding: [8, twoSides ? 0 : 26, 0, 0],
    series: [
      {},
      ...spec.series.map((series) => lineOf(series, twoSides && spec.right.includes(series.id))),
    ],
    scales: {
      x: { time: false, range: (_plot, _min, max) => [0, Math.max(1, max, backdrop().endS)] },
      y: isLatency
        ? {
            distr: logarithmic,
            log: 10,
            range: (_plot, min, max) => latencyRange(min, max, backdrop()),
          }
        : { range: upFromZero(1.08) },
      // Lower than what is sent, where it would lie upon it in a fan-out of one ratio.
      ...(twoSides && { out: { range: upFromZero(1.4) } }),
    },
    axes: [
      timeAxis(),
      axis({
        scale: 'y',
        values,
        size: 62,
        ...(isLatency ? { splits: decades } : { incrs: wholeSteps }),
      }),
      ...(twoSides
        ? [
            axis({
              scale: 'out',
              side: rightSide,
              values,
              size: 62,
              grid: false,
              incrs: wholeSteps,
            }),
          ]
        : []),
    ],
    hooks: {
      drawClear: [(plot) => drawBands(plot, backdrop(), isLatency ? strings : undefined)],
      draw: isLatency ? [(plot) => drawLimits(plot, backdrop().limits, strings)] : [],
      setCursor: [(plot) => pointed(plot.cursor.idx ?? undefined)],
    },
  };
}

function lineOf({ colour, dash, widthPx }: SeriesSpec, onRight: boolean): uPlot.Series {
  return {
    scale: onRight ? 'out' : 'y',
    stroke: () => themeColour(`--line-${colour}`),
    width: widthPx,
    ...(dash.length > 0 && { dash: [...dash] }),
    // A run of a few seconds would otherwise show nothing.
    points: { show: (plot) => plot.data[0].length < 4, size: 5 },
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

/** Every second step is shaded; in high contrast a line parts them. The senders stand on top. */
function drawBands(plot: uPlot, { bands }: TimeBackdrop, strings: PanelStrings | undefined): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { index, fromS, toS, senders } of bands) {
    const [left, right] = [plot.valToPos(fromS, 'x', true), plot.valToPos(toS, 'x', true)];
    if (index % 2 === 1) {
      ctx.fillStyle = themeColour('--band');
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.fillStyle = themeColour('--chart-grid');
    ctx.fillRect(left, bbox.top, devicePixelRatio, bbox.height);
    if (!strings) continue;
    const text = fill(strings.senders, formatCount(senders));
    setFont(ctx);
    ctx.fillStyle = themeColour('--quiet');
    ctx.textAlign = 'left';
    ctx.textBaseline = 'top';
    // Where it does not fit it is left out; the table of steps has it.
    const room = right - left - 10 * devicePixelRatio;
    if (ctx.measureText(text).width <= room) {
      ctx.fillText(text, left + 6 * devicePixelRatio, bbox.top + 4 * devicePixelRatio);
    }
  }
  ctx.restore();
}

function drawLimits(plot: uPlot, limits: readonly LimitLine[], strings: PanelStrings): void {
  const { ctx, bbox } = plot;
  for (const { metric, us } of limits) {
    const y = Math.round(plot.valToPos(us, 'y', true)) + 0.5;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = themeColour('--bad');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    setFont(ctx);
    ctx.textAlign = 'right';
    ctx.textBaseline = 'top';
    const text = fill(strings.criterion, metric, latencyWords(us));
    ctx.fillText(text, bbox.left + bbox.width - 4, y + 4 * devicePixelRatio);
    ctx.restore();
  }
}

function setFont(ctx: CanvasRenderingContext2D): void {
  ctx.font = axisFont().replace('11px', `${11 * devicePixelRatio}px`);
}
