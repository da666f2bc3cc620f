import { fill } from '../base/text';
import type {
  ComparedCurves,
  FromComparisonPanel,
  ShownComparison,
  ToComparisonPanel,
} from '../messages/panel';
import { formatCount } from '../base/units';
import type { Change, ComparedStep, Comparison } from '../measure/compare/comparison';
import {
  comparisonRows,
  headlineStep,
  remainingComparisonReasons,
} from '../measure/compare/comparisonWords';
import { percentWords, timeLabel, latencyOrDash } from '../measure/show/chartWords';
import {
  axisShares,
  percentileAxisPosition,
  toAxisPoints,
  shareAtPosition,
} from '../measure/latencySummary';
import type { PanelStrings } from '../measure/show/panelStrings';
import {
  alignedCurves,
  latencyOptions,
  placeAxis,
  themeColour,
  type ChartOptions,
  type LegendLine,
} from './charts/chartFrame';
import { element, setText, startPage, type Host } from './element';
import { createCard, createChooser, createSentence, tableOf, tablePlace } from './tables/card';
import type uPlot from 'uplot';
import { createChartCard, type ChartCard } from './charts/chartCard';

type Send = (message: FromComparisonPanel) => void;

interface ComparisonPage {
  show(shown: readonly ShownComparison[], strings: PanelStrings): void;
  redraw(): void;
}

function createComparisonPage(root: HTMLElement, send: Send): ComparisonPage {
  const spoken = element('p.unseen', { role: 'status', 'aria-live': 'polite' });
  const main = element('main');
  root.replaceChildren(main, spoken);
  let redraw: () => void = () => undefined;
  return {
    show(shown, strings) {
      if (shown.length === 0) return;
      const header = createHeader(shown, strings, send);
      const cards = createCards(strings);
      main.replaceChildren(header.root, cards.root);
      redraw = () => cards.redraw();
      header.onChosen((at, step) => {
        const sentence = header.update(at, step);
        setText(spoken, sentence);
        cards.update(shown[at]!, stepOf(shown[at]!, step));
      });
    },
    redraw: () => redraw(),
  };
}

const stepOf = ({ comparison }: ShownComparison, wanted?: number): ComparedStep | undefined =>
  comparison.steps.find(({ index }) => index === wanted) ?? headlineStep(comparison);

function createHeader(all: readonly ShownComparison[], strings: PanelStrings, send: Send) {
  let at = all.length - 1;
  let chosen: (at: number, step?: number) => void = () => undefined;
  const order = (kind: 'main' | 'quiet', type: 'copyComment' | 'makeBaseline') => {
    const made = element(`button.${kind}`, { type: 'button' });
    made.addEventListener('click', () => send({ type, at }));
    return made;
  };
  const copy = order('quiet', 'copyComment');
  const keep = order('main', 'makeBaseline');
  const [title, where] = [element('h1'), element('p.where')];
  const runs = createChooser(strings.comparedRun, (to) => chosen((at = to)));
  const steps = createChooser(strings.spectrumStep, (to) => chosen(at, to));
  const verdict = createSentence();
  const orders = element('div.orders', copy, keep);
  const head = element('div.title', title, where, runs.root, steps.root, orders);
  return {
    root: element('header', head, verdict.root),
    onChosen(listener: typeof chosen): void {
      chosen = listener;
      chosen(at);
    },
    update(shown: number, step?: number): string {
      const { comparison, names, sentences } = all[shown]!;
      setText(title, comparison.b.name);
      setText(where, fill(strings.against, ...names));
      setText(copy, strings.copyComment);
      setText(keep, fill(strings.makeBaseline, names[1]));
      const choices = all.map((each, place) => [place, each.names[1]] as const);
      runs.show(choices, shown);
      const indexes = comparison.steps.map(({ index }) => [index, formatCount(index)] as const);
      steps.show(indexes, stepOf(all[shown]!, step)?.index);
      verdict.show(sentences);
      return `${sentences.lead} ${sentences.rest}`;
    },
  };
}

