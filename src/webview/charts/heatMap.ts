import type uPlot from 'uplot';
import { fill } from '../../base/text';
import { latencyWords } from '../../base/units';
import { tailUs, type LatencySummary } from '../../measure/latencySummary';
import { timeCharts } from '../../measure/show/timeSeries';
import type { Snapshot } from '../../measure/snapshot';
import { rateWords, timeLabel } from '../../measure/show/chartWords';
import { element } from '../element';
import { axisEndS, isOver, type ShownRun } from '../panelState';
import type { StateCard } from '../tables/card';
import type { PanelStrings } from '../../measure/show/panelStrings';
import {
  rangeSelection,
  latencyAxis,
  logarithmic,
  sidePadding,
  themeColour,
  timeAxis,
  type ChartOptions,
  snapshotsIn,
  type TimeRange,
  type TimeView,
} from './chartFrame';
import { createChartCard } from './chartCard';
import type { Reading } from './pointer';
import { chartTableOf } from './timeChart';

/** Deliveries by time and latency; shown when the run is over, since it needs all samples. */
export function createHeatMapCard({ strings }: ShownRun, view: TimeView): StateCard {
  let made: Made | undefined;
  return createChartCard<ShownRun>({
    ...{ name: 'heat', title: strings.heatMap, strings, lines: [] },
    beside: element('p', strings.heatMapMore),
    time: { view, endS: axisEndS },
    view(state) {
      if (!isOver(state)) return undefined;
      const { range = [0, Math.max(1, axisEndS(state))] as const } = view;
      if (made?.of !== state.snapshots || made.range !== view.range)
        made = makeMap(state.snapshots, view.range);
      const { map, middles } = made;
      if (map === undefined) return undefined;
      const ends = [map.latenciesUs[0]!, map.latenciesUs.at(-1)!].map(latencyWords);
      const snapshots = snapshotsIn(state.snapshots, view.range);
      return {
        ...{ title: strings.heatMap, kind: map, isFinal: true },
        data: [[...middles], middles.map(() => null)],
        spoken: [strings.heatMap, fill(strings.heatMapRange, ...ends)],
        options: () => options(map, range, view),
        read: (index, heightShare) => ({
          title: timeLabel(middles[index]!),
          values: [],
          more: [cellReading(map, index, heightShare, strings)],
        }),
        table: () => chartTableOf(timeCharts[0]!, { ...state, snapshots }),
      };
    },
  });
}

interface Made {
  readonly of: ShownRun['snapshots'];
  readonly range: TimeRange | undefined;
  readonly map: HeatMap | undefined;
  readonly middles: readonly number[];
}

function makeMap(of: ShownRun['snapshots'], range: TimeRange | undefined): Made {
  const map = heatMapOf(snapshotsIn(of, range));
  const middles = map?.seconds.slice(1).map((end, at) => (map.seconds[at]! + end) / 2) ?? [];
  return { of, range, map, middles };
}

/** Deliveries of the cell under the pointer; by keyboard of the column's largest. */
function cellReading(
  { latenciesUs, cells }: HeatMap,
  column: number,
  heightShare: number | undefined,
  strings: PanelStrings,
): Reading['rows'][number] {
  const rows = cells[column] ?? [];
  const row =
    heightShare === undefined
      ? rows.indexOf(Math.max(...rows))
      : Math.min(rows.length - 1, Math.floor(heightShare * rows.length));
  const ends = [latenciesUs[row] ?? 0, latenciesUs[row + 1] ?? 0].map(latencyWords);
  return { label: ends.join(' – '), value: fill(strings.perSecond, rateWords(rows[row] ?? 0)) };
}

function options(map: HeatMap, range: TimeRange, view: TimeView): ChartOptions {
  const { latenciesUs } = map;
  const { setSelect, ...dragging } = rangeSelection(view);
  return {
    ...dragging,
    height: 200,
    padding: [8, sidePadding.right, 0, 0],
    series: [{}, {}],
    scales: {
      x: { time: false, range: () => [...range] },
      y: { distr: logarithmic, log: 10, range: () => [latenciesUs[0]!, latenciesUs.at(-1)!] },
    },
    axes: [timeAxis(), latencyAxis()],
    hooks: { draw: [(plot) => drawCells(plot, map)], setSelect: [setSelect] },
  };
}

