import { totalErrors } from '../../base/errorClass';
import { shownPercentileUs, type LatencySummary } from '../latencySummary';
import type { Observed } from '../observed';
import type { Snapshot } from '../snapshot';
import type { ChartUnit } from './chartWords';

/** In less time a few messages would draw a spike that nobody sent. */
export const shortestRateS = 0.5;

type Combine = 'max' | 'mean' | 'last';

/** How several seconds become one point: latencies by their worst, rates by their mean, states by the last. */
export const combineByUnit: Readonly<Record<ChartUnit, Combine>> = {
  latency: 'max',
  perSecond: 'mean',
  count: 'last',
};

export type SeriesText =
  | 'offered'
  | 'sent'
  | 'received'
  | 'connected'
  | 'failed'
  | 'dropped'
  | 'errors';

export interface SeriesSpec {
  /** Also the name of its colour in style sheets, without `--line-`. */
  readonly id: string;
  readonly label: string | { readonly key: SeriesText };
  readonly dash: readonly number[];
  readonly widthPx: number;
  readonly read: (snapshot: Snapshot, before?: Snapshot) => number | null;
}

type TimeChart =
  | ('latency' | 'rates' | 'connections')
  | ('observedShares' | 'observedCounts' | 'observedBytes');

export interface TimeChartSpec {
  readonly id: TimeChart;
  readonly title: `${TimeChart}Chart`;
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
  dash,
  widthPx,
  // The axis is logarithmic: nothing, too little, and what came early have no place on it.
  read: ({ interval }) => (interval && shownPercentileUs(interval.latencyUs, metric)) || null,
});

const rate = (
  id: 'offered' | 'sent' | 'received',
  dash: readonly number[],
  widthPx: number,
  of: (interval: NonNullable<Snapshot['interval']>) => number | null,
): SeriesSpec => ({
  id,
  label: { key: id },
  dash,
  widthPx,
  read: (snapshot, before) => {
    const interval = rateInterval(snapshot, before);
    return interval ? of(interval) : null;
  },
});

/** A part of a second is too short for a rate by itself: it is drawn together with the second before it. */
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
): SeriesSpec => ({ id, label: { key: id }, dash, widthPx: 1.5, read });

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
    right: [],
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
      count('errors', [1.5, 3], ({ errors }) => totalErrors(errors)),
    ],
  },
];

function perSecond(amount: number, seconds: number): number | null {
  return seconds >= shortestRateS ? amount / seconds : null;
}

export interface ChartPoints {
  readonly seconds: readonly number[];
  readonly lines: readonly (readonly (number | null)[])[];
  readonly perPoint: number;
}

/** The columns of a chart whose snapshots become more: those that it has seen are not read again. */
export class ChartColumns {
  private seen: readonly Snapshot[] = [];
  private last: Snapshot | undefined;
  private seconds: number[] = [];
  private lines: (number | null)[][] = [];

  constructor(private readonly spec: TimeChartSpec) {}

  of(all: readonly Snapshot[], most: number): ChartPoints {
    const { seen } = this;
    const goesOn = seen.length > 0 && all[0] === seen[0] && all[seen.length - 1] === seen.at(-1);
    if (!goesOn) {
      this.last = undefined;
      this.seconds = [];
      this.lines = this.spec.series.map(() => []);
    }
    for (let at = goesOn ? seen.length : 0; at < all.length; at++) this.add(all[at]!, all[at - 1]);
    this.seen = all;
    const { seconds, lines } = this;
    return thinChartPoints({ seconds, lines, perPoint: 1 }, combineByUnit[this.spec.unit], most);
  }

  private add(snapshot: Snapshot, before: Snapshot | undefined): void {
    const { series } = this.spec;
    // A change of phase is reported between two ticks, and is no gap in what was measured.
    if (snapshot.tick === before?.tick && series.every(({ read }) => read(snapshot) === null))
      return;
    this.seconds.push(snapshot.atMs / 1000);
    for (const [at, { read }] of series.entries()) this.lines[at]!.push(read(snapshot, this.last));
    this.last = snapshot;
  }
}

export const readChartColumns = (
  spec: TimeChartSpec,
  all: readonly Snapshot[],
  most: number,
): ChartPoints => new ChartColumns(spec).of(all, most);

