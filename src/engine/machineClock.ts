const tries = 50;

/** The same in all threads and processes of the machine; `performance.now()` has a different zero in each thread. */
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

/** CPU time since construction: of the host's processes if it knows them, else of this process. */
export class CpuMeter {
  private readonly start = process.cpuUsage();
  private readonly hostUs: (() => number) | undefined;

  constructor(host: { measureCpu?(fromUs: number): () => number } = {}, fromUs = 0) {
    this.hostUs = host.measureCpu?.(fromUs);
  }

  usedUs(): number {
    if (this.hostUs !== undefined) return this.hostUs();
    const { user, system } = process.cpuUsage(this.start);
    return user + system;
  }
}

/** All workers of a run have the same zero. */
export interface Clock {
  nowUs(): number;
}

/** A version (odd during a write), then the numbers of {@link ClockDiscipline}. */
const versionBytes = 8;
const cells = { fromUs: 0, offsetUs: 1, untilUs: 2, perUs: 3 } as const;
/** Least time in which an offset reaches its new value, microseconds. */
const slewUs = 500_000;
/** Largest slope: no clock runs backwards, and an interval is wrong by at most this share. */
const mostSlewShare = 0.01;

export const slewTimeUs = (changeUs: number): number =>
  Math.max(slewUs, Math.abs(changeUs) / mostSlewShare);

export const createClockMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(versionBytes + 8 * 4);

/**
 * Steers the clocks of all threads of an agent. The offset never jumps: it changes linearly from `fromUs` on. Readers
 * check the version before and after, so threads that read at the same moment get the same time.
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

  /** `offsetUs` to add to the machine's clock, reached after about half a second. */
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

export function steeredClock(machine: Clock, memory: SharedArrayBuffer): Clock {
  const version = new Int32Array(memory, 0, 1);
  const line = new Float64Array(memory, versionBytes);
  return {
    nowUs: () => {
      for (;;) {
        const before = Atomics.load(version, 0);
        const machineUs = machine.nowUs();
        const us = machineUs + offsetAt(line, machineUs);
        // A write takes a few instructions, about once a second.
        if (before % 2 === 0 && Atomics.load(version, 0) === before) return us;
      }
    },
  };
}

const offsetAt = (line: Float64Array, machineUs: number): number =>
  line[cells.offsetUs]! +
  line[cells.perUs]! * (Math.min(machineUs, line[cells.untilUs]!) - line[cells.fromUs]!);

export class ReportedCpu {
  private usedUs = 0;
  private sampledUs = 0;
  private mark: { readonly fromUs: number; usedUs: number; isMet: boolean } | undefined;

  reported(usedUs: number): void {
    this.usedUs = usedUs;
  }

  /** Workers report at the begin of the measured time, so its CPU time is known exactly. */
  sampled(atUs: number): void {
    this.sampledUs = Math.max(this.sampledUs, atUs);
    const { mark } = this;
    if (mark?.isMet !== false || atUs < mark.fromUs) return;
    mark.usedUs = this.usedUs;
    mark.isMet = true;
  }

  /** CPU time used since `fromUs`; a later call replaces this one. */
  from(fromUs: number): () => number {
    const mark = { fromUs, usedUs: this.usedUs, isMet: this.sampledUs >= fromUs };
    this.mark = mark;
    return () => this.usedUs - mark.usedUs;
  }
}
