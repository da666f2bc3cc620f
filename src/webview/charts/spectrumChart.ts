import uPlot from 'uplot';
import { latencyWords } from '../../base/objectives/words';
import {
  axis,
  belowAxis,
  decadeRange,
  decades,
  keepWidth,
  logarithmic,
  quietChart,
} from './chartFrame';
import { axisShares, percentilePlace, type SpectrumView } from './spectrumView';
import { themeColour } from '../theme';
import { percentWords } from '../wording';

export interface SpectrumChart {
  update(view: SpectrumView): void;
  redraw(): void;
}

/** Draws latency over HdrHistogram's percentile axis into `place`. */
export function createSpectrumChart(place: HTMLElement): SpectrumChart {
  let plot: uPlot | undefined;
  keepWidth(place, () => plot);
  return {
    update(view) {
      const data = aligned(view);
      if (plot) plot.setData(data);
      else plot = new uPlot(options(place), data, place);
    },
    redraw: () => plot?.redraw(false, true),
  };
}

/** Both curves over the union of their places; where one has no point it is drawn through. */
export function aligned({ due, sent }: SpectrumView): uPlot.AlignedData {
  const curves = [due, sent].map(
    (points) => new Map(points.map(({ share, latencyUs }) => [percentilePlace(share), latencyUs])),
  );
  const places = [...new Set(curves.flatMap((curve) => [...curve.keys()]))].sort((a, b) => a - b);
  return [places, ...curves.map((curve) => places.map((place) => curve.get(place)))];
}

function options(place: HTMLElement): uPlot.Options {
  const line = (colour: string, widthPx: number, dash?: number[]): uPlot.Series => ({
    stroke: () => themeColour(`--line-${colour}`),
    width: widthPx,
    spanGaps: true,
    points: { show: false },
    ...(dash && { dash }),
  });
  const named = axisShares.map(percentilePlace);
  return {
    ...quietChart,
    cursor: { show: false },
    width: Math.max(200, place.clientWidth),
    height: 200,
    padding: [8, 18, 0, 0],
    series: [{}, line('p99', 2.5), line('sent', 1.5, [6, 3])],
    scales: {
      x: { time: false, range: (_plot, _min, max) => [0, Math.max(1, max)] },
      y: { distr: logarithmic, log: 10, range: (_plot, min, max) => decadeRange(min, max) },
    },
    axes: [
      axis({
        splits: (_plot, _axis, _min, max) => named.filter((at) => at <= max + 1e-9),
        values: (plot, splits) => labels(plot, splits, named),
        ...belowAxis,
        grid: false,
      }),
      axis({
        scale: 'y',
        splits: decades,
        values: (_plot, splits) => splits.map((us) => latencyWords(us)),
        size: 62,
      }),
    ],
  };
}

/** Leaves out a label that would touch the one before it. */
function labels(plot: uPlot, splits: number[], named: readonly number[]): string[] {
  let free = -Infinity;
  return splits.map((split) => {
    const text = percentWords(axisShares[named.indexOf(split)] ?? 0);
    const [at, half] = [plot.valToPos(split, 'x'), text.length * 3.3];
    if (at - half < free) return '';
    free = at + half + 6;
    return text;
  });
}
