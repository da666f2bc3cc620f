import { ackStatus } from '../../wire/service/serviceMessage';

/** The SDK waits so long for an Ack. */
const timeoutMs = 10_000;

interface Waiting {
  readonly dueMs: number;
  readonly answer: (isDone: boolean) => void;
}

/** Messages that the service acknowledges. Ids count up over all connections of an app server. */
export class GroupAcks {
  private lastId = 0;
  // Insertion order is the order of due times.
  private readonly waiting = new Map<number, Waiting>();

  /** The id for the next message, and whether the service has done what it asks for. */
  next(nowMs: number): { readonly ackId: number; readonly isDone: Promise<boolean> } {
    this.lastId = (this.lastId % 0x7fff_ffff) + 1;
    const ackId = this.lastId;
    const isDone = new Promise<boolean>((answer) => {
      this.waiting.set(ackId, { dueMs: nowMs + timeoutMs, answer });
    });
    return { ackId, isDone };
  }

  settle(ackId: number, status: number): void {
    // A group that does not exist counts as left, and as joined too: so does the SDK.
    this.answer(ackId, status === ackStatus.ok || status === ackStatus.notFound);
  }

  /** Gives up what has waited too long. */
  tick(nowMs: number): void {
    for (const [ackId, { dueMs }] of this.waiting) {
      if (dueMs > nowMs) return;
      this.answer(ackId, false);
    }
  }

  dispose(): void {
    for (const ackId of [...this.waiting.keys()]) this.answer(ackId, false);
  }

  private answer(ackId: number, isDone: boolean): void {
    const waiting = this.waiting.get(ackId);
    this.waiting.delete(ackId);
    waiting?.answer(isDone);
  }
}
