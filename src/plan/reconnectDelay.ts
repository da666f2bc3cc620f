import type { Random } from '../base/random';
import type { PlanLife } from './plan';

/** Pauses of the official clients' `withAutomaticReconnect`; the last one repeats here. */
const signalrMs = [0, 2000, 10_000, 30_000];
const longestMs = 30_000;

/**
 * Milliseconds to wait before a dropped connection is opened again.
 *
 * @param attempt tries that have failed since it was dropped
 */
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
