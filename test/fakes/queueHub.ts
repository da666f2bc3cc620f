import type { Random } from '../../src/base/random';
import type { PlanStep } from '../../src/plan/plan';
import { countsOf, stepSampleOf } from './sample';
import type { FakeWorkers } from './workers';

const senders = 20;

interface Delivery {
  readonly dueUs: number;
  readonly atUs: number;
}

/**
 * A hub that serves exactly so many messages a second, one after the other, each when it has come: what is more waits in
 * a queue. On the way each message takes a moment of its own, and now and then the reader stops for some milliseconds.
 */
export class QueueHub {
  private freeUs = 0;

  constructor(
    readonly perSecond: number,
    private readonly random: Random,
    /** Mean time on the way, and how long the reader stops each ten seconds or so, milliseconds. */
    private readonly noise: { readonly wayMs: number; readonly stopMs: number },
  ) {}

  /** What a worker reports of a step in which that many messages a second are due. */
  run(workers: FakeWorkers, worker: number, step: PlanStep, rate: number, atUs: number): void {
    const measureUs = atUs + step.warmupMs * 1000;
    const ticks = new Map<number, { sent: number; readonly latencies: number[] }>();
    const tickAt = (us: number) => {
      const tick = Math.ceil(us / 1e6);
      const found = ticks.get(tick) ?? { sent: 0, latencies: [] };
      ticks.set(tick, found);
      return found;
    };
    for (const { dueUs, atUs: cameUs } of this.deliveries(
      rate,
      atUs,
      measureUs + step.measureMs * 1000,
    )) {
      if (dueUs < measureUs) continue;
      tickAt(dueUs).sent += 1;
      tickAt(cameUs).latencies.push(cameUs - dueUs);
    }
    for (const [tick, { sent, latencies }] of ticks) {
      const counts = { offered: sent, sent, expected: sent, received: latencies.length };
      const sample = stepSampleOf({ step: step.index, ...counts, latency: countsOf(...latencies) });
      setTimeout(
        () => workers.sample(worker, { tick, steps: [sample] }, undefined, true),
        tick * 1000 - performance.now(),
      );
    }
  }

  /** Of senders that take turns, each at its own moment. */
  private deliveries(rate: number, fromUs: number, toUs: number): Delivery[] {
    const { random, noise } = this;
    const intervalUs = (senders * 1e6) / rate;
    const phases = Array.from({ length: senders }, () => random.next() * intervalUs).sort(
      (a, b) => a - b,
    );
    const found: Delivery[] = [];
    let stopUs = fromUs + random.next() * 10e6;
    for (let turn = fromUs; turn < toUs; turn += intervalUs)
      for (const phase of phases) {
        const dueUs = turn + phase;
        if (dueUs >= toUs) break;
        const wayUs = -Math.log(1 - random.next()) * noise.wayMs * 1000;
        this.freeUs = Math.max(this.freeUs, dueUs) + 1e6 / this.perSecond;
        let atUs = this.freeUs + wayUs;
        while (atUs >= stopUs + noise.stopMs * 1000) stopUs += random.next() * 20e6;
        if (atUs >= stopUs) atUs = stopUs + noise.stopMs * 1000;
        found.push({ dueUs, atUs });
      }
    return found;
  }
}
