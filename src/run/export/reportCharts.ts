import { fill } from '../../base/text';
import { latencyLimits } from '../../base/objectives/percentile';
import type { Slo } from '../../base/slo';
import { latencyWords, formatCount } from '../../base/units';
import { percentWords, timeLabel, valueWords } from '../../measure/show/chartWords';
import { chartTable, seriesLabel, spectrumTable } from '../../measure/show/panelTables';
import { observedCharts } from '../../measure/show/observedWords';
import { latencyCurve } from '../../measure/histogram';
import {
  axisShares,
  percentileAxisPosition,
  toAxisPoints,
  spectrumPoints,
  type SpectrumPoint,
} from '../../measure/latencySummary';
import {
  readChartColumns,
  chooseRightAxis,
  stepBands,
  timeCharts,
  type SeriesSpec,
  type TimeChartSpec,
} from '../../measure/show/timeSeries';
import type { Snapshot } from '../../measure/snapshot';
import type { StepSummary } from '../../measure/summary';
import { panelStrings } from '../../measure/show/panelStrings';
import { escapeMarkup } from './plainText';

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
const mostPoints = 360;

/** Drops snapshots of a clock that went back. */
const inOrder = (snapshots: readonly Snapshot[]): Snapshot[] => {
  let latest = -Infinity;
  return snapshots.filter(({ atMs }) => {
    if (atMs < latest || atMs < 0) return false;
    latest = atMs;
    return true;
  });
};

/** Charts over the run's time, without empty ones. */
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
  const columns = readChartColumns(spec, snapshots, mostPoints);
  const { seconds, lines } = columns;
  const values = lines.flat().filter((value) => value !== null);
  if (values.length === 0) return undefined;
  const side = chooseRightAxis(spec, columns);
  const onRight = ({ id }: SeriesSpec): boolean => side !== 'none' && spec.right.includes(id);
  const most = (which: boolean): number =>
    spec.series.reduce(
      (highest, series, at) =>
        onRight(series) === which ? Math.max(highest, ...known(lines[at])) : highest,
      0,
    );
  const limits = spec.unit === 'latency' && slo !== undefined ? latencyLimitLines(slo) : [];
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
      title: chartDescription(
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

/** Read aloud in place of a chart. */
export const chartDescription = (title: string, numbers: readonly string[]): string =>
  fill(panelStrings.chartSummary, title, numbers.join(', '));

/** Keeps lines of one ratio apart: the larger ones are above. */
const apart = 1.3;

const mostBands = 200;

const known = (line: readonly (number | null)[] | undefined): number[] =>
  (line ?? []).filter((value) => value !== null);

const nameOf = (series: SeriesSpec): string => seriesLabel(series, panelStrings);

export const latencyLimitLines = (slo: Slo): { metric: string; at: number; label: string }[] =>
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
export function roundAxisStep(span: number, smallest = 1): number {
  const rough = Math.max(smallest, span / 5);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
}

function countAxis(most: number, { unit }: Pick<TimeChartSpec, 'unit'>): Axis {
  const max = Math.max(1, most) * 1.08;
  return evenAxis(max, roundAxisStep(max), (at) => valueWords(unit, at));
}

export function evenAxis(max: number, step: number, label: (at: number) => string): Axis {
  const ticks = Array.from({ length: Math.floor(max / step) + 1 }, (_, at) => at * step);
  return { min: 0, max, ticks: ticks.map((at) => ({ at, label: label(at) })) };
}

const timeSteps = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400],
];

function timeAxis(endS: number): Axis {
  return evenAxis(
    endS,
    timeSteps.find((each) => endS / each <= 8) ?? roundAxisStep(endS),
    timeLabel,
  );
}

