import uPlot from 'uplot';
import { latencyWords } from '../../base/objectives/words';
import {
  axis,
  decades,
  keepWidth,
  logarithmic,
  quietChart,
  sideRoom,
  timeAxis,
} from './chartFrame';
import { heat, type HeatMap } from './heatMap';
import { themeColour } from '../theme';

export interface HeatMapChart {
  /** @param endS end of the time axis, seconds */
  update(map: HeatMap, endS: number): void;
  redraw(): void;
}

/** Draws deliveries by time and latency into `place`; the stronger the more. */
export function createHeatMapChart(place: HTMLElement): HeatMapChart {
  let plot: uPlot | undefined;
  let map: HeatMap | undefined;
  keepWidth(place, () => plot);
  return {
    update(next, endS) {
      if (next === map) return;
      map = next;
      plot?.destroy();
      plot = new uPlot(options(place, next, endS), [[0], [null]], place);
    },
    redraw: () => plot?.redraw(false, true),
  };
}

function options(place: HTMLElement, map: HeatMap, endS: number): uPlot.Options {
  const { latenciesUs } = map;
  return {
    ...quietChart,
    cursor: { show: false },
    width: Math.max(200, place.clientWidth),
    height: 200,
    padding: [8, sideRoom.right, 0, 0],
    series: [{}, {}],
    scales: {
      x: { time: false, range: () => [0, Math.max(1, endS)] },
      y: { distr: logarithmic, log: 10, range: () => [latenciesUs[0]!, latenciesUs.at(-1)!] },
    },
    axes: [
      timeAxis(),
      axis({
        scale: 'y',
        splits: decades,
        values: (_plot, splits) => splits.map((us) => latencyWords(us)),
        size: sideRoom.left,
      }),
    ],
    hooks: { draw: [(plot) => drawCells(plot, map)] },
  };
}

function drawCells(plot: uPlot, { seconds, latenciesUs, cells, most }: HeatMap): void {
  const { ctx } = plot;
  const lefts = seconds.map((second) => Math.round(plot.valToPos(second, 'x', true)));
  const tops = latenciesUs.map((us) => Math.round(plot.valToPos(us, 'y', true)));
  ctx.save();
  ctx.fillStyle = themeColour('--heat');
  for (const [column, rows] of cells.entries()) {
    for (const [row, deliveries] of rows.entries()) {
      const strength = heat(deliveries, most);
      if (strength === 0) continue;
      const [left, bottom, top] = [lefts[column]!, tops[row]!, tops[row + 1]!];
      ctx.globalAlpha = strength;
      ctx.fillRect(left, top, Math.max(1, lefts[column + 1]! - left), Math.max(1, bottom - top));
    }
  }
  ctx.restore();
}
