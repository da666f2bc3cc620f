import type { TargetSummary } from './connectionSummary';
import { LatencyHistogram } from '../histogram';
import type { TargetSample } from '../sample';

/** Sums of what the workers tell about one of several targets. */
export class TargetTotals {
  private readonly byWorker = new Map<number, TargetSample>();
  private readonly connectTimes = new LatencyHistogram();
  private readonly latency = new LatencyHistogram();

  constructor(private readonly url: string) {}

  add(worker: number, sample: TargetSample): void {
    this.byWorker.set(worker, sample);
    if (sample.connectTimes !== undefined) this.connectTimes.add(sample.connectTimes);
    if (sample.latency !== undefined) this.latency.add(sample.latency);
  }

  summary(): TargetSummary {
    const sum = (field: 'connected' | 'failed' | 'dropped' | 'received'): number =>
      [...this.byWorker.values()].reduce((total, sample) => total + sample[field], 0);
    const connect = this.connectTimes.summary();
    return {
      url: this.url,
      connected: sum('connected'),
      failed: sum('failed'),
      dropped: sum('dropped'),
      received: sum('received'),
      connectUs: { p50: connect.p50, p99: connect.p99, max: connect.max },
      latencyUs: this.latency.summary(),
    };
  }
}
