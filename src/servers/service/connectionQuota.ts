import { connectionLimit, connectRateLimit } from '../../base/serviceLimits';
import type { Refusal } from '../http/loopbackServer';
import type { QuotaOptions } from './emulatorOptions';

/** Counts connections, those of app servers too, against what the resource's size allows. */
export class ConnectionQuota {
  /** Connections turned away. */
  refused = 0;
  private used = 0;
  private readonly limit: number;
  private readonly perSecond: number;
  /** Connections that may be opened at once: at most those of one second. */
  private free: number;
  private filledMs = 0;

  constructor({ unit, limitConnectRate }: QuotaOptions) {
    this.limit = connectionLimit(unit);
    this.perSecond = limitConnectRate === true ? connectRateLimit(unit) : Infinity;
    this.free = this.perSecond;
  }

  /** Why no further connection is let in; undefined when one is. */
  refusal(nowMs: number): Refusal | undefined {
    if (this.used >= this.limit) {
      this.refused++;
      const text = `The quota of ${this.limit} connections is used up.`;
      return { status: 429, text };
    }
    if (this.perSecond === Infinity) return undefined;
    const passedS = Math.max(0, nowMs - this.filledMs) / 1000;
    this.free = Math.min(this.perSecond, this.free + passedS * this.perSecond);
    this.filledMs = nowMs;
    if (this.free >= 1) return undefined;
    this.refused++;
    const text = `More than ${this.perSecond} new connections per second.`;
    return { status: 429, text, headers: { 'Retry-After': '1' } };
  }

  /** A connection was let in; {@link release} gives its place back. */
  take(): void {
    this.used++;
    this.free--;
  }

  release(): void {
    this.used--;
  }
}
