/** Legends and tables of the charts over time. */
import { fill } from '../../base/objectives/limitWords';
import { tailReason } from '../../measure/latencySummary';
import { timeLabel } from '../../measure/show/chartWords';
import { chartTable } from '../../measure/show/panelTables';
import {
  combined,
  combineOf,
  type Columns,
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

export function chartTableOf(spec: TimeChartSpec, { strings, snapshots }: ShownRun): TableView {
  const { summed, ...table } = chartTable(spec, snapshots, strings);
  const latencies = snapshots.map(({ interval }) => interval?.latencyUs);
  const isCut = spec.unit === 'latency' && tailReason(latencies) !== undefined;
  return { ...table, ...noted(summed, isCut && strings.tailNote) };
}
