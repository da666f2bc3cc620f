import type { ConnectPhase, PhaseTimes } from '../../base/connectPhase';

/** Splits the time of one try to connect: each phase lasts from the end of the one before it. */
export class ConnectStopwatch {
  readonly us: PhaseTimes = {};
  private sinceMs = performance.now();

  /** The phase is over now. */
  done(phase: ConnectPhase): void {
    const nowMs = performance.now();
    this.us[phase] = (nowMs - this.sinceMs) * 1000;
    this.sinceMs = nowMs;
  }
}
