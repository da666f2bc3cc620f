import type { Stall } from './benchHubOptions';

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
