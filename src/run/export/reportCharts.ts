/** The charts of a report: the panel's, over the same points. */
import { fill } from '../../base/text';
import { latencyLimits } from '../../base/objectives/percentile';
import type { Slo } from '../../base/slo';
import { latencyWords, formatCount } from '../../base/units';
import { percentWords, timeLabel, valueWords } from '../../measure/show/chartWords';
import { chartTable, seriesLabel, spectrumTable } from '../../measure/show/panelTables';
import { observedCharts } from '../../measure/show/observedWords';
import { curveOf } from '../../measure/histogram';
import {
  axisShares,
  percentilePlace,
  placed,
  pointsOf,
  type SpectrumPoint,
} from '../../measure/latencySummary';
import {
  columnsOf,
  rightAxisOf,
  stepBands,
  timeCharts,
  type SeriesSpec,
  type TimeChartSpec,
} from '../../measure/show/timeSeries';
import type { Snapshot } from '../../measure/snapshot';
import type { StepSummary } from '../../measure/summary';
import { panelStrings } from '../../measure/show/panelStrings';
import { svgChart, type Axis, type SvgLine } from './svgChart';

export interface ReportChart {
  readonly id: string;
  readonly title: string;
  readonly svg: string;
  readonly legend: readonly (Pick<SvgLine, 'id' | 'dash' | 'widthPx'> & {
    readonly label: string;
  })[];
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

export const chartSize = { width: 720, height: 240 };
/** More would lie on each other. */
const mostPoints = 360;

/** A clock that goes back would draw a line backwards: what it says twice is left out. */
const inOrder = (snapshots: readonly Snapshot[]): Snapshot[] => {
  let latest = -Infinity;
  return snapshots.filter(({ atMs }) => {
    if (atMs < latest || atMs < 0) return false;
    latest = atMs;
    return true;
  });
};

/** Over the time of the run; a chart without any point is left out. */
export function chartsOverTime(all: readonly Snapshot[], slo: Slo | undefined): ReportChart[] {
  const snapshots = inOrder(all);
  const [latency, ...others] = timeCharts;
  const specs = [latency!, ...observedCharts(snapshots, panelStrings), ...others];
  return specs.flatMap((spec) => overTime(spec, snapshots, slo) ?? []);
}

function overTime(
  spec: TimeChartSpec,
  snapshots: readonly Snapshot[],
  slo: Slo | undefined,
): ReportChart | undefined {
  const columns = columnsOf(spec, snapshots, mostPoints);
  const { seconds, lines } = columns;
  const values = lines.flat().filter((value) => value !== null);
  if (values.length === 0) return undefined;
  const side = rightAxisOf(spec, columns);
  const onRight = ({ id }: SeriesSpec): boolean => side !== 'none' && spec.right.includes(id);
  const most = (which: boolean): number =>
    spec.series.reduce(
      (highest, series, at) =>
        onRight(series) === which ? Math.max(highest, ...known(lines[at])) : highest,
      0,
    );
  const limits = spec.unit === 'latency' && slo !== undefined ? limitsOf(slo) : [];
  const y =
    spec.unit === 'latency'
      ? latencyAxis([...values, ...limits.map(({ at }) => at * 1.2)])
      : countAxis(most(false) * (side === 'larger' ? apart : 1), spec);
  const label = (series: SeriesSpec): string => {
    const name = nameOf(series);
    return onRight(series) ? fill(panelStrings.onRight, name) : name;
  };
  const { heads, rows, summed } = chartTable(spec, snapshots, panelStrings);
  const title = panelStrings[spec.title];
  const endS = Math.max(1, (snapshots.at(-1)?.atMs ?? 0) / 1000);
  return {
    ...{ id: spec.id, title },
    svg: svgChart({
      ...chartSize,
      title: spokenChart(
        title,
        spec.series.flatMap((series, at) => {
          const last = known(lines[at]).at(-1);
          return last === undefined ? [] : [`${nameOf(series)} ${valueWords(spec.unit, last)}`];
        }),
      ),
      x: timeAxis(endS),
      y,
      ...(side !== 'none' && {
        right: countAxis(most(true) * (side === 'larger' ? 1 : apart), spec),
      }),
      bands: stepBands(snapshots)
        .slice(-mostBands)
        .map(({ fromS, toS, senders }) => ({
          ...{ from: fromS, to: toS },
          label: spec.id === 'latency' ? fill(panelStrings.senders, formatCount(senders)) : '',
        })),
      limits,
      // The wide line of what was offered lies below the others.
      lines: spec.series.map((series, at) => ({
        ...{ id: series.id, dash: series.dash, widthPx: series.widthPx },
        onRight: onRight(series),
        points: seconds.map((second, index) => [second, lines[at]?.[index] ?? null] as const),
      })),
    }),
    legend: spec.series.map((series) => ({ ...series, label: label(series) })),
    ...{ heads, rows, notes: summed === undefined ? [] : [summed] },
  };
}

/** What is read aloud in place of a chart: its numbers at the end of the run, or what its table begins with. */
export const spokenChart = (title: string, numbers: readonly string[]): string =>
  fill(panelStrings.chartSummary, title, numbers.join(', '));

/** Lines of one ratio would lie upon each other: the larger ones are drawn above the others. */
const apart = 1.3;

const mostBands = 200;

const known = (line: readonly (number | null)[] | undefined): number[] =>
  (line ?? []).filter((value) => value !== null);

const nameOf = (series: SeriesSpec): string => seriesLabel(series, panelStrings);

export const limitsOf = (slo: Slo): { metric: string; at: number; label: string }[] =>
  latencyLimits(slo).map(({ metric, us }) => ({
    ...{ metric, at: us, label: fill(panelStrings.criterion, metric, latencyWords(us)) },
  }));

/** Whole decades of microseconds. */
export function latencyAxis(values: readonly number[]): Axis {
  const low = Math.floor(Math.log10(Math.max(1, Math.min(...values))));
  const high = Math.ceil(Math.log10(Math.max(10, ...values)));
  const last = Math.max(high, low + 1);
  const ticks = Array.from({ length: last - low + 1 }, (_, at) => 10 ** (low + at)).map((at) => ({
    at,
    label: latencyWords(at),
  }));
  return { min: 10 ** low, max: 10 ** last, logarithmic: true, ticks };
}

/** About five steps of 1, 2 or 5 times a power of ten. */
export function stepOf(span: number, smallest = 1): number {
  const rough = Math.max(smallest, span / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
}

function countAxis(most: number, { unit }: Pick<TimeChartSpec, 'unit'>): Axis {
  const max = Math.max(1, most) * 1.08;
  return evenAxis(max, stepOf(max), (at) => valueWords(unit, at));
}

/** From 0, with a label at each step. */
export function evenAxis(max: number, step: number, label: (at: number) => string): Axis {
  const ticks = Array.from({ length: Math.floor(max / step) + 1 }, (_, at) => at * step);
  return { min: 0, max, ticks: ticks.map((at) => ({ at, label: label(at) })) };
}

const timeSteps = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400],
];

