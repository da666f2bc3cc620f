import { LatencyHistogram } from '../histogram';
import type { WorkerSample } from '../sample';
import type { LatencySummary } from '../latencySummary';

/** What all workers together did in one tick. */
export interface MergedTick {
  readonly tick: number;
  readonly offered: number;
  readonly sent: number;
  readonly expected: number;
  readonly received: number;
  readonly latency: LatencyHistogram;
  readonly latencyUs: LatencySummary;
  /** False when a worker's sample did not come in time. */
  readonly complete: boolean;
}

interface OpenTick {
  offered: number;
  sent: number;
  expected: number;
  received: number;
  readonly latency: LatencyHistogram;
  /** Workers whose last sample of the tick has come. */
  readonly done: Set<number>;
}

/**
 * Puts the workers' samples together by their tick, never by their order of arrival. A tick is told
 * when every worker has delivered it, or, marked incomplete, when one has gone two ticks further.
 */
export class TickMerger {
  private readonly open = new Map<number, OpenTick>();
  private toldUpTo = -1;

  /**
   * @param workers workers that still deliver
   * @returns ticks that are now told, in order
   */
  add(sample: WorkerSample, due: boolean, workers: number): MergedTick[] {
    if (sample.tick > this.toldUpTo) {
      let tick = this.open.get(sample.tick);
      if (tick === undefined) {
        const latency = new LatencyHistogram();
        tick = { offered: 0, sent: 0, expected: 0, received: 0, latency, done: new Set() };
        this.open.set(sample.tick, tick);
      }
      for (const step of sample.steps) {
        tick.offered += step.offered;
        tick.sent += step.sent;
        tick.expected += step.expected;
        tick.received += step.received;
        if (step.latency !== undefined) tick.latency.add(step.latency);
      }
      if (due) tick.done.add(sample.worker);
    }
    return this.finished(workers, due ? sample.tick : -1);
  }

  /** What is left when no worker delivers any more, at the end of a run. */
  rest(): MergedTick[] {
    return this.finished(0, Infinity);
  }

  private finished(workers: number, newestTick: number): MergedTick[] {
    const told: MergedTick[] = [];
    for (const [number, tick] of [...this.open].sort(([a], [b]) => a - b)) {
      const complete = tick.done.size >= workers;
      if (!complete && number > newestTick - 2) break;
      this.open.delete(number);
      this.toldUpTo = number;
      told.push({ ...tick, tick: number, latencyUs: tick.latency.summary(), complete });
    }
    return told;
  }
}
