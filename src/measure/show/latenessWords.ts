/** What this machine may have in a latency, said beside it where that is a great part. */
import { latenessUs } from '../../base/objectives/lateness';
import { fill, latencyWords } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import { shownLatency, type ShownLatency } from '../latencySummary';
import type { GeneratorHealth } from '../summary';

/** The same in terminal, panel and reports; hosts of the panel translate them. */
export const latenessTexts = {
  'lateness.part': 'of which up to {0} this machine',
  'lateness.ofStep': 'Step {0}: p99 {1}, of which up to {2} this machine',
} as const;

/** A slip whose p99 is a larger part of that of the latency is said. */
const mostSlipShare = 0.2;
/** Of a table. */
const mostSteps = 5;

interface MeasuredLatency extends ShownLatency {
  readonly generator?: Partial<GeneratorHealth>;
}

/** Its p99, and how much of it may be this machine's, microseconds; undefined where that is no great part. */
function latenessIn({ generator, ...latency }: MeasuredLatency) {
  const p99Us = shownLatency(latency)?.p99;
  const { slipP99Us = 0, slipMaxUs, readGapMaxUs = 0 } = generator ?? {};
  if (!p99Us || slipMaxUs === undefined || slipP99Us <= mostSlipShare * p99Us) return undefined;
  return { p99Us, byUs: Math.min(p99Us, latenessUs({ slipMaxUs, readGapMaxUs })) };
}

export const thisMachineUs = (step: MeasuredLatency): number | undefined => latenessIn(step)?.byUs;

export function thisMachineWords(
  step: MeasuredLatency,
  text: string = latenessTexts['lateness.part'],
): string | undefined {
  const us = thisMachineUs(step);
  return us === undefined ? undefined : fill(text, latencyWords(us));
}

/** Below a table of steps; undefined where there is nothing to say of any. */
export function thisMachineNote(
  steps: readonly (MeasuredLatency & { readonly index: number })[],
  text: string = latenessTexts['lateness.ofStep'],
): string | undefined {
  const said = steps.flatMap((step) => {
    const found = latenessIn(step);
    if (found === undefined) return [];
    const times = [found.p99Us, found.byUs].map((us) => latencyWords(us));
    return [fill(text, formatCount(step.index), ...times)];
  });
  return said.length === 0 ? undefined : said.slice(0, mostSteps).join('; ');
}
