import type { Snapshot } from '../../measure/show/snapshot';
import type { Combine, TimeChartSpec } from './timeCharts';

/** Points of the lines of one chart: `lines[i][k]` belongs to `seconds[k]`. */
export interface Columns {
  /** Since the run began, rising. */
  readonly seconds: readonly number[];
  readonly lines: readonly (readonly (number | null)[])[];
  /** Snapshots in one point. */
  readonly perPoint: number;
}

/**
 * The chart's values from the snapshots, at most `most` points. A change of phase is told between two ticks:
 * where nothing can be read from it, it is no gap in what was measured.
 */
export function columnsOf(spec: TimeChartSpec, all: readonly Snapshot[], most: number): Columns {
  const snapshots = all.filter(
    (snapshot, at) =>
      snapshot.tick !== all[at - 1]?.tick ||
      spec.series.some((series) => series.read(snapshot) !== null),
  );
  const lines = spec.series.map((series) =>
    snapshots.map((snapshot, at) => series.read(snapshot, snapshots[at - 1])),
  );
  const seconds = snapshots.map(({ atMs }) => atMs / 1000);
  return thin(
    { seconds, lines, perPoint: 1 },
    spec.series.map(({ combine }) => combine),
    most,
  );
}

/** Points with a gap on both sides: no line goes through them, so they are drawn as dots. */
export function islandsOf(line: ArrayLike<number | null | undefined>): number[] {
  const isGap = (at: number): boolean => (line[at] ?? null) === null;
  const places = Array.from({ length: line.length }, (_, at) => at);
  return places.filter((at) => !isGap(at) && isGap(at - 1) && isGap(at + 1));
}

/** The right axis of a chart: for lines more than twice as large as the first one, or far smaller ones. */
export type RightAxis = 'none' | 'larger' | 'smaller';

export function rightAxisOf({ series, right }: TimeChartSpec, { lines }: Columns): RightAxis {
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

/** Fewer points by putting neighbours together; a gap stays one when all of its points are gaps. */
export function thin(columns: Columns, combines: readonly Combine[], most: number): Columns {
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
    lines: lines.map((line, at) =>
      starts.map((start) => combined(line.slice(start, start + perPoint), combines[at] ?? 'last')),
    ),
  };
}

/** Several values of a line as one; null when all of them are gaps. */
export function combined(values: readonly (number | null)[], combine: Combine): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  if (combine === 'max') return known.reduce((most, value) => Math.max(most, value));
  if (combine === 'last') return known.at(-1)!;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