/** Points with a gap on both sides: no line goes through them, so they are drawn as dots. */
export function isolatedPoints(line: ArrayLike<number | null | undefined>): number[] {
  const isGap = (at: number): boolean => (line[at] ?? null) === null;
  const places: number[] = [];
  for (let at = 0; at < line.length; at++)
    if (!isGap(at) && isGap(at - 1) && isGap(at + 1)) places.push(at);
  return places;
}

/** The right axis of a chart: for lines more than twice as large as the first one, or far smaller ones. */
export type RightAxis = 'none' | 'larger' | 'smaller';

export function chooseRightAxis(
  { series, right }: TimeChartSpec,
  { lines }: ChartPoints,
): RightAxis {
  const most = (line: readonly (number | null)[] | undefined): number =>
    (line ?? []).reduce<number>((highest, value) => Math.max(highest, value ?? 0), 0);
  const first = most(lines[0]);
  const others = Math.max(
    0,
    ...lines.filter((_, at) => right.includes(series[at]?.id ?? '')).map(most),
  );
  if (others > 2 * first) return 'larger';
  return others > 0 && others < first / 10 ? 'smaller' : 'none';
}

export function thinChartPoints(columns: ChartPoints, combine: Combine, most: number): ChartPoints {
  const { seconds, lines } = columns;
  const perPoint = Math.ceil(seconds.length / Math.max(1, most));
  if (perPoint <= 1) return columns;
  const starts = Array.from(
    { length: Math.ceil(seconds.length / perPoint) },
    (_, at) => at * perPoint,
  );
  return {
    perPoint,
    seconds: starts.map((start) => seconds[start]!),
    lines: lines.map((line) =>
      starts.map((start) => combineValues(line.slice(start, start + perPoint), combine)),
    ),
  };
}

export function combineValues(values: readonly (number | null)[], combine: Combine): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  if (combine === 'max') return known.reduce((most, value) => Math.max(most, value));
  if (combine === 'last') return known.at(-1)!;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}

/** With what was known only when the run was over: in all samples of its minute, as if it had been seen then. */
export function addLateSeries<Sample extends Pick<Snapshot, 'atMs' | 'observed'>>(
  samples: readonly Sample[],
  observed: Observed | undefined,
): readonly Sample[] {
  const late = (observed?.series ?? []).filter(({ everyS }) => everyS !== undefined);
  if (late.length === 0) return samples;
  const valueOf = late.map(({ name, points, everyS }) => {
    const rising = [...points].sort((one, other) => one[0] - other[0]);
    let next = 0;
    return (atS: number): (readonly [string, number])[] => {
      while (next < rising.length && rising[next]![0] <= atS) next += 1;
      const [fromS, value] = rising[next - 1] ?? [-Infinity, 0];
      return atS < fromS + everyS! ? [[name, value]] : [];
    };
  });
  return samples.map((sample) => {
    const known = valueOf.flatMap((of) => of(sample.atMs / 1000));
    if (known.length === 0) return sample;
    return { ...sample, observed: { ...sample.observed, ...Object.fromEntries(known) } };
  });
}

export interface StepBand {
  readonly index: number;
  readonly senders: number;
  readonly fromS: number;
  /** The planned end while the step is going on. */
  readonly toS: number;
}

const knownBands = new WeakMap<readonly Snapshot[], readonly StepBand[]>();

export function stepBands(snapshots: readonly Snapshot[]): readonly StepBand[] {
  let bands = knownBands.get(snapshots);
  if (bands === undefined) {
    bands = bandsOf(snapshots);
    knownBands.set(snapshots, bands);
  }
  return bands;
}

function bandsOf(snapshots: readonly Snapshot[]): StepBand[] {
  const bands = new Map<number, StepBand>();
  const last = snapshots.at(-1);
  for (const { step, atMs } of snapshots) {
    // The last deliveries of a step may be reported when the next one already warms up.
    if (!step || step.elapsedS === 0) continue;
    const { index, senders, elapsedS, totalS } = step;
    // Between ticks the time that has passed is known up to the one before: the earliest begin is right.
    const begunS = Math.max(0, atMs / 1000 - elapsedS);
    const fromS = Math.min(bands.get(index)?.fromS ?? begunS, begunS);
    const goesOn = step === last?.step && last.phase === 'measuring';
    bands.set(index, { index, senders, fromS, toS: fromS + (goesOn ? totalS : elapsedS) });
  }
  return [...bands.values()].sort((a, b) => a.index - b.index);
}
