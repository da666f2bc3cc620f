/** Pairs of readings to choose from. */
const tries = 50;

/** Equal in all threads and processes of the machine: `performance.now()` has a zero of its own in each thread. */
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

/** CPU time of all threads of this process since the meter was made. */
export class CpuMeter {
  private readonly start = process.cpuUsage();

  usedUs(): number {
    const { user, system } = process.cpuUsage(this.start);
    return user + system;
  }
}

/** All workers of a run share the zero, so that values of different threads may be subtracted. */
export interface Clock {
  /** Microseconds with fractions. */
  nowUs(): number;
}
