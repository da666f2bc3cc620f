/** Pairs of readings to choose from. */
const tries = 50;

/**
 * The machine's monotonic clock: equal in all threads and processes of one machine. `performance.now()`
 * is the quick reading of the same clock, but each thread has its own zero. The two are read one
 * between two readings of the other, many times, and the tightest such reading counts: a thread may be
 * interrupted for milliseconds in any single one.
 */
export function machineClock(): Clock {
  let offsetUs = 0;
  let tightestUs = Infinity;
  for (let count = 0; count < tries; count++) {
    const beforeUs = performance.now() * 1000;
    const [seconds, nanoseconds] = process.hrtime();
    const afterUs = performance.now() * 1000;
    if (afterUs - beforeUs >= tightestUs) continue;
    tightestUs = afterUs - beforeUs;
    offsetUs = seconds * 1_000_000 + nanoseconds / 1000 - (beforeUs + afterUs) / 2;
  }
  return { nowUs: () => performance.now() * 1000 + offsetUs };
}

/** CPU time of this process since the meter was made, all threads together. */
export class CpuMeter {
  private readonly start = process.cpuUsage();

  usedUs(): number {
    const { user, system } = process.cpuUsage(this.start);
    return user + system;
  }
}

/**
 * Reads the machine's monotonic clock in microseconds. All workers of a run share the same zero, so a
 * value taken in one thread may be subtracted from a value taken in another.
 */
export interface Clock {
  /** Microseconds since a fixed, unspecified moment; fractions are meaningful. */
  nowUs(): number;
}
