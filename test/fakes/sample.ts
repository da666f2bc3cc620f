import { LatencyHistogram, type HistogramCounts } from '../../src/measure/histogram';
import { noConnections, type StepSample, type WorkerSample } from '../../src/measure/sample';

/** A step's sample in which nothing happened but what is given. */
export function stepSampleOf(changes: Partial<StepSample> = {}): StepSample {
  return {
    step: 1,
    offered: 0,
    skipped: 0,
    sent: 0,
    expected: 0,
    received: 0,
    receivedLater: 0,
    duplicated: 0,
    outOfOrder: 0,
    late: 0,
    extra: 0,
    leaving: 0,
    ambiguous: 0,
    negative: 0,
    payloadBytesIn: 0,
    payloadBytesOut: 0,
    wireBytesIn: 0,
    wireBytesOut: 0,
    wireBytesOutLater: 0,
    toReach: 0,
    errors: {},
    ...changes,
  };
}

/** A worker's sample in which nothing happened but what is given. */
export function workerSampleOf(changes: Partial<WorkerSample> = {}): WorkerSample {
  return {
    worker: 0,
    tick: 1,
    atUs: (changes.tick ?? 1) * 1_000_000,
    connections: { soFar: { ...noConnections, connected: 0, failed: 0, dropped: 0 } },
    steps: [],
    generator: { step: 0, elapsedUs: 0, busyUs: 0, gcUs: 0 },
    errors: {},
    errorExamples: [],
    ...changes,
  };
}

/** Counts of the given latencies. */
export function countsOf(...us: number[]): HistogramCounts {
  const histogram = new LatencyHistogram();
  for (const value of us) histogram.record(value);
  return histogram.counts();
}
