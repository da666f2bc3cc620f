import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { StepSummary } from '../../src/measure/show/summary';
import { loadRun, onlyStep, type LoadResult, type LoadTest } from '../load/loadRun';

interface MeasuredRun {
  readonly run: LoadResult;
  readonly step: StepSummary;
  /**
   * What other work on the machine adds to a message, in milliseconds: it waits for the processor on both
   * sides. Below 1 where nothing else runs.
   */
  readonly machineMs: number;
  /** The same in the worst moment. */
  readonly machineMaxMs: number;
}

const resolutionMs = 1;

/**
 * A run of one step, and beside it how late the machine wakes this process, which only waits: a bracket as
 * narrow as the engine deserves cannot hold above that.
 */
export async function measuredRun(test: LoadTest): Promise<MeasuredRun> {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const run = await loadRun(test);
  delay.disable();
  const both = (delayNs: number): number => 2 * Math.max(0, delayNs / 1e6 - resolutionMs);
  return {
    ...{ run, step: onlyStep(run) },
    ...{ machineMs: both(delay.percentile(99)), machineMaxMs: both(delay.max) },
  };
}
