import type { Snapshot } from '../../measure/show/snapshot';

import { latencyAt } from '../../measure/tails';
import type { PanelText } from '../../protocol/panelStrings';
import type { ChartUnit } from '../wording';
import type { LatencySummary } from '../../measure/latencySummary';

/** How several seconds become one point: latencies by their worst, rates by their mean, states by the last. */
export type Combine = 'max' | 'mean' | 'last';

/** One line of a chart over time, defined once for the drawing, the legend and the table. */
export interface SeriesSpec {
  readonly id: string;
  /** Of percentiles, which have the same name everywhere, or a text of the panel. */
  readonly label: string | { readonly key: PanelText };
  /** Name of the colour in panel.css, without `--line-`. */
  readonly colour: string;
  /** Lengths of strokes and gaps; empty for a whole line. */
  readonly dash: readonly number[];
  readonly widthPx: number;
  readonly combine: Combine;
  /**
   * Null where nothing was measured.
   *
   * @param before the snapshot before it in the chart
   */
  read(snapshot: Snapshot, before?: Snapshot): number | null;
}

export interface TimeChartSpec {
  readonly id: 'latency' | 'rates' | 'connections';
  readonly title: PanelText;
  readonly unit: ChartUnit;
  readonly series: readonly SeriesSpec[];
  /** Lines that get an axis of their own on the right when they are of another size than the first. */
  readonly right: readonly string[];
}

type Percentile = Exclude<keyof LatencySummary, 'count'>;

const latency = (
  label: string,
  metric: Percentile,
  dash: readonly number[],
  widthPx = 1.5,
): SeriesSpec => ({
  id: metric,
  label,
  colour: metric,
  dash,
  widthPx,
  combine: 'max',
  read: ({ interval }) => atLeastOne(interval && latencyAt(interval.latencyUs, metric)),
});

/** The axis is logarithmic; null where there is nothing, or too little to tell. */
const atLeastOne = (us: number | undefined): number | null =>
  us === undefined ? null : Math.max(1, us);

const rate = (
  id: 'offered' | 'sent' | 'received',
  dash: readonly number[],
  widthPx: number,
  of: (interval: NonNullable<Snapshot['interval']>) => number | null,
): SeriesSpec => ({
  id,
  label: { key: id },
  colour: id,
  dash,
  widthPx,
  combine: 'mean',
  read: (snapshot, before) => {
    const interval = rateInterval(snapshot, before);
    return interval ? of(interval) : null;
  },
});

/**
 * The part of a second in which a step ends is too short for a rate by itself: it is drawn together with the second
 * before it.
 */
function rateInterval({ interval, step }: Snapshot, before?: Snapshot): Snapshot['interval'] {
  const full = before?.interval;
  if (!interval || interval.seconds >= shortestRateS || !full) return interval;
  if (interval.seconds === 0 || before.step?.index !== step?.index) return interval;
  return {
    ...interval,
    seconds: full.seconds + interval.seconds,
    receivingSeconds: full.receivingSeconds + interval.receivingSeconds,
    offered: full.offered + interval.offered,
    sent: full.sent + interval.sent,
    received: full.received + interval.received,
  };
}

const count = (
  id: 'connected' | 'failed' | 'dropped' | 'errors',
  dash: readonly number[],
  read: (snapshot: Snapshot) => number,
): SeriesSpec => ({
  id,
  label: { key: id },
  colour: id,
  dash,
  widthPx: 1.5,
  combine: 'last',
  read,
});

/** The charts over time, in the order people want them. */
export const timeCharts: readonly TimeChartSpec[] = [
  {
    id: 'latency',
    title: 'latencyChart',
    unit: 'latency',
    right: [],
    series: [
      latency('p50', 'p50', []),
      latency('p90', 'p90', [6, 3]),
      latency('p99', 'p99', [], 2.5),
      latency('p99.9', 'p999', [8, 3, 2, 3]),
      latency('max', 'max', [1.5, 3]),
    ],
  },
  {
    id: 'rates',
    title: 'ratesChart',
    unit: 'perSecond',
    // Deliveries of a fan-out.
    right: ['received'],
    series: [
      rate('offered', [], 5, ({ offered, seconds }) => perSecond(offered, seconds)),
      rate('sent', [], 1.5, ({ sent, seconds }) => perSecond(sent, seconds)),
      // In the tick that sending ends in, the wait for the last deliveries would make another rate.
      rate('received', [6, 3], 1.5, ({ received, seconds, receivingSeconds }) =>
        seconds > 0 && receivingSeconds > seconds ? null : perSecond(received, receivingSeconds),
      ),
    ],
  },
  {
    id: 'connections',
    title: 'connectionsChart',
    unit: 'count',
    right: ['failed', 'dropped', 'errors'],
    series: [
      count('connected', [], ({ connections }) => connections.takingPart ?? connections.connected),
      count('failed', [6, 3], ({ connections }) => connections.failed),
      count('dropped', [8, 3, 2, 3], ({ connections }) => connections.dropped),
      count('errors', [1.5, 3], ({ errors }) => errorCount(errors)),
    ],
  },
];

/** All errors of all classes. */
export function errorCount(errors: Snapshot['errors']): number {
  return Object.values(errors).reduce((sum, each) => sum + each, 0);
}

/**
 * A rate needs some time to be one: where a step begins or ends, a few messages in a few milliseconds of
 * the tick would draw a spike that nobody sent.
 */
export const shortestRateS = 0.5;

function perSecond(amount: number, seconds: number): number | null {
  return seconds >= shortestRateS ? amount / seconds : null;
}
