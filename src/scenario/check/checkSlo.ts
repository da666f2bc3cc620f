import {
  countFor,
  finestLimitUs,
  leastBeyond,
  mostSlipShare,
  tellsShare,
} from '../../base/judging';
import { latencyMetrics, latencyShare, type LatencyMetric } from '../../base/objectives/latency';
import { formatCount, formatLatencyUs, formatShare } from '../../base/units';
import { findUseCase } from '../../usecases/registry';
import { startPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';
import type { Scenario } from '../scenario';
import { stepsOf } from '../steps';

/** Objectives that are finer than the generator, or than the number of deliveries, can judge. */
export function checkSlo(reading: Reading, sources: Sources, scenario: Scenario): void {
  if (scenario.kind === 'resultparser') return;
  checkLimits(reading, sources, scenario);
  checkTails(reading, sources, scenario);
}

/** With closed pacing a message is due when it leaves, so that it is never late. */
function checkLimits(reading: Reading, sources: Sources, { slo, pacing }: Scenario): void {
  if (pacing === 'closed') return;
  for (const metric of latencyMetrics) {
    const limit = slo.latencyUs[metric];
    if (limit === undefined || limit >= finestLimitUs) continue;
    const finest = formatLatencyUs(finestLimitUs);
    reading.report(
      'warning',
      'objective-too-fine',
      writtenPlace(reading, sources.slo, metric) ?? startPlace(reading, sources),
      `A limit of ${formatLatencyUs(limit)} is finer than the generator: it sends up to ${formatLatencyUs(finestLimitUs * mostSlipShare)} after the time, and a step in which that is more than ${formatShare(mostSlipShare)} of a limit is invalid. The finest limit it can judge is ${finest}.`,
      { title: `Write ${finest}`, text: finest },
    );
  }
}

/** The step with the fewest senders is the first; the others have more to tell. */
function checkTails(reading: Reading, sources: Sources, scenario: Scenario): void {
  const wanted = (['p99.9', 'p99.99'] as const).filter(
    (metric) => scenario.slo.latencyUs[metric] !== undefined,
  );
  if (wanted.length === 0) return;
  const expected = deliveriesOfFirstStep(scenario);
  // With nothing expected nothing is judged, which is said elsewhere.
  if (expected === 0) return;
  for (const metric of wanted) {
    const share = latencyShare[metric];
    if (tellsShare(expected, share)) continue;
    const finest = finestOf(expected);
    reading.report(
      'warning',
      'objective-too-fine',
      writtenPlace(reading, sources.slo, metric) ??
        writtenPlace(reading, sources.config, 'latencyPercentage') ??
        startPlace(reading, sources),
      `Too few messages for ${metric}: it takes ${formatCount(countFor(share))} deliveries, so that ${leastBeyond} lie beyond it, and step 1 expects ${formatCount(expected)}. ${finest === undefined ? 'That is too few for any percentile' : `It has enough for ${finest}`}: let the step last longer, or send more.`,
    );
  }
}

function finestOf(expected: number): LatencyMetric | undefined {
  return latencyMetrics
    .filter((metric) => metric !== 'max' && tellsShare(expected, latencyShare[metric]))
    .at(-1);
}

function deliveriesOfFirstStep(scenario: Scenario): number {
  const { connections, entries, singleStepDurationMs } = scenario;
  const [first] = stepsOf(scenario);
  const deliveries = entries.map(({ name, parameters }, position) => {
    const senders = first?.perEntry[position] ?? 0;
    const interval = parameters['sendingInterval'];
    const useCase = findUseCase(name);
    if (senders === 0 || typeof interval !== 'number' || useCase === undefined) return 0;
    const sendings = (senders * singleStepDurationMs) / Math.max(1, interval);
    return sendings * useCase.deliveries(parameters, { connections, senders });
  });
  return Math.floor(deliveries.reduce((sum, each) => sum + each, 0));
}
