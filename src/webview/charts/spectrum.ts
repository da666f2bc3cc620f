import type uPlot from 'uplot';
import { showsShare } from '../../base/measuringLimits';
import { latencyShare } from '../../base/objectives/latency';
import { fill, latencyWords } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import { percentWords } from '../../measure/show/chartWords';
import { spectrumTable } from '../../measure/show/panelTables';
import {
  axisShares,
  percentilePlace,
  pointsOf,
  type SpectrumPoint,
} from '../../measure/show/percentileAxis';
import { element } from '../element';
import { decisiveStep, latestStep, type ShownRun } from '../panelState';
import { createCard, createTwin, noted, type StateCard, type TableView } from '../tables/card';
import { createPointer } from './pointer';
import {
  axis,
  belowAxis,
  createChart,
  createLegend,
  decadeRange,
  latencyAxis,
  logarithmic,
  themeColour,
  type ChartOptions,
} from './chartFrame';

export interface SpectrumView {
  readonly title: string;
  readonly step: number;
  readonly steps: readonly number[];
  /** Rising, from the intended time. */
  readonly due: readonly SpectrumPoint[];
  /** Rising, from the real send; empty while the run goes on. */
  readonly sent: readonly SpectrumPoint[];
  readonly table: TableView;
}

/** The share of a place: the way back from {@link percentilePlace}. */
const shareAt = (place: number): number => 1 - 10 ** -place;

/** The spectrum of the step asked for, else of the one that counts; its percentiles joined until the histogram is known. */
export function spectrumViewOf(state: ShownRun, wanted?: number): SpectrumView | undefined {
  const { result, snapshots, spectra, strings } = state;
  const steps = result?.steps.filter(({ latencyUs }) => latencyUs.count > 0) ?? [];
  const decisive = decisiveStep(state)?.index;
  const done =
    steps.find(({ index }) => index === wanted) ??
    steps.find(({ index }) => index === decisive) ??
    steps.at(-1);
  const live = result ? undefined : latestStep(snapshots, ({ latencyUs }) => latencyUs.count > 0);
  const step = done ?? live;
  if (!step) return undefined;
  const curve = spectra.find((each) => each.step === step.index)?.points ?? [];
  const due = curve.length > 0 ? curve : pointsOf(step.latencyUs);
  const sent = done ? pointsOf(done.sendLatencyUs) : [];
  return {
    title: fill(strings.spectrum, formatCount(step.index)),
    step: step.index,
    steps: steps.map(({ index }) => index),
    due,
    sent,
    table: {
      ...spectrumTable(step.latencyUs, sent.length > 0 ? done?.sendLatencyUs : undefined, strings),
      ...noted(
        !showsShare(step.latencyUs.count, latencyShare['p99.99']) && strings.tailNote,
        step.judgedUs && strings.ofArrived,
      ),
    },
  };
}

export function createSpectrumCard({ strings }: ShownRun): StateCard {
  const card = createCard(strings.spectrum, 'spectrum');
  const chart = createChart();
  const { place } = chart;
  const choice = element('select');
  const chooser = element('label.chooser', `${strings.spectrumStep} `, choice);
  const lines = [
    { label: strings.fromIntended, colour: 'p99', dash: [], widthPx: 2.5 },
    { label: strings.fromSend, colour: 'sent', dash: [6, 3], widthPx: 1.5 },
  ];
  const legend = createLegend(lines, (hidden) => chart.hideLines(hidden));
  const twin = createTwin(strings.asTable, '');
  card.body.append(place, element('div.below', legend.root, chooser), twin.root);
  let points: uPlot.AlignedData = [[]];
  let pointed: number | undefined;
  const pointer = createPointer(chart, {
    hint: strings.chartHint,
    roleName: strings.chartRole,
    places: () => points[0] as number[],
    moved: (place) => {
      pointed = place;
    },
    read: (index) => ({
      title: percentWords(shareAt(points[0][index] ?? 0)),
      rows: lines.flatMap(({ label, colour }, at) => {
        const us = points[at + 1]?.[index] ?? undefined;
        const shown = us !== undefined && chart.isShown(at);
        return shown ? [{ label, value: latencyWords(us), colour }] : [];
      }),
    }),
  });
  let wanted: number | undefined;
  let shown: ShownRun | undefined;
  const update = (state: ShownRun): void => {
    shown = state;
    const view = spectrumViewOf(state, wanted);
    card.show(view !== undefined);
    if (!view) return;
    card.setTitle(view.title);
    const words = view.table.rows.map(([share = '', us = '']) => `${share} ${us}`).join(', ');
    place.setAttribute('aria-label', fill(strings.chartSummary, view.title, words));
    twin.name(view.title);
    chooser.hidden = view.steps.length < 2;
    const options = view.steps.map((step) => String(step));
    if (choice.options.length !== options.length) {
      choice.replaceChildren(...options.map((text) => element('option', text)));
    }
    choice.value = String(view.step);
    legend.showLine(1, view.sent.length > 0);
    points = aligned(view);
    chart.show(points, 'spectrum', chartOptions);
    chart.settled(() => pointer.show(pointed));
    twin.update(() => view.table, state.result !== undefined);
  };
  choice.addEventListener('change', () => {
    wanted = Number(choice.value);
    if (shown) update(shown);
  });
  return { card, update, redraw: () => chart.redraw() };
}

/** Both curves over the union of their places; where one has no point it is drawn through. */
export function aligned({ due, sent }: SpectrumView): uPlot.AlignedData {
  const curves = [due, sent].map(
    (points) => new Map(points.map(({ share, latencyUs }) => [percentilePlace(share), latencyUs])),
  );
  const places = [...new Set(curves.flatMap((curve) => [...curve.keys()]))].sort((a, b) => a - b);
  return [places, ...curves.map((curve) => places.map((place) => curve.get(place)))];
}

function chartOptions(): ChartOptions {
  const line = (colour: string, widthPx: number, dash?: number[]): uPlot.Series => ({
    stroke: () => themeColour(`--line-${colour}`),
    width: widthPx,
    spanGaps: true,
    points: { show: false },
    ...(dash && { dash }),
  });
  const named = axisShares.map(percentilePlace);
  return {
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
      latencyAxis(),
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
