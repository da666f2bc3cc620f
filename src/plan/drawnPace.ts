import type { Activity } from './activity';
import type { Timing } from './intervals';
import type { Pacing } from './pace';

export interface DrawnPaceSpec {
  /** This worker's senders among all of the step, rising. */
  readonly ranks: Uint32Array;
  readonly timing: Timing;
  /** Who sends when; absent: all do all the time. */
  readonly activity?: Activity | undefined;
  /** A gap counts from when the message before was sent, not from when it was due. */
  readonly closed?: boolean;
}

type NextDue = ReturnType<Timing['resumed']>;

/** When messages are due that are not evenly spaced, or whose senders come and go: each sender by itself, merged. */
export class DrawnPace implements Pacing {
  private readonly dueUs: Float64Array;
  /** Of the next message of each. */
  private readonly numbers: Uint32Array;
  /** Positions as a binary heap, the one that is due first on top. */
  private readonly heap: Uint32Array;

  constructor(private readonly spec: DrawnPaceSpec) {
    const { ranks, timing } = spec;
    this.dueUs = new Float64Array(ranks.length);
    this.numbers = new Uint32Array(ranks.length);
    ranks.forEach((rank, position) => this.set(position, 0, timing.firstUs(rank)));
    const byDue = (a: number, b: number): number => this.dueUs[a]! - this.dueUs[b]! || a - b;
    this.heap = Uint32Array.from(ranks.keys()).sort(byDue);
  }

  get nextDueUs(): number {
    return this.heap.length === 0 ? Infinity : this.dueUs[this.heap[0]!]!;
  }

  take(nowUs: number): number {
    const position = this.heap[0]!;
    const { ranks, timing, closed } = this.spec;
    const dueUs = this.dueUs[position]!;
    const number = this.numbers[position]! + 1;
    const beforeUs = closed ? Math.max(dueUs, nowUs) : dueUs;
    this.set(position, number, timing.nextUs(ranks[position]!, number, beforeUs));
    this.sink();
    return position;
  }

  left(position: number, fromUs: number, untilUs: number): number {
    let next: NextDue = { number: this.numbers[position]!, dueUs: this.dueUs[position]! };
    let count = 0;
    while (next.dueUs < untilUs) {
      if (next.dueUs >= fromUs) count += 1;
      // When the one after that is due depends on when this one leaves.
      if (this.spec.closed) break;
      const rank = this.spec.ranks[position]!;
      const number = next.number + 1;
      next = this.whenActive(rank, number, this.spec.timing.nextUs(rank, number, next.dueUs));
    }
    return count;
  }

  private set(position: number, number: number, dueUs: number): void {
    const next = this.whenActive(this.spec.ranks[position]!, number, dueUs);
    this.numbers[position] = next.number;
    this.dueUs[position] = next.dueUs;
  }

  /** That message, or the first one after it for which the sender takes part. */
  private whenActive(rank: number, number: number, dueUs: number): NextDue {
    const { activity, timing } = this.spec;
    let next: NextDue = { number, dueUs };
    while (activity !== undefined && !activity.isActive(rank, next.dueUs)) {
      const fromUs = activity.activeFromUs(rank, next.dueUs);
      if (fromUs === Infinity) return { number: next.number, dueUs: Infinity };
      next = timing.resumed(rank, next.number + 1, Math.max(fromUs, next.dueUs));
    }
    return next;
  }

  /** The one on top has a later time now. */
  private sink(): void {
    const { heap, dueUs } = this;
    const moved = heap[0]!;
    const movedUs = dueUs[moved]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && dueUs[heap[child + 1]!]! < dueUs[heap[child]!]!) child += 1;
      if (dueUs[heap[child]!]! >= movedUs) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moved;
  }
}
