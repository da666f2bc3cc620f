import { decisiveStep } from '../../measure/report/reportModel';
import { canShowPercentile, latencyShare } from '../../base/objectives/percentile';
import { fill } from '../../base/text';
import { latencyWords, formatCount } from '../../base/units';
import { percentWords } from '../../measure/show/chartWords';
import { spectrumTable } from '../../measure/show/panelTables';
import {
  axisShares,
  percentileAxisPosition,
  toAxisPoints,
  spectrumPoints,
  shareAtPosition,
  type SpectrumPoint,
} from '../../measure/latencySummary';
import { latestStep, type ShownRun } from '../panelState';
import { createChooser, noteOf, type StateCard, type TableView } from '../tables/card';
import { createChartCard } from './chartCard';
import { alignedCurves, latencyOptions, placeAxis, type LegendLine } from './chartFrame';

interface SpectrumView {
  readonly title: string;
  readonly step: number;
  readonly steps: readonly number[];
  readonly due: readonly SpectrumPoint[];
  readonly sent: readonly SpectrumPoint[];
  readonly table: TableView;
}

/**
 * The spectrum of the wanted step, else of the decisive one; until the histogram is known, percentiles joined by
 * lines.
 */
export function spectrumViewOf(state: ShownRun, wanted?: number): SpectrumView | undefined {
  const { result, snapshots, spectra, strings } = state;
  const steps = result?.steps.filter(({ latencyUs }) => latencyUs.count > 0) ?? [];
  const decisive = (result && decisiveStep(result))?.index;
  const done =
    steps.find(({ index }) => index === wanted) ??
    steps.find(({ index }) => index === decisive) ??
    steps.at(-1);
  const live = result ? undefined : latestStep(snapshots, ({ latencyUs }) => latencyUs.count > 0);
  const step = done ?? live;
  if (!step) return undefined;
  const curve = spectra.find((each) => each.step === step.index)?.points ?? [];
  const due = curve.length > 0 ? curve : spectrumPoints(step.latencyUs);
  const sent = done ? spectrumPoints(done.sendLatencyUs) : [];
  return {
    title: fill(strings.spectrum, formatCount(step.index)),
    step: step.index,
    steps: steps.map(({ index }) => index),
    due,
    sent,
    table: {
      ...spectrumTable(step.latencyUs, sent.length > 0 ? done?.sendLatencyUs : undefined, strings),
      ...noteOf(
        !canShowPercentile(step.latencyUs.count, latencyShare['p99.99']) && strings.tailNote,
        step.judgedUs && strings.ofArrived,
      ),
    },
  };
}

export function createSpectrumCard({ strings }: ShownRun): StateCard {
  const lines: readonly LegendLine[] = [
    { label: strings.fromIntended, colour: 'p99', dash: [], widthPx: 2.5 },
    { label: strings.fromSend, colour: 'sent', dash: [6, 3], widthPx: 1.5 },
  ];
  let wanted: number | undefined;
  const chooser = createChooser(strings.spectrumStep, (step) => {
    wanted = step;
    card.refresh();
  });
  const card = createChartCard<ShownRun>({
    ...{ name: 'spectrum', title: strings.spectrum, strings, lines, beside: chooser.root },
    view(state) {
      const view = spectrumViewOf(state, wanted);
      if (!view) return undefined;
      const { title, table, due, sent } = view;
      const steps = view.steps.map((step) => [step, String(step)] as const);
      chooser.show(steps, view.step);
      const { places, values } = alignedCurves([due, sent].map(toAxisPoints));
      const words = table.rows.map(([share = '', us = '']) => `${share} ${us}`).join(', ');
      return {
        ...{ title, kind: 'spectrum', data: [places, ...values], spoken: [title, words] },
        labels: [lines[0]!.label, sent.length > 0 ? lines[1]!.label : undefined],
        isFinal: state.result !== undefined,
        options: () =>
          latencyOptions(
            lines,
            placeAxis(() => named, nameOf),
            (_min, max) => [0, Math.max(1, max)],
          ),
        read: (index) => ({
          title: percentWords(shareAtPosition(places[index] ?? 0)),
          values: values.map(({ [index]: us }) => (us === undefined ? us : latencyWords(us))),
        }),
        table: () => table,
      };
    },
  });
  return card;
}

const named = axisShares.map(percentileAxisPosition);
const nameOf = (place: number): string => percentWords(axisShares[named.indexOf(place)] ?? 0);
