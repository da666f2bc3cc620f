import { performance } from 'node:perf_hooks';
import type { BenchHubKnobs, Stall } from './benchHubOptions';
import type { HubConnection } from './hubConnection';

/** What the hub did to `RecordLatency` callbacks and stream items. */
export interface DeliveryCounts {
  /** Decided: sent, waiting for their delay, or dropped. */
  deliveries: number;
  dropped: number;
  /** Sent a second time on top of `deliveries`. */
  duplicated: number;
}

interface Waiting {
  readonly dueMs: number;
  readonly connection: HubConnection;
  readonly frame: Buffer;
}

/** Above this much waiting, the hub reads nothing more until half of it is gone. */
const maxWaitingBytes = 128 * 1024 * 1024;
const waitingOverheadBytes = 64;
const spinMs = 0.75;

/** The way out for deliveries: drops, doubles and delays them as the knobs say. */
export class HubDeliveries {
  readonly counts: DeliveryCounts = { deliveries: 0, dropped: 0, duplicated: 0 };
  private readonly delayMs: number;
  private readonly dropEvery: number;
  private readonly dupEvery: number;
  private readonly holdsBack: boolean;
  // The delay is the same for all, so the queue is in order of due times; `head` is its first entry.
  private waiting: Waiting[] = [];
  private head = 0;
  private waitingBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;

  constructor(
    knobs: BenchHubKnobs,
    private readonly pause: HubPause,
  ) {
    this.delayMs = knobs.delayMs ?? 0;
    this.dropEvery = knobs.dropEvery ?? 0;
    this.dupEvery = knobs.dupEvery ?? 0;
    this.holdsBack = this.delayMs > 0;
    pause.onRelease(() => this.flush());
  }

  /** Delivers one frame to one connection. */
  deliver(connection: HubConnection, frame: Buffer): void {
    const number = ++this.counts.deliveries;
    if (this.dropEvery > 0 && number % this.dropEvery === 0) {
      this.counts.dropped++;
      return;
    }
    this.send(connection, frame);
    if (this.dupEvery > 0 && number % this.dupEvery === 0) {
      this.counts.duplicated++;
      this.send(connection, frame);
    }
  }

  /** Sends behind everything that was delivered before: neither counted nor dropped. */
  send(connection: HubConnection, frame: Buffer): void {
    if (!this.holdsBack) {
      connection.write(frame);
      return;
    }
    this.waiting.push({ dueMs: performance.now() + this.delayMs, connection, frame });
    this.waitingBytes += frame.length + waitingOverheadBytes;
    if (this.waitingBytes > maxWaitingBytes) this.pause.hold('deliveries');
    if (this.timer === undefined && this.immediate === undefined) this.wakeIn(this.delayMs);
  }

  dispose(): void {
    this.cancelWake();
    this.waiting = [];
    this.head = 0;
  }

  /**
   * Timers count whole milliseconds and may be early or late by one, so a due time is always asked again
   * and the last fraction is spent turning the loop: a delay of 50 ms has to read 50 ms, not 51.
   */
  private wakeIn(ms: number): void {
    if (ms < spinMs) this.immediate = setImmediate(() => this.flush());
    else this.timer = setTimeout(() => this.flush(), Math.max(1, Math.floor(ms - spinMs / 2)));
  }

  private cancelWake(): void {
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
    this.timer = undefined;
    this.immediate = undefined;
  }

  private flush(): void {
    this.cancelWake();
    if (this.pause.isHeldBy('stall')) return;
    const nowMs = performance.now();
    let first = this.waiting[this.head];
    while (first !== undefined && first.dueMs <= nowMs) {
      first.connection.write(first.frame);
      this.waitingBytes -= first.frame.length + waitingOverheadBytes;
      first = this.waiting[++this.head];
    }
    // Cut the used part off only when it is the larger one: constant cost per entry.
    if (this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head);
      this.head = 0;
    }
    if (first !== undefined) this.wakeIn(first.dueMs - nowMs);
    if (this.waitingBytes < maxWaitingBytes / 2) this.pause.release('deliveries');
  }
}

type Reason = 'stall' | 'deliveries';

/**
 * Whether the hub reads at the moment. Held by the stall knob, or while too many delayed deliveries
 * wait. Listeners hear of the first hold and of every release.
 */
export class HubPause {
  private readonly reasons = new Set<Reason>();
  private readonly onHolds: (() => void)[] = [];
  private readonly onReleases: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private armed: boolean;

  constructor(private readonly stall: Stall | undefined) {
    this.armed = stall !== undefined;
  }

  get isHeld(): boolean {
    return this.reasons.size > 0;
  }

  isHeldBy(reason: Reason): boolean {
    return this.reasons.has(reason);
  }

  onHold(listener: () => void): void {
    this.onHolds.push(listener);
  }

  /** The listener asks {@link isHeld}: another reason may still hold. */
  onRelease(listener: () => void): void {
    this.onReleases.push(listener);
  }

  hold(reason: Reason): void {
    const wasHeld = this.isHeld;
    this.reasons.add(reason);
    if (!wasHeld) for (const listener of this.onHolds) listener();
  }

  release(reason: Reason): void {
    if (!this.reasons.delete(reason)) return;
    for (const listener of this.onReleases) listener();
  }

  /** A message to deliver has arrived; the first one starts the clock of the stall. */
  messageArrived(): void {
    if (!this.armed || this.stall === undefined) return;
    this.armed = false;
    const { afterMs, forMs } = this.stall;
    this.timer = setTimeout(() => {
      this.hold('stall');
      this.timer = setTimeout(() => this.release('stall'), forMs);
    }, afterMs);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.armed = false;
  }
}
