/**
 * Detects that this process was suspended (a stop signal, a debugger) or that the machine slept. A busy processor is
 * no suspension: the process still runs, only slowly.
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Shorter gaps also occur on a busy machine. */
const leastUs = 1_000_000;
const lookMs = 100;
/** CPU time allowed within a gap, beyond that of the interval before: the process may have run up to its begin. */
const mostCpuShare = 0.1;
/** A thread that waited longer for a processor was not stopped. */
const mostWaitingShare = 0.5;
/** Uptime comes in whole seconds, so differences are off by up to one. */
const leastSleepUs = 1_500_000;

export interface ClockReadings {
  /** Monotonic; stands still during sleep on Linux. */
  readonly clockUs: number;
  /** Since boot; goes on during sleep, unaffected by changes of the system time. */
  readonly uptimeUs: number;
  readonly cpuUs: number;
  /** Time this thread was runnable without a processor; 0 where unknown. */
  readonly waitedUs: number;
}

/** From `proc_pid_schedstat` of Linux: nanoseconds on a processor, and waiting for one. */
function waitedUs(): number {
  if (process.platform !== 'linux') return 0;
  try {
    const [, waitedNs] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ');
    return Number(waitedNs) / 1000;
  } catch {
    return 0;
  }
}

const monotonicUs = (): number => Number(process.hrtime.bigint()) / 1000;

function readClocks(): ClockReadings {
  for (;;) {
    const clockUs = monotonicUs();
    const uptimeUs = uptime() * 1_000_000;
    // Read again if the thread was interrupted between the readings.
    if (monotonicUs() - clockUs > leastUs / 10) continue;
    const { user, system } = process.cpuUsage();
    return { clockUs, uptimeUs, cpuUs: user + system, waitedUs: waitedUs() };
  }
}

export class SuspendDetector {
  private before: ClockReadings;
  private usualCpuUs = 0;
  private longestUs = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly read: () => ClockReadings = readClocks) {
    this.before = read();
    this.timer = setInterval(() => this.look(), lookMs).unref();
  }

  private look(): void {
    const { before, usualCpuUs } = this;
    const now = this.read();
    this.before = now;
    const tookUs = now.clockUs - before.clockUs;
    const upUs = now.uptimeUs - before.uptimeUs;
    const cpuUs = now.cpuUs - before.cpuUs;
    if (upUs - tookUs >= leastSleepUs) this.longestUs = Math.max(this.longestUs, upUs);
    else if (tookUs < leastUs) this.usualCpuUs = cpuUs;
    else if (
      cpuUs < 2 * usualCpuUs + mostCpuShare * tookUs &&
      now.waitedUs - before.waitedUs < mostWaitingShare * tookUs
    )
      this.longestUs = Math.max(this.longestUs, tookUs);
  }

  takeUs(): number {
    this.look();
    const us = this.longestUs;
    this.longestUs = 0;
    return us;
  }

  dispose(): void {
    clearInterval(this.timer);
  }
}