function createCards(strings: PanelStrings) {
  const spectra = createPairCard(strings, 'spectra');
  const overTime = createPairCard(strings, 'over-time');
  const table = createCard('', 'compared-step');
  const differs = createCard(strings.differs, 'differs');
  const reasons = createCard(strings.reasons, 'reasons');
  const charts = element('div', spectra.card.root, overTime.card.root);
  const tables = element('div', table.root, reasons.root, differs.root);
  return {
    root: element('div.grid', charts, tables),
    update({ comparison, curves, names }: ShownComparison, step?: ComparedStep): void {
      const drawn = curves.find((each) => each.step === step?.index);
      spectra.update(drawn && spectraView(drawn, names, strings));
      overTime.update(drawn && timeView(drawn, names, strings));
      table.show(step !== undefined);
      if (step !== undefined) {
        const name = fill(strings.stepTable, formatCount(step.index), formatCount(step.senders));
        table.setTitle(name);
        table.body.replaceChildren(stepTable(step, name, names, strings));
      }
      const { differences } = comparison;
      const left = remainingComparisonReasons(comparison);
      reasons.show(left.length > 0);
      reasons.body.replaceChildren(element('ul', ...left.map((each) => element('li', each))));
      differs.body.replaceChildren(
        differences.length === 0
          ? element('p.quiet', strings.allSame)
          : differencesTable(differences, names, strings),
      );
    },
    redraw(): void {
      spectra.redraw();
      overTime.redraw();
    },
  };
}

function stepTable(
  step: ComparedStep,
  name: string,
  names: Names,
  strings: PanelStrings,
): HTMLElement {
  const place = tablePlace(name);
  const rows = comparisonRows(step).map(({ name: measure, a, b, change, interval, verdict }) => {
    const changed = verdict === undefined ? change : markedChange(change, verdict);
    return [measure, a, b, changed, interval];
  });
  const heads = [
    strings.measureColumn,
    strings.baseline,
    names[1],
    strings.change,
    strings.repeatInterval,
  ];
  place.append(tableOf({ heads, rows, textColumns: [0] }, name));
  return place;
}

function differencesTable(
  differences: Comparison['differences'],
  names: Names,
  strings: PanelStrings,
): HTMLElement {
  const place = tablePlace(strings.differs);
  const heads = [strings.what, strings.baseline, names[1]];
  const rows = differences.map(({ what, a, b }) => [what, a, b]);
  place.append(tableOf({ heads, rows, textColumns: [0, 1, 2] }, strings.differs));
  return place;
}

/** With a sign, readable without colours. */
function markedChange(change: string, verdict: Change): string | readonly (string | Node)[] {
  if (verdict === 'same') return change;
  const [mark, tone] = verdict === 'worse' ? ['▲', 'bad'] : ['▼', 'good'];
  const sign = element('span.sign', { 'aria-hidden': 'true' }, `${mark} `);
  return [element(`span.${tone as 'bad'}`, sign, change)];
}

type Names = readonly [string, string];

function spectraView(
  { step, spectra }: ComparedCurves,
  names: Names,
  strings: PanelStrings,
): PairView | undefined {
  if (spectra.every((points) => points.length === 0)) return undefined;
  const { places, values } = alignedCurves(spectra.map(toAxisPoints));
  const marks = axisShares.map(percentileAxisPosition);
  return {
    title: fill(strings.spectra, formatCount(step)),
    ...{ names, places, marks, head: strings.share },
    ...{ a: values[0]!, b: values[1]! },
    label: (place) => percentWords(shareAtPosition(place)),
  };
}

function timeView(
  { step, times }: ComparedCurves,
  names: Names,
  strings: PanelStrings,
): PairView | undefined {
  if (times.every((points) => points.length === 0)) return undefined;
  const { places, values } = alignedCurves(
    times.map((points) => points.map(({ atS, p99Us }) => [atS, p99Us] as const)),
  );
  return {
    title: fill(strings.overTime, formatCount(step)),
    ...{ names, places, head: strings.time, label: timeLabel },
    ...{ a: values[0]!, b: values[1]! },
  };
}

export function startComparisonPage(host: Host): void {
  const page = createComparisonPage(document.body, (message) => host.postMessage(message));
  startPage(host, page, ({ shown, strings, folders }: ToComparisonPanel) => {
    host.setState({ folders });
    page.show(shown, strings as PanelStrings);
  });
}

/** Latency of two runs over one axis; the area between is filled. */
interface PairView {
  readonly title: string;
  readonly names: readonly [a: string, b: string];
  /** Rising places, with microseconds in `a` and `b`; undefined without a point. */
  readonly places: readonly number[];
  readonly a: readonly (number | undefined)[];
  readonly b: readonly (number | undefined)[];
  /** Places with axis labels; absent: chosen automatically. */
  readonly marks?: readonly number[];
  readonly label: (place: number) => string;
  readonly head: string;
}

const lines: readonly LegendLine[] = [
  { label: '', colour: 'p50', dash: [6, 4], widthPx: 2 },
  { label: '', colour: 'p99', dash: [], widthPx: 2.5 },
];

function createPairCard(strings: PanelStrings, name: string): ChartCard<PairView | undefined> {
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
