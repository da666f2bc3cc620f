import type { MemberChange } from '../prepare/membership';

/** Where a delivery has counted. */
interface ArrivalCounts {
  received: number;
  late: number;
  extra: number;
  /** By how much the clocks of two agents may differ in the step. */
  readonly ambiguousUs: number;
}

interface Arrival {
  readonly counted: ArrivalCounts;
  readonly index: number;
  readonly sentUs: number;
  readonly arrivedUs: number;
  readonly othersMove: boolean;
  readonly as: 'received' | 'late' | 'extra';
}

/** More than arrive within twice the difference of two clocks. */
const mostKept = 2 ** 14;

/**
 * Deliveries from other agents that came, by the clocks, almost when they were sent: their receiver may join or leave a
 * moment later, and then they are ambiguous after all. Their sender finds them so, and counts them on neither side.
 */
export class FreshArrivals {
  private readonly ring: (Arrival | undefined)[] = [];
  private count = 0;

  note(arrival: Arrival): void {
    this.ring[this.count++ % mostKept] = arrival;
  }

  /** The connection joins or leaves at that time of the run. */
  changed({ index, atUs, where }: MemberChange): void {
    const least = Math.max(0, this.count - mostKept);
    for (let number = this.count - 1; number >= least; number--) {
      const arrival = this.ring[number % mostKept];
      if (arrival === undefined) continue;
      const { counted, sentUs, arrivedUs, as } = arrival;
      const { ambiguousUs } = counted;
      if (arrivedUs < atUs - 2 * ambiguousUs) return;
      if (arrival.index !== index) continue;
      if (where === (arrival.othersMove ? 'outside' : 'inside')) continue;
      if (Math.abs(sentUs - atUs) > ambiguousUs) continue;
      if (as === 'extra') counted.extra -= 1;
      else counted.received -= 1;
      if (as === 'late') counted.late -= 1;
      this.ring[number % mostKept] = undefined;
    }
  }
}
