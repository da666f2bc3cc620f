import type { Analysis } from './analyseScenario';
import { estimateHeadline } from './estimateMarkdown';
import { english, type Translate } from '../../base/translate';

/** One entry of the line above a file. */
export interface LensText {
  readonly title: string;
  /** What a click does: start a run or stop it, explain the estimate, or open the last result. */
  readonly opens: 'run' | 'stop' | 'estimate' | 'result';
}

/** What is known of the runs of a scenario. */
export interface LensRuns {
  /** Whether one is going on. */
  readonly running: boolean;
  /** Outcome of the newest one that is over in words, e.g. `p99 41 ms, passed, 2 h ago`. */
  readonly lastRun: string | undefined;
}

/** What stands above the first line: run or stop, the estimate in short, the last run. */
export function codeLenses(
  { estimate, noEstimate, problems }: Analysis,
  { running, lastRun }: LensRuns,
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
    running
      ? { title: `■ ${t('Stop Run')}`, opens: 'stop' }
      : { title: `▶ ${t('Run SignalR Benchmark')}`, opens: 'run' },
    ...(middle === undefined ? [] : [{ title: middle, opens: 'estimate' as const }]),
    ...(lastRun === undefined
      ? []
      : [{ title: t('last run: {0}', lastRun), opens: 'result' as const }]),
  ];
}
