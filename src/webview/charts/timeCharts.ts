/** Legends and tables of the charts over time. */
import { fill } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import { tailReason } from '../../measure/latencySummary';
import { timeLabel, valueWords } from '../../measure/show/chartWords';
import {
  columnsOf,
  combined,
  combineOf,
  type Columns,
  type SeriesSpec,
  type TimeChartSpec,
} from '../../measure/show/timeSeries';
import type { PanelStrings } from '../../protocol/panelStrings';
import type { ShownRun } from '../panelState';
import { noted, type TableView } from '../tables/card';
import type { TimeRange } from './timeView';

/** The points of a part of the run alone. */
export function inRange(columns: Columns, range: TimeRange | undefined): Columns {
  if (range === undefined) return columns;
  const { seconds, lines, perPoint } = columns;
  const inside = (_: unknown, at: number): boolean =>
    seconds[at]! >= range[0] && seconds[at]! <= range[1];
  return {
    seconds: seconds.filter(inside),
    lines: lines.map((line) => line.filter(inside)),
    perPoint,
  };
}

/**
 * Of a run that goes on its latest values; of one that is over, or of a part of it, the worst latencies, mean rates and last
 * states.
 */
export function atRest(
  { unit }: TimeChartSpec,
  { lines }: Columns,
  over: boolean,
  { highestOfRun, meanOfRun, endOfRun, latest, highestOf, meanOf, endOf }: PanelStrings,
  range?: TimeRange,
) {
  const combine = over || range ? combineOf[unit] : 'last';
  const values = lines.map((line) => combined(line, combine));
  if (range) {
    const parts = { max: highestOf, mean: meanOf, last: endOf };
    return { label: fill(parts[combine], ...range.map(timeLabel)), values };
  }
  const labels = { max: highestOfRun, mean: meanOfRun, last: endOfRun };
  return { label: over ? labels[combine] : latest, values };
}

/** Most rows of a table beside a chart: a person reads it, a longer run is summed up. */
const mostRows = 120;

export function seriesLabel({ label }: SeriesSpec, strings: PanelStrings): string {
  return typeof label === 'string' ? label : strings[label.key];
}

export function chartTable(spec: TimeChartSpec, state: ShownRun): TableView {
  const { strings, snapshots } = state;
  const { seconds, lines, perPoint } = columnsOf(spec, snapshots, mostRows);
  const latencies = snapshots.map(({ interval }) => interval?.latencyUs);
  const rows = seconds
    .map((second, at) => ({ second, values: lines.map((line) => line[at] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null))
    .map(({ second, values }) => [
      timeLabel(second),
      ...values.map((value) => (value === null ? strings.noValue : valueWords(spec.unit, value))),
    ]);
  return {
    heads: [strings.time, ...spec.series.map((series) => seriesLabel(series, strings))],
    rows,
    textColumns: [],
    ...noted(
      perPoint > 1 && fill(strings.everySeconds, formatCount(meanGap(seconds))),
      spec.unit === 'latency' && tailReason(latencies) !== undefined && strings.tailNote,
    ),
  };
}

/** Seconds between points. Of a long run not each second has a snapshot, so these are not counted. */
const meanGap = (seconds: readonly number[]): number =>
  (seconds.at(-1)! - seconds[0]!) / Math.max(1, seconds.length - 1);
