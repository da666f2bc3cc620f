import { LatencyHistogram } from '../histogram';
import type { MergedTick, WorkerSample } from '../sample';

interface OpenTick {
  offered: number;
  sent: number;
  expected: number;
  received: number;
  readonly latency: LatencyHistogram;
  readonly done: Set<number>;
}

/** A tick is complete when every worker has delivered it, or, marked incomplete, when one has gone two ticks further. */
export class TickMerger {
  private readonly open = new Map<number, OpenTick>();
  private mergedUpTo = -1;

  /** Returns the ticks that are complete now, in order; `workers` still deliver. */
  add(sample: WorkerSample, due: boolean, workers: number): MergedTick[] {
    if (sample.tick > this.mergedUpTo) {
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

  rest(): MergedTick[] {
    return this.finished(0, Infinity);
  }

  private finished(workers: number, newestTick: number): MergedTick[] {
    const merged: MergedTick[] = [];
    for (const [number, tick] of [...this.open].sort(([a], [b]) => a - b)) {
      const complete = tick.done.size >= workers;
      if (!complete && number > newestTick - 2) break;
      this.open.delete(number);
      this.mergedUpTo = number;
      merged.push({ ...tick, tick: number, latencyUs: tick.latency.summary(), complete });
    }
    return merged;
  }
}

/** Times of one step in seconds of run time; an end that is not known yet lies at infinity. */
interface Window {
  readonly fromS: number;
  sentS: number;
  drainedS: number;
}

interface MeasuredTime {
  readonly seconds: number;
  /** The same and the drain after it: while deliveries counted. */
  readonly receivingSeconds: number;
}

/** Rates are counts over the measured time: a tick in which a step begins or ends belongs to it in part only. */
export class RateWindows {
  private windows: Window[] = [];

  /** Measuring of the next step begins at `fromS`. Ticks come at most two seconds late, so two are kept. */
  begin(fromS: number): void {
    const next = { fromS, sentS: Infinity, drainedS: Infinity };
    this.windows = [...this.windows.slice(-1), next];
  }

  sent(atS: number): void {
    const window = this.windows.at(-1);
    if (window) window.sentS = Math.min(window.sentS, atS);
  }

  drained(atS: number): void {
    this.sent(atS);
    const window = this.windows.at(-1);
    if (window) window.drainedS = Math.min(window.drainedS, atS);
  }

  /** @param tick number of the second; it ends at that many seconds of run time */
  within(tick: number): MeasuredTime {
    const sum = (end: 'sentS' | 'drainedS'): number =>
      this.windows.reduce(
        (total, window) =>
          total + Math.max(0, Math.min(tick, window[end]) - Math.max(tick - 1, window.fromS)),
        0,
      );
    return { seconds: sum('sentS'), receivingSeconds: sum('drainedS') };
  }
}
