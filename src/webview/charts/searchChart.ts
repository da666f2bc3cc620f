import type uPlot from 'uplot';
import { fill } from '../../base/text';
import { formatCount } from '../../base/units';
import { representativeStep, triesByValue } from '../../base/searchSummary';
import {
  type ShownRun,
  kindWord,
  outcomeText,
  searchOf,
  searchValueText,
  type ShownSearch,
} from '../panelState';
import type { StateCard, TableView } from '../tables/card';
import { latencyOrLost } from '../../measure/show/chartWords';
import {
  countAxisBelow,
  drawLimit,
  latencyOptions,
  sidePadding,
  themeColour,
  type ChartOptions,
  type LegendLine,
} from './chartFrame';
import { createChartCard } from './chartCard';

export function searchTable(search: ShownSearch, state: ShownRun): TableView {
  const { strings } = state;
  return {
    heads: ['#', kindWord(search.of, strings), 'p50', 'p99', strings.lostTile, ''],
    rows: search.steps.map((step) => [
      String(step.index),
      formatCount(step.value),
      ...pair(step, state),
      formatCount(step.lost),
      outcomeText(step, strings),
    ]),
    textColumns: [5],
  };
}

const pair = (
  { p50, p99, status }: ShownSearch['steps'][number],
  { strings }: ShownRun,
): string[] =>
  [p50, p99].map((us) =>
    latencyOrLost(status === 'incomplete' && us === null ? undefined : us, strings),
  );

/** Sorted by value, as in all other views. */
export function searchColumns({ steps }: ShownSearch): uPlot.AlignedData {
  const rising = triesByValue(steps).map(representativeStep);
  return [
    rising.map(({ value }) => value),
    rising.map(({ p50 }) => p50),
    rising.map(({ p99 }) => p99),
  ];
}

const lines: readonly LegendLine[] = [
  { label: 'p50', colour: 'p50', dash: [4, 3], widthPx: 1.5 },
  { label: 'p99', colour: 'p99', dash: [], widthPx: 2.5 },
];

/** Latency over the searched value, with the interval as a band and each step as a mark. */
export function createSearchCard(first: ShownRun): StateCard {
  const { strings } = first;
  let shown = first;
  return createChartCard<ShownRun>({
    ...{ name: 'chart-search', title: strings.searchChart, strings, lines },
    view(state) {
      shown = state;
      const search = searchOf(state);
      if (search === undefined) return undefined;
      const title = fill(strings.searchChartBy, kindWord(search.of, strings));
      const data = searchColumns(search);
      const values = [...data[0]];
      const wordsOf = (value: number): string => searchValueText(search.of, value, strings);
      const read = (index: number) => {
        const tries = search.steps.filter(({ value }) => value === values[index]);
        return {
          title: values[index] === undefined ? '' : wordsOf(values[index]),
          values: lines.map((_, line) => latencyOrLost(data[line + 1]?.[index], strings)),
          more:
            tries.length === 0
              ? []
              : [{ label: outcomeText(representativeStep(tries), strings), value: '' }],
        };
      };
      const atRest = read(search.low === null ? values.length - 1 : values.indexOf(search.low));
      const outcomes = search.steps.map(
        (step) => `${wordsOf(step.value)} ${outcomeText(step, strings)}`,
      );
      return {
        ...{ title, data, kind: search.of, read, isFinal: state.result !== undefined },
        rest: { label: atRest.title, values: atRest.values },
        spoken: [title, outcomes.join('; ')],
        options: () => options(() => shown),
        table: () => searchTable(search, state),
      };
    },
  });
}

function options(stateNow: () => ShownRun): ChartOptions {
  const limitUs = (): number | undefined => stateNow().run.scenario.slo.latencyUs.p99;
  const line = latencyOptions(
    lines,
    countAxisBelow(70),
    (_min, max) => [0, Math.max(1, max) * 1.05],
    { right: sidePadding.right, limitUs: () => limitUs() ?? 0 },
  );
  return {
    ...line,
    hooks: {
      drawClear: [(plot) => drawInterval(plot, searchOf(stateNow()))],
      draw: [
        (plot) => limitUs() !== undefined && drawLimit(plot, limitUs()!),
        (plot) => drawSteps(plot, searchOf(stateNow())?.steps ?? []),
      ],
    },
  };
}

/** The interval between passed and failed; a thin line if one end is unknown. */
function drawInterval(plot: uPlot, search: ShownSearch | undefined): void {
  const { ctx, bbox } = plot;
  if (search === undefined || (search.low === null && search.high === null)) return;
  const low = search.low ?? search.high!;
  const [from, to] = [low, search.high ?? low].map((value) => plot.valToPos(value, 'x', true));
  ctx.save();
  ctx.globalAlpha = 0.25;
  ctx.fillStyle = themeColour('--line-p50');
  ctx.fillRect(from!, bbox.top, Math.max(2 * devicePixelRatio, to! - from!), bbox.height);
  ctx.restore();
}

/** Passed: a dot; failed: a cross, readable without colours. */
function drawSteps(plot: uPlot, steps: ShownSearch['steps']): void {
  const { ctx } = plot;
  const size = 4 * devicePixelRatio;
  ctx.save();
  ctx.lineWidth = 2 * devicePixelRatio;
  for (const { value, p99, status } of steps) {
    if (p99 === null || status === 'incomplete') continue;
    const [x, y] = [plot.valToPos(value, 'x', true), plot.valToPos(p99, 'y', true)];
    ctx.beginPath();
    if (status === 'pass') {
      ctx.fillStyle = themeColour('--good');
      ctx.arc(x, y, size, 0, 2 * Math.PI);
      ctx.fill();
      continue;
    }
    ctx.strokeStyle = themeColour(status === 'invalid' ? '--quiet' : '--bad');
    ctx.moveTo(x - size, y - size);
    ctx.lineTo(x + size, y + size);
    ctx.moveTo(x - size, y + size);
    ctx.lineTo(x + size, y - size);
    ctx.stroke();
  }
  ctx.restore();
}
