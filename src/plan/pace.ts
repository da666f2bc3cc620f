import type { Random } from '../base/random';

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

/** As in the Azure SignalR benchmark: each sends an interval after its last send, so that slowness lowers the rate. */
export class ClosedPace implements Pacing {
  /** Senders in the order of their next sends; all intervals are equal, so a sent one goes to the end. */
  private readonly queue: { sender: number; dueUs: number }[];
  private head = 0;

  constructor(
    senders: number,
    private readonly intervalUs: number,
    random: Random,
  ) {
    this.queue = Array.from({ length: senders }, (_, sender) => ({
      sender,
      dueUs: random.next() * intervalUs,
    }));
    this.queue.sort((a, b) => a.dueUs - b.dueUs);
  }

  get nextDueUs(): number {
    return this.queue[this.head]?.dueUs ?? Infinity;
  }

  take(nowUs: number): number {
    const next = this.queue[this.head]!;
    next.dueUs = Math.max(next.dueUs, nowUs) + this.intervalUs;
    this.head = (this.head + 1) % this.queue.length;
    return next.sender;
  }

  /** One at most: when the next one after that is due depends on when this one leaves. */
  left(position: number, fromUs: number, untilUs: number): number {
    const dueUs = this.queue.find(({ sender }) => sender === position)?.dueUs ?? Infinity;
    return dueUs >= fromUs && dueUs < untilUs ? 1 : 0;
  }
}
