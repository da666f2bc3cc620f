import { fill } from '../../base/objectives/limitWords';
import type { Slo } from '../../base/slo';
import { formatCount } from '../../base/units';
import { latencyOrLost } from '../../measure/show/chartWords';
import { searchTexts } from '../../measure/show/panelTables';
import { brokenWords, valueWords } from '../../measure/show/searchSentence';
import { panelStrings } from '../../protocol/panelStrings';
import {
  shownStep,
  triesByValue,
  type SearchStep,
  type SearchSummary,
} from '../../search/searchSummary';
import {
  chartSize,
  evenAxis,
  latencyAxis,
  limitsOf,
  spokenChart,
  stepOf,
  type ReportChart,
} from './reportCharts';
import { svgChart, type SvgLine } from './svgChart';

const mostSteps = 500;

/** Latency over what was searched: each step a dot that held or did not, and the interval as a band. */
export function searchChart(search: SearchSummary, slo: Slo): ReportChart | undefined {
  const steps = search.steps.slice(-mostSteps);
  const rising = triesByValue(search.steps).slice(-mostSteps).map(shownStep);
  const values = rising.flatMap(({ p50, p99 }) => [p50, p99]).filter((us) => us !== null);
  if (values.length === 0) return undefined;
  const limits = limitsOf(slo).filter(({ metric }) => metric === 'p99');
  const word = panelStrings[searchTexts[search.of]];
  const title = fill(panelStrings.searchChartBy, word);
  const line = (id: 'p50' | 'p99', dash: readonly number[], widthPx: number): SvgLine => ({
    ...{ id, dash, widthPx },
    points: rising.map((step) => [step.value, step[id] === null ? null : Math.max(1, step[id])]),
  });
  const lines = [line('p50', [4, 3], 1.5), line('p99', [], 2.5)];
  const most = Math.max(1, ...rising.map(({ value }) => value)) * 1.05;
  const { low, high } = search;
  return {
    ...{ id: 'search', title },
    svg: svgChart({
      ...{ ...chartSize, lines },
      title: spokenChart(
        title,
        rising.map((step) => `${valueWords(search, step.value)} ${outcomeWords(step)}`),
      ),
      x: evenAxis(most, stepOf(most), (at) => formatCount(at)),
      y: latencyAxis([...values, ...limits.map(({ at }) => at)]),
      ...(low !== null && high !== null && { bands: [{ from: low, to: high, label: '' }] }),
      // What broke it lies on the right.
      limits: limits.map((limit) => ({ ...limit, early: true as const })),
      dots: rising.flatMap(({ value, p99, status }) =>
        p99 === null ? [] : [{ at: [value, Math.max(1, p99)] as const, hollow: status !== 'pass' }],
      ),
    }),
    legend: lines.map((each) => ({ ...each, label: each.id })),
    heads: ['#', word, 'p50', 'p99', panelStrings.lostTile, ''],
    rows: steps.map((step) => [
      formatCount(step.index),
      valueWords(search, step.value),
      ...[step.p50, step.p99].map((us) => latencyOrLost(us, panelStrings)),
      formatCount(step.lost),
      outcomeWords(step),
    ]),
    notes: [],
  };
}

function outcomeWords({ status, broken }: SearchStep): string {
  if (status === 'pass') return panelStrings.stepHeld;
  if (status === 'invalid') return panelStrings.stepNotOffered;
  if (status === 'incomplete') return panelStrings.verdictIncomplete;
  return broken === undefined ? panelStrings.stepMissed : brokenWords(broken);
}
