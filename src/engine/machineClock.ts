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

/** CPU time since the meter was made: of all processes that its host knows of, else of all threads of this one. */
export class CpuMeter {
  private readonly start = process.cpuUsage();
  private readonly hostUs: (() => number) | undefined;

  /** @param fromUs run time that is now, for hosts that report with a delay */
  constructor(host: { measureCpu?(fromUs: number): () => number } = {}, fromUs = 0) {
    this.hostUs = host.measureCpu?.(fromUs);
  }

  usedUs(): number {
    if (this.hostUs !== undefined) return this.hostUs();
    const { user, system } = process.cpuUsage(this.start);
    return user + system;
  }
}

/** All workers of a run share the zero, so that values of different threads may be subtracted. */
export interface Clock {
  /** Microseconds with fractions. */
  nowUs(): number;
}

/** Cells of a version (odd while somebody writes), then numbers: see {@link ClockDiscipline}. */
const versionBytes = 8;
const cells = { fromUs: 0, offsetUs: 1, untilUs: 2, perUs: 3 } as const;
/** An offset takes so long to reach its new value, microseconds; longer where that would be a steep change. */
const slewUs = 500_000;
/** Of the time that passes: no clock runs backwards, and what is timed on one clock is wrong by so much at most. */
const mostSlewShare = 0.01;

/** How long a {@link ClockDiscipline} takes to change an offset by so much, microseconds. */
export const slewTimeUs = (changeUs: number): number =>
  Math.max(slewUs, Math.abs(changeUs) / mostSlewShare);

/** Shared by all threads of an agent. */
export const clockMemory = (): SharedArrayBuffer => new SharedArrayBuffer(versionBytes + 8 * 4);

/**
 * Steers the clocks of all threads of an agent at once. The offset is a function of the machine's clock that never jumps:
 * from `fromUs` on it goes evenly to its new value. Whoever reads the clock looks at the version before and after, so that
 * two threads that read the machine's clock at the same moment have the same time.
 */
export class ClockDiscipline {
  private readonly version: Int32Array;
  private readonly line: Float64Array;

  constructor(
    private readonly machine: Clock,
    memory: SharedArrayBuffer,
  ) {
    this.version = new Int32Array(memory, 0, 1);
    this.line = new Float64Array(memory, versionBytes);
  }

  /** Microseconds to be added to the machine's clock from about half a second from now on. */
  steer(offsetUs: number): void {
    const { line, version } = this;
    Atomics.add(version, 0, 1);
    const nowUs = this.machine.nowUs();
    const fromOffsetUs = offsetAt(line, nowUs);
    const changeUs = offsetUs - fromOffsetUs;
    const tookUs = slewTimeUs(changeUs);
    line[cells.fromUs] = nowUs;
    line[cells.offsetUs] = fromOffsetUs;
    line[cells.untilUs] = nowUs + tookUs;
    line[cells.perUs] = changeUs / tookUs;
    Atomics.add(version, 0, 1);
  }
}

/** The machine's clock as a {@link ClockDiscipline} steers it. */
export function steeredClock(machine: Clock, memory: SharedArrayBuffer): Clock {
  const version = new Int32Array(memory, 0, 1);
  const line = new Float64Array(memory, versionBytes);
  return {
    nowUs: () => {
      for (;;) {
        const before = Atomics.load(version, 0);
        const machineUs = machine.nowUs();
        const us = machineUs + offsetAt(line, machineUs);
        // It is written in a few instructions, about once a second.
        if (before % 2 === 0 && Atomics.load(version, 0) === before) return us;
      }
    },
  };
}

const offsetAt = (line: Float64Array, machineUs: number): number =>
  line[cells.offsetUs]! +
  line[cells.perUs]! * (Math.min(machineUs, line[cells.untilUs]!) - line[cells.fromUs]!);
