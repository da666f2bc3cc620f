import type { Random } from '../base/random';
import type { BatchMode } from '../scenario/scenario';
import type { PlanLife } from './plan';

interface ArrivalMode {
  readonly mode: BatchMode;
  /** The worker's part of `arrivingRate`, at least 1. */
  readonly share: number;
  /** Pause between batches of LowPress. */
  readonly batchWaitMs: number;
}

const periodMs = 100;

/**
 * How many connects may have begun, by the ramp modes of the Azure SignalR benchmark:
 *
 * - `HighPress` limits the connects in flight: half of the share at first, one more every 100 ms;
 * - `LowPress` begins a batch of the share after each pause;
 * - `LimitRatePress` adds a tenth of the share every 100 ms, but no more than ended in that time unless none did, and
 *   at first one more each time;
 * - `ExtLimitRatePress` adds a tenth of the share every 100 ms.
 */
export class Arrivals {
  private periods = 0;
  private overBefore = 0;
  private filled = 0;

  constructor(private readonly arrival: ArrivalMode) {}

  /** `elapsedMs` must not fall; `over`: connects that have succeeded or failed. */
  mayHaveBegun(elapsedMs: number, over: number): number {
    const { mode, share, batchWaitMs } = this.arrival;
    const periods = Math.floor(elapsedMs / periodMs);
    switch (mode) {
      case 'HighPress':
        return over + Math.min(share, Math.ceil(share / 2) + periods);
      case 'LowPress':
        return batchWaitMs === 0 ? Infinity : share * (Math.floor(elapsedMs / batchWaitMs) + 1);
      case 'LimitRatePress':
        if (periods > this.periods) this.fill(periods, over);
        return Math.floor(this.filled + 1e-9);
      case 'ExtLimitRatePress':
        return Math.floor((share * periods * periodMs) / 1000 + 1e-9);
    }
  }

  /** One more each time at first: the rate recovers after slow connects. */
  private fill(periods: number, over: number): void {
    const { share } = this.arrival;
    const ended = over - this.overBefore;
    // A fraction of a connect cannot have ended.
    const most = ended === 0 ? share : ended + (this.filled % 1);
    this.filled += Math.min((share * (periods - this.periods) * periodMs) / 1000, most);
    this.filled += Math.min(periods, share) - Math.min(this.periods, share);
    this.periods = periods;
    this.overBefore = over;
  }
}

/** Delays of `withAutomaticReconnect` in the official clients; the last one repeats. */
const signalrMs = [0, 2000, 10_000, 30_000];
const longestMs = 30_000;

export function reconnectDelayMs(
  { policy, delayMs }: Pick<PlanLife, 'policy' | 'delayMs'>,
  attempt: number,
  random: Random,
): number {
  switch (policy) {
    case 'atOnce':
      return attempt === 0 ? 0 : delayMs;
    case 'fixed':
      return delayMs;
    case 'exponential':
      // Spread over 50 % to 150 %, so that they do not all come back at once.
      return Math.min(longestMs, delayMs * 2 ** Math.min(attempt, 30)) * (0.5 + random.next());
    case 'signalr':
      return signalrMs[Math.min(attempt, signalrMs.length - 1)]!;
  }
}