function timeAxis(endS: number): Axis {
  return evenAxis(endS, timeSteps.find((each) => endS / each <= 8) ?? stepOf(endS), timeLabel);
}

/** Of one step: from the intended time by its histogram, from the real send by its percentiles. */
export function spectrumChart(step: StepSummary | undefined): ReportChart | undefined {
  if (step === undefined || step.latencyUs.count === 0) return undefined;
  const curve = curveOf(step.histogram);
  const due = curve.length > 0 ? curve : pointsOf(step.latencyUs);
  const sent = pointsOf(step.sendLatencyUs);
  const title = fill(panelStrings.spectrum, formatCount(step.index));
  const last = due.at(-1)!.share;
  const max = Math.max(1, percentilePlace(last));
  const y = latencyAxis([...due, ...sent].map(({ latencyUs }) => latencyUs));
  const line = (
    id: string,
    dash: readonly number[],
    points: readonly SpectrumPoint[],
  ): SvgLine => ({
    ...{ id, dash, widthPx: 2 },
    points: placed(points),
  });
  const lines = [line('due', [], due), ...(sent.length > 0 ? [line('send', [5, 4], sent)] : [])];
  const labels = [panelStrings.fromIntended, panelStrings.fromSend];
  const bySend = sent.length > 0 ? step.sendLatencyUs : undefined;
  const { heads, rows } = spectrumTable(step.latencyUs, bySend, panelStrings);
  return {
    ...{ id: 'spectrum', title },
    svg: svgChart({
      ...chartSize,
      title: spokenChart(
        title,
        rows.map(([share = '', us = '']) => `${share} ${us}`),
      ),
      x: {
        ...{ min: 0, max },
        ticks: axisShares
          .map((share) => ({ at: percentilePlace(share), label: percentWords(share) }))
          .filter(({ at }) => at <= max),
      },
      y,
      lines,
    }),
    legend: lines.map((each, at) => ({ ...each, label: labels[at]! })),
    ...{ heads, rows },
    notes: step.judgedUs ? [panelStrings.ofArrived] : [],
  };
}
