import type { Activity } from './activity';
import type { Timing } from './intervals';

/** Times are microseconds from the step's start. */
export interface Pacing {
  /** Infinity without senders. */
  readonly nextDueUs: number;
  /** Takes the next message, sent at `nowUs`; returns its sender's index among the worker's. */
  take(nowUs: number): number;
  /** Messages of a sender not taken yet and due in [fromUs, untilUs). */
  left(position: number, fromUs: number, untilUs: number): number;
}

/**
 * Even due times: message j of a step (from 0) is due at `j × interval / senders`, and sender `j mod senders` sends
 * it. A worker takes those of its own senders.
 */
export class Pace implements Pacing {
  /** Next message: how often each sender has sent, and the index in `ranks`. */
  private round = 0;
  private position = 0;

  /** `ranks`: ranks of this worker's senders among all of the step, rising. */
  constructor(
    private readonly ranks: Uint32Array,
    private readonly senders: number,
    private readonly intervalUs: number,
  ) {}

  get nextDueUs(): number {
    if (this.ranks.length === 0) return Infinity;
    return (this.round + this.ranks[this.position]! / this.senders) * this.intervalUs;
  }

  take(): number {
    const sender = this.position;
    this.position += 1;
    if (this.position === this.ranks.length) {
      this.position = 0;
      this.round += 1;
    }
    return sender;
  }

  left(position: number, fromUs: number, untilUs: number): number {
    const offset = this.ranks[position]! / this.senders;
    const nextRound = this.round + (position < this.position ? 1 : 0);
    const firstRound = Math.max(nextRound, this.firstRoundAt(fromUs, offset));
    return Math.max(0, this.firstRoundAt(untilUs, offset) - firstRound);
  }

  /** First round due at or after `atUs`, by the same arithmetic. */
  private firstRoundAt(atUs: number, offset: number): number {
    let round = Math.ceil(atUs / this.intervalUs - offset);
    while ((round + offset) * this.intervalUs < atUs) round += 1;
    while ((round - 1 + offset) * this.intervalUs >= atUs) round -= 1;
    return round;
  }
}

export interface DrawnPaceSpec {
  /** Ranks of this worker's senders among all of the step, rising. */
  readonly ranks: Uint32Array;
  readonly timing: Timing;
  /** Absent: all senders, all the time. */
  readonly activity?: Activity | undefined;
  /** As in the Azure SignalR benchmark: intervals count from the previous send, so slowness lowers the rate. */
  readonly closed?: boolean;
}

type NextDue = ReturnType<Timing['resumed']>;

/** Uneven due times, or a varying number of senders: merges the times of each sender. */
export class DrawnPace implements Pacing {
  private readonly dueUs: Float64Array;
  /** Number of each sender's next message. */
  private readonly numbers: Uint32Array;
  /** Sender indexes as a binary heap by due time. */
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
      // With closed pacing the next due time depends on when this one is sent.
      if (this.spec.closed) break;
      const rank = this.spec.ranks[position]!;
      const number = next.number + 1;
      next = this.whenActive(rank, number, this.spec.timing.nextUs(rank, number, next.dueUs));
    }
    return count;
  }

  private set(position: number, number: number, dueUs: number): void {
    if (this.spec.activity === undefined) {
      this.numbers[position] = number;
      this.dueUs[position] = dueUs;
      return;
    }
    const next = this.whenActive(this.spec.ranks[position]!, number, dueUs);
    this.numbers[position] = next.number;
    this.dueUs[position] = next.dueUs;
  }

  /** That message, or the sender's first after it while active. */
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

  /** Restores the heap after its top got a later time. */
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
