import { performance } from 'node:perf_hooks';
import type { BenchHubKnobs, HubCapacity } from './benchHubOptions';

export interface DeliveryCounts {
  deliveries: number;
  dropped: number;
  duplicated: number;
}

interface Receiver {
  write(frame: Buffer): void;
}

interface Waiting {
  readonly dueMs: number;
  readonly connection: Receiver;
  readonly frame: Buffer;
}

interface DeliveriesHost {
  onHold(): void;
  onRelease(): void;
}

export type Deliveries = Pick<HubDeliveries, 'isHeld' | 'startStallClock' | 'deliver' | 'send'>;

/** Above this, the hub stops reading until half is sent. */
const maxWaitingBytes = 128 * 1024 * 1024;
const waitingOverheadBytes = 64;
const spinMs = 0.75;
const coarseMs = 2;

export class HubDeliveries {
  readonly counts: DeliveryCounts = { deliveries: 0, dropped: 0, duplicated: 0 };
  private readonly delayMs: number;
  private readonly dropEvery: number;
  private readonly dupEvery: number;
  private readonly capacity: HubCapacity | undefined;
  private readonly isDirect: boolean;
  /** When the next delivery may leave, with a limit per second. */
  private freeMs = -Infinity;
  private waiting: Waiting[] = [];
  private head = 0;
  private waitingBytes = 0;
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private readonly reasons = new Set<'stall' | 'deliveries'>();
  private stall: BenchHubKnobs['stall'];
  private stallTimer: NodeJS.Timeout | undefined;

  constructor(
    knobs: BenchHubKnobs,
    private readonly host: DeliveriesHost,
  ) {
    this.delayMs = knobs.delayMs ?? 0;
    this.dropEvery = knobs.dropEvery ?? 0;
    this.dupEvery = knobs.dupEvery ?? 0;
    this.capacity = knobs.capacity;
    this.isDirect = this.delayMs <= 0 && this.capacity === undefined;
    this.stall = knobs.stall;
  }

  /** While true, nothing may be read or written. */
  get isHeld(): boolean {
    return this.reasons.size > 0;
  }

  /** The first message with a delivery starts the clock of the stall. */
  startStallClock(): void {
    if (this.stall === undefined) return;
    const { afterMs, forMs } = this.stall;
    this.stall = undefined;
    this.stallTimer = setTimeout(() => {
      this.hold('stall');
      this.stallTimer = setTimeout(() => this.release('stall'), forMs);
    }, afterMs);
  }

  deliver(connection: Receiver, frame: Buffer): void {
    const number = ++this.counts.deliveries;
    if (this.dropEvery > 0 && number % this.dropEvery === 0) {
      this.counts.dropped++;
      return;
    }
    const nowMs = this.isDirect ? 0 : performance.now();
    const turnMs = this.takeTurn(nowMs);
    if (turnMs === undefined) {
      this.counts.dropped++;
      return;
    }
    this.sendAt(turnMs, nowMs, connection, frame);
    if (this.dupEvery > 0 && number % this.dupEvery === 0) {
      this.counts.duplicated++;
      this.sendAt(turnMs, nowMs, connection, frame);
    }
  }

  /** Sends in order with deliveries, but is none: not counted, dropped or limited. */
  send(connection: Receiver, frame: Buffer): void {
    const nowMs = this.isDirect ? 0 : performance.now();
    this.sendAt(nowMs, nowMs, connection, frame);
  }

  private takeTurn(nowMs: number): number | undefined {
    if (this.capacity === undefined) return nowMs;
    const { perSecond, mostWaitMs = Infinity } = this.capacity;
    const turnMs = Math.max(nowMs, this.freeMs);
    if (turnMs - nowMs > mostWaitMs) return undefined;
    this.freeMs = turnMs + 1000 / perSecond;
    return turnMs;
  }

  private sendAt(turnMs: number, nowMs: number, connection: Receiver, frame: Buffer): void {
    if (this.isDirect) {
      connection.write(frame);
      return;
    }
    const lastMs = this.waiting.at(-1)?.dueMs ?? -Infinity;
    const dueMs = Math.max(turnMs + this.delayMs, this.head < this.waiting.length ? lastMs : 0);
    if (dueMs <= nowMs) {
      connection.write(frame);
      return;
    }
    this.waiting.push({ dueMs, connection, frame });
    this.waitingBytes += frame.length + waitingOverheadBytes;
    if (this.waitingBytes > maxWaitingBytes) this.hold('deliveries');
    if (this.timer === undefined && this.immediate === undefined) this.wakeIn(dueMs - nowMs);
  }

  dispose(): void {
    this.cancelWake();
    clearTimeout(this.stallTimer);
    this.stall = undefined;
    this.waiting = [];
    this.head = 0;
  }

  private hold(reason: 'stall' | 'deliveries'): void {
    const wasHeld = this.isHeld;
    this.reasons.add(reason);
    if (!wasHeld) this.host.onHold();
  }

  private release(reason: 'stall' | 'deliveries'): void {
    if (!this.reasons.delete(reason)) return;
    if (reason === 'stall') this.flush();
    this.host.onRelease();
  }

  /**
   * Timers are off by up to a millisecond: the last fraction is spent turning the event loop, so that 50 ms are 50
   * ms. With a capacity that would take all of the CPU.
   */
  private wakeIn(ms: number): void {
    if (this.capacity !== undefined)
      this.timer = setTimeout(() => this.flush(), Math.max(coarseMs, Math.ceil(ms)));
    else if (ms < spinMs) this.immediate = setImmediate(() => this.flush());
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
    if (this.reasons.has('stall')) return;
    const nowMs = performance.now();
    let first = this.waiting[this.head];
    while (first !== undefined && first.dueMs <= nowMs) {
      first.connection.write(first.frame);
      this.waitingBytes -= first.frame.length + waitingOverheadBytes;
      first = this.waiting[++this.head];
    }
    if (this.head * 2 > this.waiting.length) {
      this.waiting = this.waiting.slice(this.head);
      this.head = 0;
    }
    if (first !== undefined) this.wakeIn(first.dueMs - nowMs);
    if (this.waitingBytes < maxWaitingBytes / 2) this.release('deliveries');
  }
}
