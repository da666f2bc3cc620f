import { ExpectedError } from '../../base/expectedError';
import { english, type Translate } from '../../base/text';
import type {
  ComparedCurves,
  FromComparisonPanel,
  ShownComparison,
  TimePoints,
  ToComparisonPanel,
} from '../../messages/panel';
import { comparisonSentences } from '../../measure/compare/comparisonWords';
import { p99OverTime } from '../../measure/compare/resampling';
import type { Comparison } from '../../measure/compare/comparison';
import type { StepSummary } from '../../measure/summary';
import { compareAll, poolRepeats } from '../../results/compare/compareResults';
import type { Result } from '../../results/result';
import { spectraOf, type PanelPort } from './panelSession';

/** Steps beyond this many are left to their tables. */
const mostCurves = 20;

/** The later runs beside the first one, with what is drawn of each step. @param names of all, in their order */
export function comparedRuns(
  results: readonly Result[],
  names: readonly string[],
  t: Translate = english,
): ShownComparison[] {
  const [baseline, ...others] = results as [Result, ...Result[]];
  return compareAll(baseline, others).map((comparison, at) => ({
    comparison,
    sentences: comparisonSentences(comparison, t),
    names: [names[0]!, names[at + 1]!],
    curves: curvesOf(comparison, baseline, others[at]!),
  }));
}

function curvesOf({ steps }: Comparison, a: Result, b: Result): ComparedCurves[] {
  if (steps.length === 0) return [];
  const pools = [a, b].map(poolRepeats);
  return steps.slice(-mostCurves).flatMap(({ index }) => {
    const [before, after] = pools.map((pool) => pool.find((step) => step.index === index));
    if (!before || !after) return [];
    const points = (step: StepSummary) => spectraOf({ steps: [step] })[0]?.points ?? [];
    return [
      {
        step: index,
        spectra: [points(before), points(after)] as const,
        times: [pointsOverTime(before), pointsOverTime(after)] as const,
      },
    ];
  });
}

function pointsOverTime({ latencyBlocks }: StepSummary): TimePoints {
  if (latencyBlocks === undefined) return [];
  try {
    return p99OverTime(latencyBlocks);
  } catch (error) {
    // Damaged: the comparison has said so.
    if (error instanceof ExpectedError) return [];
    throw error;
  }
}

interface ComparisonOrders {
  copyComment(at: number): void;
  makeBaseline(at: number): void;
}

/** Feeds one page: everything, whenever it says it is ready. What it sends is not trusted. */
export function startComparisonSession(
  port: Pick<PanelPort, 'onMessage'> & { post(message: ToComparisonPanel): void },
  page: Omit<ToComparisonPanel, 'type'>,
  orders: ComparisonOrders,
): { dispose(): void } {
  return port.onMessage((message) => {
    const { type, at } = (message ?? {}) as { type?: unknown; at?: unknown };
    if (type === 'ready') port.post({ type: 'compared', ...page });
    const isKnown = typeof at === 'number' && page.shown[at] !== undefined;
    const order = type as FromComparisonPanel['type'];
    if (isKnown && (order === 'copyComment' || order === 'makeBaseline')) orders[order](at);
  });
}
