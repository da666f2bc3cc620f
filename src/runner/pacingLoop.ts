/** What the loop drives. Times are run time in microseconds. */
export interface PacingLoopDependencies {
  readonly nowUs: () => number;
  /** When there is something to do again. */
  readonly nextUs: () => number;
  /** Does what is due; true when it stopped before it was done, so that input can be handled in between. */
  readonly work: () => boolean;
  /** The loop's timer fired that much too late. */
  readonly delayed: (us: number) => void;
  /** The thread slept that long outside of its event loop. */
  readonly napped: (us: number) => void;
}

/** Sleeps at most this long, so that the loop's delay is known even when little is sent. */
const longestSleepMs = 50;
/** Closer than this the timer, which counts whole milliseconds, is too coarse for fine pacing. */
const fineUs = 2000;
/** Longest nap in fine pacing: input waits no longer than this to be seen. */
const napMs = 0.2;

/**
 * The one timer of a worker. It sleeps until something is due, and whenever input was handled anyway,
 * looks whether something has become due meanwhile: under load that brings the slip well below the
 * timer's millisecond.
 *
 * Fine pacing is for objectives of a few milliseconds, of which a timer's slip would be too large a
 * part: in the last two milliseconds it naps outside the event loop for a fifth of a millisecond at a
 * time. That costs some CPU and lets input wait up to one nap.
 */
export class PacingLoop {
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private running = false;
  private dueUs = 0;
  private readonly napCell = new Int32Array(new SharedArrayBuffer(4));

  constructor(
    private readonly dependencies: PacingLoopDependencies,
    private readonly fine: boolean,
  ) {}

  begin(): void {
    this.running = true;
    this.sleep();
  }

  end(): void {
    this.running = false;
    this.cancel();
  }

  /** To be called when something new has become due earlier than expected. */
  wake(): void {
    if (this.running) this.sleep();
  }

  /** To be called after input; `nowUs` is the time of the input. */
  inputHandled(nowUs: number): void {
    if (this.running && nowUs >= this.dependencies.nextUs()) this.dependencies.work();
  }

  private sleep(): void {
    this.cancel();
    const now = this.dependencies.nowUs();
    const leftUs = this.dependencies.nextUs() - now;
    if (this.fine && leftUs < fineUs) {
      this.immediate = setImmediate(this.napped);
      return;
    }
    // The timer never fires early; fine pacing leaves the last stretch to naps.
    const wholeMs = Math.floor(leftUs / 1000) - (this.fine ? 1 : 0);
    const sleepMs = Math.max(1, Math.min(longestSleepMs, wholeMs));
    this.dueUs = now + sleepMs * 1000;
    this.timer = setTimeout(this.fired, sleepMs);
  }

  private cancel(): void {
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
  }

  private readonly fired = (): void => {
    this.dependencies.delayed(this.dependencies.nowUs() - this.dueUs);
    this.run();
  };

  private readonly napped = (): void => {
    const before = this.dependencies.nowUs();
    const leftMs = (this.dependencies.nextUs() - before) / 1000;
    if (leftMs > 0) {
      Atomics.wait(this.napCell, 0, 0, Math.min(napMs, leftMs));
      this.dependencies.napped(this.dependencies.nowUs() - before);
    }
    this.run();
  };

  private readonly run = (): void => {
    if (!this.running) return;
    if (this.dependencies.work()) this.immediate = setImmediate(this.run);
    else this.sleep();
  };
}

/** Strictest latency limit, in microseconds, at which the timer's slip is still small enough. */
const coarsePacingUs = 12_000;

/** Whether objectives with this strictest latency limit need fine pacing. */
export function needsFinePacing(strictestUs: number): boolean {
  return strictestUs < coarsePacingUs;
}
