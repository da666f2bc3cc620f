import type { Random } from '../base/random';
import type { Pacing } from './pace';

/**
 * The Azure SignalR benchmark's pacing: each sender starts at a random moment of the first interval and sends again
 * one interval after its previous send, however late that was. A slow generator or target lowers the
 * rate, which is why it is not the default.
 */
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
