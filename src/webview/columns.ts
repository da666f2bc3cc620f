import type { Snapshot } from '../measure/snapshot';
import type { Combine, TimeChartSpec } from './timeCharts';

/** Points of the lines of one chart: `lines[i][k]` belongs to `seconds[k]`. */
export interface Columns {
  /** Since the run began, rising. */
  readonly seconds: readonly number[];
  readonly lines: readonly (readonly (number | null)[])[];
  /** Snapshots in one point. */
  readonly perPoint: number;
}

/** The chart's values from the snapshots, at most `most` points. */
export function columnsOf(
  spec: TimeChartSpec,
  snapshots: readonly Snapshot[],
  most: number,
): Columns {
  const lines = spec.series.map((series) => snapshots.map((snapshot) => series.read(snapshot)));
  const seconds = snapshots.map(({ atMs }) => atMs / 1000);
  return thin(
    { seconds, lines, perPoint: 1 },
    spec.series.map(({ combine }) => combine),
    most,
  );
}

/** Whether the lines for the right axis are more than twice as large as the first line, or far smaller. */
export function usesRightAxis({ series, right }: TimeChartSpec, { lines }: Columns): boolean {
  const most = (line: readonly (number | null)[] | undefined): number =>
    (line ?? []).reduce<number>((highest, value) => Math.max(highest, value ?? 0), 0);
  const first = most(lines[0]);
  const others = Math.max(
    0,
    ...lines.filter((_, at) => right.includes(series[at]?.id ?? '')).map(most),
  );
  return others > 0 && (others > 2 * first || others < first / 10);
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

function combined(values: readonly (number | null)[], combine: Combine): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return null;
  if (combine === 'max') return Math.max(...known);
  if (combine === 'last') return known.at(-1)!;
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
