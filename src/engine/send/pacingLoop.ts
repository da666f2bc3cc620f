import { PerformanceObserver, performance, type EventLoopUtilization } from 'node:perf_hooks';
import { LatencyHistogram } from '../../measure/histogram';
import type { GeneratorSample } from '../../measure/sample';

/** How long the loop naps at a time before a message is due, milliseconds. */
export const napMs = 0.05;

/** A worker with much to send wakes at most once in this time, microseconds: docs/measuring.md, *How the generator keeps time*. */
export const gatherUs = 200;

/** Times are run time in microseconds. */
export interface Driven {
  readonly nextUs: number;
  /** Does what is due; true when it stopped early to let input be handled. */
  work(): boolean;
}

interface ThreadTime {
  readonly nowUs: () => number;
  readonly nap: (ms: number) => void;
  /** After work, further messages due within this time wait until its end. */
  readonly gatherUs?: number;
  readonly watch: {
    delayed(us: number): void;
    /** The thread slept, which the event loop counts as busy. */
    napped(us: number): void;
    /** One turn of the loop; input is read at most once in it. */
    turned(us: number): void;
  };
}

const nothing: Driven = { nextUs: Infinity, work: () => false };

/** Keeps the delay of the loop measurable even when little is sent. */
const longestSleepMs = 50;
/** Nearer to the next due time the loop naps instead of using a timer. */
const nappingUs = 2000;
/** Timers have whole milliseconds and fire up to that much late. */
const timerUs = 1000;
/** Timers later than that show that the thread was held up. */
const standstillUs = 5000;

/**
 * The one timer of a worker. It sleeps by timer while the next message is far away, and checks after each input
 * whether something is due. In the last two milliseconds, too short for a timer, it naps outside the event loop;
 * input waits for at most one nap ({@link napMs}). With more than one message per `gatherUs` it wakes once in that
 * time, since waking up costs more than sending. Figures: docs/measuring.md.
 */
export class PacingLoop {
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private running = false;
  private dueUs = 0;
  private armedUs = Infinity;
  private workedUs = -Infinity;
  /** Until then it works only after input. */
  private restUntilUs = 0;

  /** Since when the loop turns without waiting for input; undefined while it waits. */
  private busySinceUs: number | undefined;
  private before = { sinceUs: -Infinity, untilUs: -Infinity };

  private driven = nothing;

  constructor(private readonly time: ThreadTime) {}

  begin(driven: Driven): void {
    this.driven = driven;
    this.running = true;
    this.sleep();
  }

  end(): void {
    this.running = false;
    this.cancel();
  }

  rescheduled(): void {
    if (this.running && this.driven.nextUs < this.armedUs) this.sleep();
  }

  /** Call after input that arrived at `nowUs`. */
  inputHandled(nowUs: number): void {
    if (!this.running) return;
    if (this.busySinceUs === undefined) {
      this.busySinceUs = this.busyFromUs(nowUs);
      setImmediate(this.turned);
    }
    const { nextUs } = this.driven;
    if (nextUs > nowUs) {
      if (nextUs < this.armedUs) this.sleep();
    } else if (this.work(nowUs, nextUs)) this.goOn();
    else this.rescheduled();
  }

  /** Since when input read at `nowUs` may have been waiting. */
  unreadSinceUs(nowUs: number): number {
    if (!this.running) return nowUs;
    const sinceUs = this.busySinceUs ?? this.busyFromUs(nowUs);
    const { before } = this;
    return sinceUs - before.untilUs < timerUs ? before.sinceUs : sinceUs;
  }

  /** Now, or, if the timer fired far too late, the last time known to have waited for input. */
  private busyFromUs(nowUs: number): number {
    const { dueUs, before } = this;
    if (nowUs < dueUs + standstillUs) return Math.min(nowUs, dueUs + timerUs);
    return Math.max(before.untilUs, dueUs - longestSleepMs * 1000);
  }

