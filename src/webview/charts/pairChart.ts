import type uPlot from 'uplot';
import type { PanelStrings } from '../../measure/show/panelStrings';
import { latencyOrDash } from '../../measure/show/chartWords';
import {
  latencyOptions,
  placeAxis,
  themeColour,
  type ChartOptions,
  type LegendLine,
} from './chartFrame';
import { createChartCard, type ChartCard } from './chartCard';

/** Latency of two runs over the same axis; what lies between them is filled. */
export interface PairView {
  readonly title: string;
  /** Names of both runs. */
  readonly names: readonly [a: string, b: string];
  /** Rising places on the axis, and microseconds there; undefined where a run has no point. */
  readonly places: readonly number[];
  readonly a: readonly (number | undefined)[];
  readonly b: readonly (number | undefined)[];
  /** Which of the places are marked on the axis; absent: as the library does. */
  readonly marks?: readonly number[];
  /** Words for a place. */
  readonly label: (place: number) => string;
  /** Head of the column of places. */
  readonly head: string;
}

/** Colours and dashes; the runs name them. */
const lines: readonly LegendLine[] = [
  { label: '', colour: 'p50', dash: [6, 4], widthPx: 2 },
  { label: '', colour: 'p99', dash: [], widthPx: 2.5 },
];

export function createPairCard(
  strings: PanelStrings,
  name: string,
): ChartCard<PairView | undefined> {
  let shown: PairView | undefined;
  return createChartCard<PairView | undefined>({
    ...{ name, strings, lines, isFixed: true },
    view(pair) {
      shown = pair;
      if (pair === undefined) return undefined;
      const { title, names, places, label } = pair;
      const runs = [pair.a, pair.b];
      const rows = places.map((place, index) => [
        label(place),
        ...runs.map((values) => latencyOrDash(values[index], strings.noValue)),
      ]);
      const spoken = rows.slice(0, 20).map((cells) => cells.join(' '));
      return {
        ...{ title, kind: name, labels: names, isFinal: true },
        data: [places, ...runs].map((each) => [...each]) as uPlot.AlignedData,
        rest: { label: '', values: ['', ''] },
        spoken: [title, spoken.join(', ')],
        options: () => options(() => shown ?? pair),
        read: (index) => ({ title: label(places[index]!), values: rows[index]!.slice(1) }),
        table: () => ({ heads: [pair.head, ...names], rows, textColumns: [0] }),
      };
    },
  });
}

function options(now: () => PairView): ChartOptions {
  const below = placeAxis(
    (min, max) => now().marks ?? evenly(min, max),
    (place) => now().label(place),
  );
  const range = (min: number, max: number): [number, number] => [
    Math.min(0, min),
    Math.max(1, max),
  ];
  return { ...latencyOptions(lines, below, range), hooks: { drawClear: [fillBetween] } };
}

/** About six whole numbers. */
function evenly(min: number, max: number): number[] {
  const rough = Math.max(1, (max - min) / 6);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power;
  const first = Math.ceil(min / step);
  return Array.from({ length: Math.floor(max / step) - first + 1 }, (_, at) => (first + at) * step);
}

function fillBetween(plot: uPlot): void {
  const { ctx, data } = plot;
  const [places, a, b] = data;
  if (a === undefined || b === undefined) return;
  const pointsOf = (values: typeof a): [x: number, y: number][] =>
    Array.from(places).flatMap((place, at): [x: number, y: number][] => {
      const us = values[at];
      if (us === null || us === undefined) return [];
      return [[plot.valToPos(place, 'x', true), plot.valToPos(us, 'y', true)]];
    });
  const around = [...pointsOf(a), ...pointsOf(b).reverse()];
  ctx.save();
  ctx.globalAlpha = 0.18;
  ctx.fillStyle = themeColour('--line-p99');
  ctx.beginPath();
  for (const [at, [x, y]] of around.entries()) {
    if (at === 0) ctx.moveTo(x, y);
    else ctx.lineTo(x, y);
  }
  ctx.fill();
  ctx.restore();
}
