import { napMs } from '../../base/judging';

/** What the loop drives. Times are run time in microseconds. */
export interface PacingLoopDependencies {
  readonly nowUs: () => number;
  /** When there is something to do again. */
  readonly nextUs: () => number;
  /** Does what is due; true when it stopped before it was done, so that input can be handled in between. */
  readonly work: () => boolean;
  /** The loop's timer fired that much too late. */
  readonly delayed: (us: number) => void;
  /** Sleeps outside of the event loop. */
  readonly nap: (ms: number) => void;
  /** The thread has slept that long so. */
  readonly napped: (us: number) => void;
}

/** Sleeps at most this long, so that the loop's delay is known even when little is sent. */
const longestSleepMs = 50;
/** Closer than this to the next due moment, the loop naps instead of setting a timer. */
const nappingUs = 2000;

/**
 * The one timer of a worker. Far from the next due moment it sleeps by a timer; whenever input was
 * handled anyway, it looks whether something has become due meanwhile; and in the last two milliseconds,
 * for which a timer of whole milliseconds is too coarse, it naps outside the event loop for a fraction
 * of a millisecond at a time. Input waits at most one nap ({@link napMs}) to be seen. Figures: docs/measuring.md.
 */
export class PacingLoop {
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private running = false;
  private dueUs = 0;

  constructor(private readonly dependencies: PacingLoopDependencies) {}

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
    if (leftUs < nappingUs) {
      this.immediate = setImmediate(this.napped);
      return;
    }
    // The timer may fire a millisecond late, which the naps then make up for.
    const sleepMs = Math.min(longestSleepMs, Math.floor(leftUs / 1000) - 1);
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
      this.dependencies.nap(Math.min(napMs, leftMs));
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