  private readonly turned = (): void => {
    const nowUs = this.time.nowUs();
    if (this.busySinceUs !== undefined) {
      this.time.watch.turned(nowUs - this.busySinceUs);
      this.before = { sinceUs: this.busySinceUs, untilUs: nowUs };
    }
    this.busySinceUs = this.armedUs === -Infinity ? nowUs : undefined;
  };

  private work(nowUs: number, nextUs: number): boolean {
    if (nextUs <= nowUs) {
      const { gatherUs = 0 } = this.time;
      // Single events such as a tick delay nothing.
      const isOften = nowUs - this.workedUs < 2 * gatherUs;
      this.restUntilUs = isOften ? nowUs + gatherUs : 0;
      this.workedUs = nowUs;
    }
    return this.driven.work();
  }

  private sleep(): void {
    this.cancel();
    const now = this.time.nowUs();
    const leftUs = this.driven.nextUs - now;
    if (leftUs < nappingUs) {
      this.armedUs = -Infinity;
      this.busySinceUs ??= now;
      this.immediate = setImmediate(this.napped);
      return;
    }
    // The timer may fire a millisecond late; naps absorb that.
    const sleepMs = Math.min(longestSleepMs, Math.floor(leftUs / 1000) - 1);
    this.dueUs = now + sleepMs * 1000;
    this.armedUs = this.dueUs + timerUs;
    this.timer = setTimeout(this.fired, sleepMs);
  }

  private cancel(): void {
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
  }

  private readonly fired = (): void => {
    const nowUs = this.time.nowUs();
    this.time.watch.delayed(nowUs - this.dueUs);
    this.busySinceUs ??= this.busyFromUs(nowUs);
    this.run();
  };

  private readonly napped = (): void => {
    const before = this.time.nowUs();
    const { nextUs } = this.driven;
    const napUs =
      nextUs < this.restUntilUs
        ? this.restUntilUs - before
        : Math.min(napMs * 1000, nextUs - before);
    if (napUs > 0) {
      this.time.nap(napUs / 1000);
      this.time.watch.napped(this.time.nowUs() - before);
    }
    this.run();
  };

  private readonly run = (): void => {
    if (!this.running) return;
    if (this.work(this.time.nowUs(), this.driven.nextUs)) this.goOn();
    else this.sleep();
    this.turned();
  };

  private goOn(): void {
    this.cancel();
    this.armedUs = -Infinity;
    this.immediate = setImmediate(this.run);
  }
}

/** Measures the load of this thread: event loop, its delays, garbage collection. */
export class SelfCheck {
  private utilization: EventLoopUtilization = performance.eventLoopUtilization();
  private sinceUs = performance.now() * 1000;
  private gcUs = 0;
  private nappedUs = 0;
  private turnUs = 0;
  private readGapUs = 0;
  private readonly loopDelay = new LatencyHistogram();
  private readonly observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) this.gcUs += entry.duration * 1000;
  });

  constructor() {
    this.observer.observe({ entryTypes: ['gc'] });
  }

  delayed(us: number): void {
    this.loopDelay.record(us);
  }

  napped(us: number): void {
    this.nappedUs += us;
  }

  /** Input that arrives during a turn is read in the next one, possibly at its end. */
  turned(us: number): void {
    this.readGapUs = Math.max(this.readGapUs, this.turnUs + us);
    this.turnUs = us;
  }

  takeReadGapUs(): number {
    const us = this.readGapUs;
    this.readGapUs = 0;
    return us;
  }

  take(step: number): GeneratorSample {
    const utilization = performance.eventLoopUtilization();
    const nowUs = performance.now() * 1000;
    const loopDelay = this.loopDelay.take(true);
    const activeUs = performance.eventLoopUtilization(utilization, this.utilization).active * 1000;
    const sample: GeneratorSample = {
      step,
      elapsedUs: nowUs - this.sinceUs,
      busyUs: Math.max(0, activeUs - this.nappedUs),
      gcUs: this.gcUs,
      ...(loopDelay !== undefined && { loopDelay }),
    };
    this.utilization = utilization;
    this.sinceUs = nowUs;
    this.gcUs = 0;
    this.nappedUs = 0;
    return sample;
  }

  dispose(): void {
    this.observer.disconnect();
  }
}
