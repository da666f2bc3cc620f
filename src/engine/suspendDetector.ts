/**
 * Notices that its process did not run for a while: it was suspended (a stop signal, a debugger), or the machine slept.
 * Something else on the processor is no standstill: then the process runs, too, if slowly.
 */
import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Shorter ones look like those of a busy machine. */
const leastUs = 1_000_000;
const lookMs = 100;
/** Beyond what the process used between the two looks before: of a standstill, since it may have run up to its begin. */
const mostCpuShare = 0.1;
/** Of the time: a thread that waited for a processor for longer was not stopped. */
const mostWaitingShare = 0.5;
/** Machines say in whole seconds how long they are up, so that they seem to sleep for one now and then. */
const leastSleepUs = 1_500_000;

/** Microseconds. */
export interface ClockReadings {
  /** Monotonic. On Linux it stands still while the machine sleeps. */
  readonly clockUs: number;
  /** Since the machine was started; goes on while it sleeps, and no step of the system time moves it. */
  readonly uptimeUs: number;
  /** CPU time of the process. */
  readonly cpuUs: number;
  /** Time in which this thread could have run and others had the processors; 0 where the system does not say. */
  readonly waitedUs: number;
}

/** Of the thread that asks, see `proc_pid_schedstat` of Linux: nanoseconds on a processor, and waiting for one. */
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
    // Others may have had the processor in between.
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

  /** The longest since the last call, microseconds; 0 where there was none. */
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
