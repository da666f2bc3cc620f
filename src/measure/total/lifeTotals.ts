import type { LifeSummary, Quantiles } from './connectionSummary';
import { LatencyHistogram } from '../histogram';
import type { ConnectionSample } from '../sample';

/** Sums of what the workers tell about connections that come and go. */
export class LifeTotals {
  private readonly reconnectTimes = new LatencyHistogram();
  private readonly lifeMs = new LatencyHistogram();
  private readonly downMs = new LatencyHistogram();
  private readonly unavailable = new LatencyHistogram();
  private lifeUs = 0;
  private downUs = 0;

  add({ reconnectTimes, life }: Pick<ConnectionSample, 'reconnectTimes' | 'life'>): void {
    if (reconnectTimes !== undefined) this.reconnectTimes.add(reconnectTimes);
    if (life === undefined) return;
    this.lifeMs.add(life.lifeMs);
    this.downMs.add(life.downMs);
    this.unavailable.add(life.unavailableMillionths);
    this.lifeUs += life.lifeUs;
    this.downUs += life.downUs;
  }

  /** Undefined until the workers have told it, at the end of a run whose connections come and go. */
  summary(drops: number, closed: number, reconnects: number): LifeSummary | undefined {
    if (this.lifeMs.count === 0) return undefined;
    const reached = quantilesOf(this.unavailable);
    const share = (millionths: number): number => 1 - millionths / 1_000_000;
    return {
      drops,
      closed,
      reconnects,
      reconnectUs: quantilesOf(this.reconnectTimes),
      lifeSpanMs: quantilesOf(this.lifeMs),
      downMs: quantilesOf(this.downMs),
      sla: {
        mean: this.lifeUs > 0 ? 1 - this.downUs / this.lifeUs : 1,
        p50: share(reached.p50),
        p90: share(reached.p90),
        p95: share(reached.p95),
        p99: share(reached.p99),
      },
    };
  }
}

function quantilesOf(histogram: LatencyHistogram): Quantiles {
  const { p50, p90, p95, p99 } = histogram.summary();
  return { p50, p90, p95, p99 };
}
