import type { Random } from '../base/random';
import type { BatchMode } from '../scenario/scenario';
import type { PlanLife } from './plan';

interface ArrivalMode {
  readonly mode: BatchMode;
  /** The worker's part of `arrivingRate`, at least 1. */
  readonly share: number;
  /** Pause between the batches of LowPress. */
  readonly batchWaitMs: number;
}

const periodMs = 100;

/**
 * How many connects may have begun, for the ramp modes of the Azure SignalR benchmark:
 *
 * - `HighPress` limits the connects in flight: half of the share at first, one more each 100 ms up to it;
 * - `LowPress` begins a batch of the share, and the next one after the pause, whatever became of the first;
 * - `LimitRatePress` fills a bucket each 100 ms with a tenth of the share, but with no more than were over
 *   in that time unless none was; as many times as the share is, with one more;
 * - `ExtLimitRatePress` fills it with a tenth of the share.
 *
 * Time and progress are handed in; no clock is in here.
 */
export class Arrivals {
  private periods = 0;
  private overBefore = 0;
  private filled = 0;

  constructor(private readonly arrival: ArrivalMode) {}

  /** `elapsedMs` since the ramp began, which must not fall; `over`: connects that have succeeded or failed. */
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

  /** One more each time at first lets the rate grow again after connects that took long. */
  private fill(periods: number, over: number): void {
    const { share } = this.arrival;
    const ended = over - this.overBefore;
    // A fraction of a connect could not begin yet, so it cannot be over either.
    const most = ended === 0 ? share : ended + (this.filled % 1);
    this.filled += Math.min((share * (periods - this.periods) * periodMs) / 1000, most);
    this.filled += Math.min(periods, share) - Math.min(this.periods, share);
    this.periods = periods;
    this.overBefore = over;
  }
}

/** Pauses of the official clients' `withAutomaticReconnect`; the last one repeats here. */
const signalrMs = [0, 2000, 10_000, 30_000];
const longestMs = 30_000;

/** Milliseconds before a dropped connection is opened again, after that many failed tries. */
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
      // Spread over half to one and a half, so that those dropped together do not come back together.
      return Math.min(longestMs, delayMs * 2 ** Math.min(attempt, 30)) * (0.5 + random.next());
    case 'signalr':
      return signalrMs[Math.min(attempt, signalrMs.length - 1)]!;
  }
}
