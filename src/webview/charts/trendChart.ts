import { fill } from '../../base/text';
import type { OverviewRow } from '../../messages/panel';
import { latencyWords, formatCount } from '../../base/units';
import type { PanelStrings } from '../../measure/show/panelStrings';
import type { Trend } from '../overviewRows';
import {
  countAxis,
  countAxisBelow,
  latencyOptions,
  rightSide,
  sideRoom,
  themeColour,
  type ChartOptions,
  type LegendLine,
} from './chartFrame';
import { createChartCard, type ChartCard } from './chartCard';

export const unitWords = (
  { unit }: Pick<OverviewRow, 'unit'>,
  { none, noValue }: PanelStrings,
): string => (unit === undefined ? noValue : unit === null ? none : formatCount(unit));

/** The p99 of each run of a scenario, oldest first, and the Units it asked for; the table of results has the numbers. */
export function createTrendCard(strings: PanelStrings): ChartCard<Trend | undefined> {
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
  const { series, scales, axes, ...options } = latencyOptions(
    lines,
    countAxisBelow(50),
    (min, max) => [min - 0.5, max + 0.5],
    { right: 0 },
  );
  const [place, p99, units] = series.map((made, at) => ({
    ...made,
    points: { show: true, size: 7, fill: () => themeColour(`--line-${lines[at - 1]!.colour}`) },
  }));
  return {
    ...options,
    series: [place!, p99!, { ...units!, scale: 'units' }],
    scales: { ...scales, units: { range: (_plot, _min, max) => [0, Math.max(1, max) * 1.2] } },
    axes: [
      ...axes!,
      countAxis({ scale: 'units', side: rightSide, size: sideRoom.right, grid: false }),
    ],
  };
}
