import type uPlot from 'uplot';
import { fill } from '../../base/objectives/limitWords';
import type { ComparisonStrings } from '../../protocol/comparisonPanel';
import { element, setText } from '../element';
import { createCard, createTwin, type Card } from '../tables/card';
import { latencyOrDash } from '../../measure/show/chartWords';
import {
  apartLabels,
  axis,
  belowAxis,
  createChart,
  createLegend,
  joinedLine,
  latencyAxis,
  latencyScale,
  themeColour,
  type ChartOptions,
  type LegendLine,
} from './chartFrame';
import { createPointer } from './pointer';

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

interface PairCard {
  readonly card: Card;
  update(view: PairView | undefined): void;
  redraw(): void;
}

export function createPairCard(strings: ComparisonStrings, name: string): PairCard {
  const card = createCard('', name);
  const chart = createChart();
  const { place } = chart;
  const lines = [
    { label: '', colour: 'p50', dash: [6, 4], widthPx: 2 },
    { label: '', colour: 'p99', dash: [], widthPx: 2.5 },
  ];
  const legend = createLegend(lines);
  const at = element('span.at');
  const twin = createTwin(strings.asTable, '');
  card.body.append(place, element('div.below', legend.root, at), twin.root);
  let shown: PairView | undefined;
  const textsAt = (index: number): string[] =>
    [shown?.a, shown?.b].map((values) => latencyOrDash(values?.[index], strings.noValue));
  const pointer = createPointer(chart, {
    hint: strings.chartHint,
    roleName: strings.chartRole,
    places: () => shown?.places ?? [],
    moved: () => showValues(),
    read: (index) => {
      const values = textsAt(index);
      const rows = lines.map(({ colour }, line) => ({
        ...{ label: shown?.names[line] ?? '', value: values[line]!, colour },
      }));
      return { title: shown?.label(shown.places[index]!) ?? '', rows };
    },
  });
  const showValues = (): void => {
    const { index } = pointer;
    setText(at, shown && index !== undefined ? shown.label(shown.places[index]!) : '');
    legend.setValues(index === undefined ? ['', ''] : textsAt(index));
  };
  return {
    card,
    update(view) {
      shown = view;
      card.show(view !== undefined);
      if (view === undefined) return;
      card.setTitle(view.title);
      twin.name(view.title);
      for (const [line, each] of view.names.entries()) legend.setLabel(line, each);
      const rows = view.places.map((each, row) => [
        view.label(each),
        latencyOrDash(view.a[row], strings.noValue),
        latencyOrDash(view.b[row], strings.noValue),
      ]);
      const said = rows.slice(0, 20).map((cells) => cells.join(' '));
      place.setAttribute('aria-label', fill(strings.chartSummary, view.title, said.join(', ')));
      const data = [view.places, view.a, view.b].map((each) => [...each]);
      chart.show(data as uPlot.AlignedData, name, () => options(() => shown, lines));
      pointer.show(undefined);
      showValues();
      const heads = [view.head, ...view.names];
      twin.update(() => ({ heads, rows, textColumns: [0] }), true);
    },
    redraw: () => chart.redraw(),
  };
}

function options(viewNow: () => PairView | undefined, lines: readonly LegendLine[]): ChartOptions {
  return {
    height: 230,
    padding: [14, 18, 0, 0],
    series: [{}, ...lines.map(joinedLine)],
    scales: {
      x: { time: false, range: (_plot, min, max) => [Math.min(0, min), Math.max(1, max)] },
      y: latencyScale(),
    },
    axes: [
      axis({
        splits: (_plot, _axis, min, max) =>
          (viewNow()?.marks ?? evenly(min, max)).filter((each) => each <= max + 1e-9),
        values: (plot, splits) => apartLabels(plot, splits, viewNow()?.label ?? String),
        ...{ ...belowAxis, grid: false },
      }),
      latencyAxis(),
    ],
    hooks: { drawClear: [fillBetween] },
  };
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