/** From due by histogram, from send by percentiles. */
export function spectrumChart(step: StepSummary | undefined): ReportChart | undefined {
  if (step === undefined || step.latencyUs.count === 0) return undefined;
  const curve = latencyCurve(step.histogram);
  const due = curve.length > 0 ? curve : spectrumPoints(step.latencyUs);
  const sent = spectrumPoints(step.sendLatencyUs);
  const title = fill(panelStrings.spectrum, formatCount(step.index));
  const last = due.at(-1)!.share;
  const max = Math.max(1, percentileAxisPosition(last));
  const y = latencyAxis([...due, ...sent].map(({ latencyUs }) => latencyUs));
  const line = (
    id: string,
    dash: readonly number[],
    points: readonly SpectrumPoint[],
  ): SvgLine => ({
    ...{ id, dash, widthPx: 2 },
    points: toAxisPoints(points),
  });
  const lines = [line('due', [], due), ...(sent.length > 0 ? [line('send', [5, 4], sent)] : [])];
  const labels = [panelStrings.fromIntended, panelStrings.fromSend];
  const bySend = sent.length > 0 ? step.sendLatencyUs : undefined;
  const { heads, rows } = spectrumTable(step.latencyUs, bySend, panelStrings);
  return {
    ...{ id: 'spectrum', title },
    svg: svgChart({
      ...chartSize,
      title: chartDescription(
        title,
        rows.map(([share = '', us = '']) => `${share} ${us}`),
      ),
      x: {
        ...{ min: 0, max },
        ticks: axisShares
          .map((share) => ({ at: percentileAxisPosition(share), label: percentWords(share) }))
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

interface SvgChart {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly x: Axis;
  readonly y: Axis;
  readonly right?: Axis;
  readonly lines: readonly SvgLine[];
  readonly bands?: readonly {
    readonly from: number;
    readonly to: number;
    readonly label: string;
  }[];
  readonly dots?: readonly {
    readonly at: readonly [x: number, y: number];
    readonly hollow: boolean;
  }[];
  readonly limits?: readonly {
    readonly at: number;
    readonly label: string;
    readonly early?: true;
  }[];
}

interface Axis {
  readonly min: number;
  readonly max: number;
  readonly logarithmic?: boolean;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
}

export interface SvgLine {
  readonly id: string;
  readonly dash: readonly number[];
  readonly widthPx: number;
  readonly onRight?: boolean;
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

const room = { left: 64, right: 54, top: 12, bottom: 28 };
const characterPx = 6;

export function svgChart(chart: SvgChart): string {
  const { title, width, height, x, y, right, lines, bands = [], limits = [], dots = [] } = chart;
  const [left, top] = [room.left, room.top];
  const [end, bottom] = [width - room.right, height - room.bottom];
  const atX = place(x, left, end);
  const atY = place(y, bottom, top);
  const onRight = right && { ticks: right.ticks, at: place(right, bottom, top) };
  const stripes = bands.map(({ from, to, label }, index) => {
    const [start, stop] = [atX(from), atX(to)];
    const fits = label.length * characterPx + 8 <= stop - start;
    const name = fits ? text(start + 5, top + 12, 'start', label) : '';
    const shade = index % 2 === 0 ? ' class="band"' : ' class="bare"';
    return `<rect${shade} x="${px(start)}" y="${top}" width="${px(stop - start)}" height="${bottom - top}"/>${name}`;
  });
  const across = (at: number, kind: string): string =>
    `<line class="${kind}" x1="${left}" x2="${end}" y1="${px(at)}" y2="${px(at)}"/>`;
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img"><title>${escapeMarkup(title, 500)}</title>`,
    ...stripes,
    ...y.ticks.map(
      ({ at, label }) => across(atY(at), 'grid') + text(left - 7, atY(at) + 4, 'end', label),
    ),
    ...(onRight?.ticks ?? []).map(({ at, label }) =>
      text(end + 7, onRight!.at(at) + 4, 'start', label),
    ),
    ...x.ticks.map(({ at, label }) => text(atX(at), height - 8, 'middle', label)),
    ...limits.map(({ at }) => across(atY(at), 'limit')),
    ...lines.map((line) => lineOf(line, atX, (line.onRight && onRight?.at) || atY)),
    ...dots.map(
      ({ at: [x, y], hollow }) =>
        `<circle class="${hollow ? 'hollow' : 'dot'}" cx="${px(atX(x))}" cy="${px(atY(y))}" r="4"/>`,
    ),
    ...limits.map(({ at, label, early }) =>
      early
        ? text(left + 4, atY(at) - 5, 'start', label, 'limit')
        : text(end - 4, atY(at) - 5, 'end', label, 'limit'),
    ),
    '</svg>',
  ].join('');
}

function place(axis: Axis, from: number, to: number): (value: number) => number {
  const scale = (value: number): number =>
    axis.logarithmic ? Math.log10(Math.max(value, Number.MIN_VALUE)) : value;
  const [low, high] = [scale(axis.min), scale(axis.max)];
  const span = high - low || 1;
  return (value) => from + (to - from) * Math.min(1, Math.max(0, (scale(value) - low) / span));
}

const px = (value: number): string => String(Number(value.toFixed(1)));

function text(
  x: number,
  y: number,
  anchor: 'start' | 'middle' | 'end',
  label: string,
  kind?: string,
): string {
  const classes = kind === undefined ? '' : ` class="${kind}"`;
  return `<text${classes} x="${px(x)}" y="${px(y)}" text-anchor="${anchor}">${escapeMarkup(label, 60)}</text>`;
}

type Place = (value: number) => number;

/** A point between gaps is a dot. */
function lineOf({ id, dash, widthPx, points }: SvgLine, atX: Place, atY: Place): string {
  let path = '';
  const dots: string[] = [];
  const isGap = (at: number): boolean => (points[at]?.[1] ?? null) === null;
  for (const [at, [x, y]] of points.entries()) {
    if (y === null) continue;
    const spot = `${px(atX(x))} ${px(atY(y))}`;
    if (isGap(at - 1) && isGap(at + 1)) {
      const [cx, cy] = spot.split(' ');
      dots.push(`<circle cx="${cx}" cy="${cy}" r="${widthPx + 1}"/>`);
    } else path += `${isGap(at - 1) ? 'M' : 'L'}${spot}`;
  }
  const dashes = dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`;
  const drawn = path === '' ? '' : `<path d="${path}" stroke-width="${widthPx}"${dashes}/>`;
  return `<g style="--line:var(--line-${id})">${drawn}${dots.join('')}</g>`;
}

/** For a legend. */
export const legendSample = ({
  id,
  dash,
  widthPx,
}: Pick<SvgLine, 'id' | 'dash' | 'widthPx'>): string =>
  `<svg class="sample" viewBox="0 0 24 8" aria-hidden="true"><g style="--line:var(--line-${id})"><path d="M0 4L24 4" stroke-width="${widthPx}"${dash.length === 0 ? '' : ` stroke-dasharray="${dash.join(' ')}"`}/></g></svg>`;
