import type uPlot from 'uplot';
import { fill, latencyWords } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import type { OverviewRow, OverviewStrings } from '../../messages/overviewPanel';
import type { Trend } from '../overviewRows';
import {
  axis,
  belowAxis,
  joinedLine,
  latencyAxis,
  latencyScale,
  rightSide,
  sideRoom,
  themeColour,
  wholeSteps,
  type ChartOptions,
  type LegendLine,
} from './chartFrame';
import { createChartCard, type ChartCard } from './chartCard';

export const unitWords = (
  { unit }: Pick<OverviewRow, 'unit'>,
  { noUnit, noValue }: OverviewStrings,
): string => (unit === undefined ? noValue : unit === null ? noUnit : formatCount(unit));

/** The p99 of each run of a scenario, oldest first, and the Units it asked for; the table of results has the numbers. */
export function createTrendCard(strings: OverviewStrings): ChartCard<Trend | undefined> {
  const lines: readonly LegendLine[] = [
    { label: 'p99', colour: 'p99', dash: [], widthPx: 2.5 },
    { label: strings.unit, colour: 'p50', dash: [6, 3], widthPx: 1.5 },
  ];
  return createChartCard<Trend | undefined>({
    ...{ name: 'chart-trend', strings, lines },
    view(trend) {
      if (trend === undefined) return undefined;
      const { runs } = trend;
      const title = fill(strings.trend, trend.scenario);
      const values = runs.map((run) => [latencyWords(run.p99Us), unitWords(run, strings)]);
      const spoken = runs.map(({ when }, at) => `${when} ${values[at]!.join(', ')}`);
      return {
        ...{ title, kind: 'trend', spoken: [title, spoken.slice(-20).join('; ')] },
        data: [
          runs.map((_, at) => at + 1),
          runs.map(({ p99Us }) => Math.max(1, p99Us)),
          runs.map(({ unit }) => unit ?? null),
        ],
        rest: { label: '', values: values.at(-1) ?? [] },
        options: () => options(lines),
        read: (index) => {
          const { when, status } = runs[index]!;
          return { title: when, values: values[index]!, more: [{ label: status, value: '' }] };
        },
      };
    },
  });
}

function options(lines: readonly LegendLine[]): ChartOptions {
  const [p99, units] = lines.map((line): uPlot.Series => {
    const made = joinedLine(line);
    return {
      ...made,
      points: { show: true, size: 7, fill: () => themeColour(`--line-${line.colour}`) },
    };
  });
  const counts = (_plot: uPlot, splits: number[]): string[] =>
    splits.map((each) => formatCount(each));
  return {
    height: 230,
    padding: [14, 0, 0, 0],
    series: [{}, p99!, { ...units!, scale: 'units' }],
    scales: {
      x: { time: false, range: (_plot, min, max) => [min - 0.5, max + 0.5] },
      y: latencyScale(),
      units: { range: (_plot, _min, max) => [0, Math.max(1, max) * 1.2] },
    },
    axes: [
      axis({ values: counts, incrs: wholeSteps, ...belowAxis, grid: false, space: 50 }),
      latencyAxis(),
      axis({
        ...{ scale: 'units', side: rightSide, size: sideRoom.right, grid: false },
        ...{ values: counts, incrs: wholeSteps },
      }),
    ],
  };
}
