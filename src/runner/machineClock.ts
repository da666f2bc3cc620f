import type { Clock } from '../base/clock';

/**
 * The machine's monotonic clock: equal in all threads and processes of one machine. `performance.now()`
 * is the quick reading of the same clock, but each thread has its own zero.
 */
export function machineClock(): Clock {
  const [seconds, nanoseconds] = process.hrtime();
  const offsetUs = seconds * 1_000_000 + nanoseconds / 1000 - performance.now() * 1000;
  return { nowUs: () => performance.now() * 1000 + offsetUs };
}
