/** What the loop drives. Times are run time in microseconds. */
export interface PacingLoopDependencies {
  readonly nowUs: () => number;
  /** When there is something to do again. */
  readonly nextUs: () => number;
  /** Does what is due; true when it stopped before it was done, so that input can be handled in between. */
  readonly work: () => boolean;
  /** The loop's timer fired that much too late. */
  readonly delayed: (us: number) => void;
}

/** Sleeps at most this long, so that the loop's delay is known even when little is sent. */
const longestSleepMs = 50;

/**
 * The one timer of a worker. It sleeps until something is due, and whenever input was handled anyway,
 * looks whether something has become due meanwhile: under load that brings the slip well below the
 * timer's millisecond.
 */
export class PacingLoop {
  private timer: NodeJS.Timeout | undefined;
  private running = false;
  private dueUs = 0;

  constructor(private readonly dependencies: PacingLoopDependencies) {}

  begin(): void {
    this.running = true;
    this.sleep();
  }

  end(): void {
    this.running = false;
    clearTimeout(this.timer);
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
    clearTimeout(this.timer);
    const { nowUs, nextUs } = this.dependencies;
    const now = nowUs();
    // The timer counts whole milliseconds and never fires early.
    const sleepMs = Math.max(1, Math.min(longestSleepMs, Math.floor((nextUs() - now) / 1000)));
    this.dueUs = now + sleepMs * 1000;
    this.timer = setTimeout(this.fired, sleepMs);
  }

  private readonly fired = (): void => {
    this.dependencies.delayed(this.dependencies.nowUs() - this.dueUs);
    this.run();
  };

  private readonly run = (): void => {
    if (!this.running) return;
    if (this.dependencies.work()) setImmediate(this.run);
    else this.sleep();
  };
}
