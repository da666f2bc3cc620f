import { PerformanceObserver, performance, type EventLoopUtilization } from 'node:perf_hooks';
import { LatencyHistogram } from '../../measure/histogram';
import type { GeneratorSample } from '../../measure/sample';

/** Watches how busy this thread is: event loop, its delays, garbage collection. */
export class SelfCheck {
  private utilization: EventLoopUtilization = performance.eventLoopUtilization();
  private sinceUs = performance.now() * 1000;
  private gcUs = 0;
  private nappedUs = 0;
  private readonly loopDelay = new LatencyHistogram();
  private readonly observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) this.gcUs += entry.duration * 1000;
  });

  constructor() {
    this.observer.observe({ entryTypes: ['gc'] });
  }

  /** A timer of this thread fired that much later than asked for. */
  delayed(us: number): void {
    this.loopDelay.record(us);
  }

  /** The thread slept that long where the event loop counts it as busy. */
  napped(us: number): void {
    this.nappedUs += us;
  }

  /** What happened since the last call, all of it while `step` was measured. */
  take(step: number): GeneratorSample {
    const utilization = performance.eventLoopUtilization();
    const nowUs = performance.now() * 1000;
    const { loopDelay } = this;
    const activeUs = performance.eventLoopUtilization(utilization, this.utilization).active * 1000;
    const sample: GeneratorSample = {
      step,
      elapsedUs: nowUs - this.sinceUs,
      busyUs: Math.max(0, activeUs - this.nappedUs),
      gcUs: this.gcUs,
      ...(loopDelay.count === 0 ? {} : { loopDelay: loopDelay.counts() }),
    };
    this.utilization = utilization;
    this.sinceUs = nowUs;
    this.gcUs = 0;
    this.nappedUs = 0;
    loopDelay.reset();
    return sample;
  }

  dispose(): void {
    this.observer.disconnect();
  }
}
