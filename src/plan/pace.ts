import type { Activity } from './activity';
import type { Timing } from './intervals';

/** Times are microseconds from the step's start. */
export interface Pacing {
  /** Infinity without senders. */
  readonly nextDueUs: number;
  /** Moves past that message, which leaves at `nowUs`; returns the sender's position among the worker's. */
  take(nowUs: number): number;
  /** Messages of the sender at `position` that are still to be taken and due in [fromUs, untilUs). */
  left(position: number, fromUs: number, untilUs: number): number;
}

/**
 * When a step's messages are due: a pure function of their number.
 *
 * All senders of a step send at the same interval, so the step as a whole is one even stream: message j
 * (from 0) is due at `j × interval / senders`, and sender `j mod senders` sends it. A worker carries
 * out the messages of its own senders; no clock and no timer is in here.
 */
export class Pace implements Pacing {
  /** Next message of this worker: round (how often each sender has sent) and position in `ranks`. */
  private round = 0;
  private position = 0;

  /** `ranks`: this worker's senders among all of the step, rising; `intervalUs` between two messages of one. */
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

  /** First round in which the sender at that offset is due at or after `atUs`, by the same arithmetic as above. */
  private firstRoundAt(atUs: number, offset: number): number {
    let round = Math.ceil(atUs / this.intervalUs - offset);
    while ((round + offset) * this.intervalUs < atUs) round += 1;
    while ((round - 1 + offset) * this.intervalUs >= atUs) round -= 1;
    return round;
  }
}

export interface DrawnPaceSpec {
  /** This worker's senders among all of the step, rising. */
  readonly ranks: Uint32Array;
  readonly timing: Timing;
  /** Who sends when; absent: all do all the time. */
  readonly activity?: Activity | undefined;
  /** As in the Azure SignalR benchmark: a gap counts from the send of the message before, so that slowness lowers the rate. */
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
    if (this.spec.activity === undefined) {
      this.numbers[position] = number;
      this.dueUs[position] = dueUs;
      return;
    }
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
