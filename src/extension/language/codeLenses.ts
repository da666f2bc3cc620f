import type { Analysis } from './analyseScenario';
import { estimateHeadline } from './estimateMarkdown';
import type { Translate } from '../translate';
import { english } from './english';

/** One entry of the line above a file. */
export interface LensText {
  readonly title: string;
  /** What a click does: start a run, explain the estimate, or open the last result. */
  readonly opens: 'run' | 'estimate' | 'result';
}

/**
 * What stands above the first line: run, the estimate in short, the last run.
 *
 * @param lastRun outcome of the newest run in words, e.g. `p99 41 ms, passed, 2 h ago`
 */
export function codeLenses(
  { estimate, noEstimate, problems }: Analysis,
  lastRun: string | undefined,
  t: Translate = english,
): LensText[] {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const middle =
    estimate !== undefined
      ? estimateHeadline(estimate)
      : errors === 1
        ? t('1 error to solve first')
        : errors > 1
          ? t('{0} errors to solve first', errors)
          : noEstimate;
  return [
    { title: `▶ ${t('Run SignalR Benchmark')}`, opens: 'run' },
    ...(middle === undefined ? [] : [{ title: middle, opens: 'estimate' as const }]),
    ...(lastRun === undefined
      ? []
      : [{ title: t('last run: {0}', lastRun), opens: 'result' as const }]),
  ];
}
