import { tellsShare } from '../../base/judging';
import { latencyMetrics, latencyShare } from '../../base/objectives/latency';
import { formatCount } from '../../base/units';
import type { StepSummary } from '../../measure/show/summary';
import { summaryKeys } from '../../base/objectives/latency';
import { latencyAt } from '../../measure/tails';
import type { PanelStrings } from '../../protocol/panelStrings';
import { latestStep, type ShownRun } from '../panelState';
import type { TableView } from '../tables/tables';
import { decisiveStep } from '../tables/tiles';
import { fill } from '../../base/objectives/words';
import { latencyOrDash, percentWords } from '../wording';
import type { LatencySummary } from '../../measure/latencySummary';

export interface SpectrumPoint {
  readonly share: number;
  readonly latencyUs: number;
}

/** The latency spectrum of one step, ready to draw. */
export interface SpectrumView {
  readonly title: string;
  readonly step: number;
  /** Steps to choose from. */
  readonly steps: readonly number[];
  /** Rising, from the intended time. */
  readonly due: readonly SpectrumPoint[];
  /** Rising, from the real send; empty while the run goes on. */
  readonly sent: readonly SpectrumPoint[];
  readonly table: TableView;
}

/**
 * Place of a share on HdrHistogram's percentile axis, where each further nine takes the same room:
 * lg(1 / (1 − share)); 90 % is at 1, 99 % at 2.
 */
export function percentilePlace(share: number): number {
  return Math.log10(1 / (1 - Math.min(share, 1 - 1e-9)));
}

/** What the axis names. */
export const axisShares = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999];

/**
 * The spectrum of the step asked for, else of the one that counts; undefined when nothing was received in
 * it. Its histogram is known at the end only; before that its percentiles are joined.
 */
export function spectrumViewOf(state: ShownRun, wanted?: number): SpectrumView | undefined {
  const { result, snapshots, spectra, strings } = state;
  const steps = result?.steps.filter(({ latencyUs }) => latencyUs.count > 0) ?? [];
  const done = steps.find(({ index }) => index === wanted) ?? lastOf(state, steps);
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
      heads: [strings.share, strings.fromIntended, ...(sent.length > 0 ? [strings.fromSend] : [])],
      rows: latencyMetrics.map((metric) => [
        metric === 'max' ? 'max' : percentWords(latencyShare[metric]),
        latencyOrDash(latencyAt(step.latencyUs, summaryKeys[metric]), strings.noValue),
        ...(done && sent.length > 0
          ? [latencyOrDash(latencyAt(done.sendLatencyUs, summaryKeys[metric]), strings.noValue)]
          : []),
      ]),
      textColumns: [0],
      ...noteOf(step, strings),
    },
  };
}

function noteOf(
  { latencyUs, judgedUs }: Pick<StepSummary, 'latencyUs' | 'judgedUs'>,
  { tailNote, ofArrived }: PanelStrings,
): Pick<TableView, 'note'> {
  const notes = [
    ...(tellsShare(latencyUs.count, latencyShare['p99.99']) ? [] : [tailNote]),
    ...(judgedUs === undefined ? [] : [ofArrived]),
  ];
  return notes.length === 0 ? {} : { note: notes.join(' ') };
}

function lastOf<T extends { readonly index: number }>(
  state: ShownRun,
  steps: readonly T[],
): T | undefined {
  const decisive = decisiveStep(state)?.index;
  return steps.find(({ index }) => index === decisive) ?? steps.at(-1);
}

/** The percentiles that are kept, up to the highest that `count` values can tell. */
export function pointsOf(summary: LatencySummary): SpectrumPoint[] {
  if (summary.count === 0) return [];
  const highest = 1 - 1 / Math.max(2, summary.count);
  const within = latencyMetrics
    .map((metric) => ({
      share: latencyShare[metric],
      latencyUs: Math.max(1, summary[summaryKeys[metric]]),
    }))
    .filter(({ share }) => share < 0.999 || tellsShare(summary.count, share))
    .filter(({ share }) => share < highest);
  return [
    { share: 0, latencyUs: Math.max(1, summary.min) },
    ...within,
    { share: highest, latencyUs: Math.max(1, summary.max) },
  ];
}
