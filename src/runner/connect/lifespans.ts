import { LatencyHistogram } from '../../measure/histogram';
import type { LifeSample } from '../../measure/sample';

/** When the connections of one worker were up and down. Times are run time in microseconds. */
export class Lifespans {
  private readonly spans = new Map<
    number,
    { readonly firstUs: number; upUs: number; downSinceUs: number | undefined; downUs: number }
  >();

  opened(index: number, nowUs: number): void {
    const span = this.spans.get(index);
    if (span === undefined) {
      this.spans.set(index, { firstUs: nowUs, upUs: nowUs, downSinceUs: undefined, downUs: 0 });
      return;
    }
    span.upUs = nowUs;
    if (span.downSinceUs !== undefined) span.downUs += nowUs - span.downSinceUs;
    span.downSinceUs = undefined;
  }

  closed(index: number, nowUs: number): void {
    const span = this.spans.get(index);
    if (span !== undefined) span.downSinceUs ??= nowUs;
  }

  /** How long the connection that is or was open last has been so. */
  openUs(index: number, nowUs: number): number {
    return nowUs - (this.spans.get(index)?.upUs ?? nowUs);
  }

  /** Sums over all connections that were ever open, as of now. */
  take(nowUs: number): LifeSample {
    const [life, down, unavailable] = [0, 1, 2].map(() => new LatencyHistogram());
    let lifeUs = 0;
    let downUs = 0;
    for (const span of this.spans.values()) {
      const spanUs = nowUs - span.firstUs;
      const outUs = span.downUs + (span.downSinceUs === undefined ? 0 : nowUs - span.downSinceUs);
      // In milliseconds and millionths: the histogram ends at an hour of microseconds, and has three digits.
      life!.record(spanUs / 1000);
      down!.record(outUs / 1000);
      unavailable!.record(spanUs > 0 ? (outUs / spanUs) * 1_000_000 : 0);
      lifeUs += spanUs;
      downUs += outUs;
    }
    return {
      lifeMs: life!.counts(),
      downMs: down!.counts(),
      unavailableMillionths: unavailable!.counts(),
      lifeUs,
      downUs,
    };
  }
}
