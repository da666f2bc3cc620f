import { LatencyHistogram } from '../histogram';
import type { MembershipSample } from '../sample';
import type { MembershipSummary } from '../show/summary';

/** Sums of the joins and leaves of one step. */
export class MembershipTotals {
  private joins = 0;
  private joinsFailed = 0;
  private leaves = 0;
  private leavesFailed = 0;
  private skipped = 0;
  private readonly joinLatency = new LatencyHistogram();
  private readonly leaveLatency = new LatencyHistogram();

  add(sample: MembershipSample): void {
    this.joins += sample.joins;
    this.joinsFailed += sample.joinsFailed;
    this.leaves += sample.leaves;
    this.leavesFailed += sample.leavesFailed;
    this.skipped += sample.skipped;
    if (sample.joinLatency !== undefined) this.joinLatency.add(sample.joinLatency);
    if (sample.leaveLatency !== undefined) this.leaveLatency.add(sample.leaveLatency);
  }

  summary(): MembershipSummary {
    const { joins, joinsFailed, leaves, leavesFailed, skipped } = this;
    return {
      ...{ joins, joinsFailed, leaves, leavesFailed, skipped },
      joinUs: this.joinLatency.summary(),
      leaveUs: this.leaveLatency.summary(),
    };
  }
}
