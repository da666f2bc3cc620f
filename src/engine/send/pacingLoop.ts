/** Sends: one loop drives all senders of a worker, each of which writes what is due by the pace of its entry. */
import { PerformanceObserver, performance, type EventLoopUtilization } from 'node:perf_hooks';
import { napMs } from '../../base/measuringLimits';
import { LatencyHistogram } from '../../measure/histogram';
import type { GeneratorSample } from '../../measure/sample';

/** Times are run time in microseconds. */
export interface Driven {
  /** When there is something to do again. */
  readonly nextUs: number;
  /** Does what is due; true when it stopped before it was done, so that input can be handled in between. */
  work(): boolean;
}

interface ThreadTime {
  readonly nowUs: () => number;
  readonly nap: (ms: number) => void;
  /** After something was done, what is due within this time waits until its end. */
  readonly gatherUs?: number;
  readonly watch: {
    /** A timer of the loop fired that much too late. */
    delayed(us: number): void;
    /** The thread slept that long where its event loop counts as busy. */
    napped(us: number): void;
    /** The loop went round once, or a part of it that may not have waited for input; reading took its turn in that time. */
    turned(us: number): void;
  };
}

const nothing: Driven = { nextUs: Infinity, work: () => false };

/** Sleeps at most this long, so that the loop's delay is known even when little is sent. */
const longestSleepMs = 50;
/** Closer than this to the next due moment, the loop naps instead of setting a timer. */
const nappingUs = 2000;
/** Timers are of whole milliseconds: so late they fire although the loop did wait for input. */
const timerUs = 1000;
/** So late they do not fire unless something has held up the thread. */
const standstillUs = 5000;

/**
 * The one timer of a worker. Far from the next due moment it sleeps by a timer; whenever input was
 * handled anyway, it looks whether something has become due meanwhile, or will be before the timer; and in the last two milliseconds,
 * for which a timer of whole milliseconds is too coarse, it naps outside the event loop for a fraction
 * of a millisecond at a time. Input waits at most one nap ({@link napMs}) to be seen. Where more is due than one message
 * in each `gatherUs`, it wakes only once in that time: to be woken costs more than to send. Figures: docs/measuring.md.
 */
export class PacingLoop {
  private timer: NodeJS.Timeout | undefined;
  private immediate: NodeJS.Immediate | undefined;
  private running = false;
  private dueUs = 0;
  /** What is due from then on is done at its time without being told of it. */
  private armedUs = Infinity;
  /** When something was due last. */
  private workedUs = -Infinity;
  /** Nothing is done before, but after input. */
  private restUntilUs = 0;

  /** Since when the loop has gone round without waiting for input; undefined: it waits for it. */
  private busySinceUs: number | undefined;
  /** The last time that it did. */
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

  /** Something may be due earlier than it was. */
  rescheduled(): void {
    if (this.running && this.driven.nextUs < this.armedUs) this.sleep();
  }

  /** After input, which came at `nowUs` and may have made something due, then or later. */
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

  /** Since when what is read now may have waited for it. */
  unreadSinceUs(nowUs: number): number {
    if (!this.running) return nowUs;
    const sinceUs = this.busySinceUs ?? this.busyFromUs(nowUs);
    const { before } = this;
    return sinceUs - before.untilUs < timerUs ? before.sinceUs : sinceUs;
  }

  /** Now, unless its timer shows that it was kept from waiting: since when, nobody knows, but it had waited before. */
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
    // By a timer it waits for input, but not by what is to be done as soon as there is none.
    this.busySinceUs = this.armedUs === -Infinity ? nowUs : undefined;
  };

  private work(nowUs: number, nextUs: number): boolean {
    if (nextUs <= nowUs) {
      const { gatherUs = 0 } = this.time;
      // What comes by itself, such as a tick, puts nothing off.
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
    // The timer may fire a millisecond late, which the naps then make up for.
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

  /** As soon as input was handled. */
  private goOn(): void {
    this.cancel();
    this.armedUs = -Infinity;
    this.immediate = setImmediate(this.run);
  }
}

/** Watches how busy this thread is: event loop, its delays, garbage collection. */
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

  /** What comes while the loop goes round is read when it goes round the next time, and then perhaps last. */
  turned(us: number): void {
    this.readGapUs = Math.max(this.readGapUs, this.turnUs + us);
    this.turnUs = us;
  }

  /** The longest that input may have waited since the last call. */
  takeReadGapUs(): number {
    const us = this.readGapUs;
    this.readGapUs = 0;
    return us;
  }

  /** What happened since the last call, all of it while `step` was measured. */
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