function drawCells(plot: uPlot, { seconds, latenciesUs, cells, most }: HeatMap): void {
  const { ctx, bbox } = plot;
  const lefts = seconds.map((second) => Math.round(plot.valToPos(second, 'x', true)));
  const tops = latenciesUs.map((us) => Math.round(plot.valToPos(us, 'y', true)));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = themeColour('--heat');
  for (const [column, rows] of cells.entries()) {
    for (const [row, deliveries] of rows.entries()) {
      const strength = heat(deliveries, most);
      if (strength === 0) continue;
      const [left, bottom, top] = [lefts[column]!, tops[row]!, tops[row + 1]!];
      ctx.globalAlpha = strength;
      ctx.fillRect(left, top, Math.max(1, lefts[column + 1]! - left), Math.max(1, bottom - top));
    }
  }
  ctx.restore();
}

interface HeatMap {
  /** Column bounds, seconds; one more than columns. */
  readonly seconds: readonly number[];
  /** Row bounds, microseconds, growing by a constant factor; one more than rows. */
  readonly latenciesUs: readonly number[];
  /** Deliveries per second, `cells[column][row]`. */
  readonly cells: readonly (readonly number[])[];
  readonly most: number;
}

const rowCount = 36;
const mostColumns = 240;

export function heatMapOf(snapshots: readonly Snapshot[]): HeatMap | undefined {
  const measured = snapshots.filter(({ interval }) => (interval?.latencyUs.count ?? 0) > 0);
  const summaries = measured.map(({ interval }) => interval!.latencyUs);
  if (summaries.length === 0) return undefined;
  const lowest = Math.max(1, Math.min(...summaries.map(({ min }) => min)));
  const highest = Math.max(lowest * 2, ...summaries.map(({ max }) => max)) * 1.001;
  const latenciesUs = Array.from(
    { length: rowCount + 1 },
    (_, row) => lowest * (highest / lowest) ** (row / rowCount),
  );
  const fromS = Math.min(...measured.map(startS));
  const toS = Math.max(...measured.map(({ atMs }) => atMs / 1000));
  const columns = Math.min(mostColumns, Math.max(1, Math.round(toS - fromS)));
  const widthS = Math.max(1e-3, (toS - fromS) / columns);
  const cells = Array.from({ length: columns }, () => new Array<number>(rowCount).fill(0));
  for (const [at, snapshot] of snapshots.entries()) {
    if ((snapshot.interval?.latencyUs.count ?? 0) === 0) continue;
    // Thinned snapshots stand for those left out before them.
    const weight = Math.max(1, snapshot.tick - (snapshots[at - 1]?.tick ?? snapshot.tick));
    const middleS = (startS(snapshot) + snapshot.atMs / 1000) / 2;
    const column = cells[Math.min(columns - 1, Math.floor((middleS - fromS) / widthS))]!;
    const { latencyUs } = snapshot.interval!;
    for (let row = 0; row < rowCount; row++) {
      const share =
        shareBelow(latencyUs, latenciesUs[row + 1]!) - shareBelow(latencyUs, latenciesUs[row]!);
      column[row]! += (weight * share * latencyUs.count) / widthS;
    }
  }
  return {
    seconds: Array.from({ length: columns + 1 }, (_, column) => fromS + column * widthS),
    latenciesUs,
    cells,
    most: cells.reduce((most, column) => Math.max(most, ...column), 0),
  };
}

const startS = ({ atMs, interval }: Snapshot): number => atMs / 1000 - (interval?.seconds ?? 0);

/** Share of values below a latency, 0…1, interpolated between the known percentiles on a log scale. */
export function shareBelow(summary: LatencySummary, us: number): number {
  if (us < summary.min) return 0;
  if (us >= summary.max) return 1;
  const percentiles: (readonly [share: number, us: number | undefined])[] = [
    [0, summary.min],
    [0.5, summary.p50],
    [0.9, summary.p90],
    [0.95, summary.p95],
    [0.99, summary.p99],
    [0.999, tailUs(summary, 'p999')],
    [0.9999, tailUs(summary, 'p9999')],
    [1, summary.max],
  ];
  const known = percentiles.filter(
    (each): each is readonly [number, number] => each[1] !== undefined,
  );
  for (let at = known.length - 1; at > 0; at--) {
    const [[low, lowUs], [high, highUs]] = [known[at - 1]!, known[at]!];
    if (us < lowUs) continue;
    if (us >= highUs) return high;
    const within = Math.log(us / Math.max(lowUs, 0.5)) / Math.log(highUs / Math.max(lowUs, 0.5));
    return low + (high - low) * Math.min(1, Math.max(0, within));
  }
  return 0;
}

/** Opacity of a cell, 0…1; logarithmic, so that single slow deliveries show. */
export function heat(deliveries: number, most: number): number {
  if (deliveries <= 0 || most <= 0) return 0;
  return Math.min(1, 0.12 + (0.88 * Math.log1p(deliveries)) / Math.log1p(most));
}
