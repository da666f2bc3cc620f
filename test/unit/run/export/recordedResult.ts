import { LatencyHistogram } from '../../../../src/measure/histogram';
import { judgeStep } from '../../../../src/measure/judge/verdict';
import type { Snapshot } from '../../../../src/measure/snapshot';
import type { StepSummary } from '../../../../src/measure/summary';
import type { Result } from '../../../../src/results/result';
import {
  sampleResult,
  sampleScenario,
  sampleSnapshot,
  sampleStep,
} from '../../results/sampleResult';

function latencies(index: number): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (let each = 0; each < 20_000; each++)
    histogram.record(500 * index * (1 + (each % 97) / 10) * (each % 50 === 0 ? 10 : 1));
  return histogram;
}

export function recordedStep(index: number): StepSummary {
  const histogram = latencies(index);
  const step = sampleStep(index);
  const received = histogram.count;
  const counts = { expected: received, received, lost: 0, receivedPerSecond: received / 50 };
  const measured = {
    ...{ ...step, ...counts },
    latencyUs: histogram.summary(),
    sendLatencyUs: histogram.summary(),
    histogram: histogram.encode(),
    ...(index === 3 && { timeToAllUs: histogram.summary(), timeToAllMissed: 2 }),
  };
  const latencyAtShareUs = (share: number): number => histogram.valueAtShare(share);
  return {
    ...measured,
    verdict: judgeStep({ ...measured, latencyAtShareUs }, sampleScenario.slo),
  };
}

export const recordedResult = (): Result =>
  sampleResult({ steps: [1, 2, 3].map(recordedStep), errors: { reset: 14, timeout: 3 } });

/** One sample a second: the ramp, then the steps with five seconds between them. */
export function recordedSnapshots(seconds = 50): Snapshot[] {
  const ramp = Array.from({ length: 20 }, (_, tick) => sampleSnapshot(tick));
  const steps = [1, 2, 3].flatMap((index) =>
    Array.from({ length: seconds }, (_, at) => {
      const tick = 20 + (index - 1) * (seconds + 5) + at;
      const snapshot = sampleSnapshot(tick, index);
      const sent = 100 + index * 600;
      return {
        ...snapshot,
        step: { ...snapshot.step!, elapsedS: at + 1, totalS: seconds },
        interval: {
          ...{ seconds: 1, receivingSeconds: 1, offered: sent, sent, received: sent * 10 },
          latencyUs: snapshot.step!.latencyUs,
        },
      };
    }),
  );
  return [...ramp, ...steps];
}
