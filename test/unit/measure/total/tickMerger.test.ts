import assert from 'node:assert/strict';
import { RateWindows, TickMerger } from '../../../../src/measure/total/tickMerger';
import * as fc from 'fast-check';
import type { WorkerSample, MergedTick } from '../../../../src/measure/sample';
import { countsOf, stepSampleOf, workerSampleOf } from '../../../fakes/sample';

/** What worker `worker` sent and received in a tick. */
const sampleOf = (worker: number, tick: number, count: number): WorkerSample =>
  workerSampleOf({
    worker,
    tick,
    steps: [
      stepSampleOf({
        sent: count,
        expected: count * 3,
        received: count * 2,
        latency: countsOf(count * 1000),
      }),
    ],
  });
const shown = (ticks: readonly MergedTick[]): string[] =>
  ticks.map(({ tick, sent, complete }) => `${tick}:${sent}${complete ? '' : ' incomplete'}`);

describe('TickMerger', () => {
  it('reports a tick once all workers have delivered it', () => {
    const merger = new TickMerger();
    assert.deepEqual(merger.add(sampleOf(0, 1, 5), true, 2), []);
    const [tick, ...others] = merger.add(sampleOf(1, 1, 7), true, 2);
    assert.deepEqual(others, []);
    const { sent, expected, received, latencyUs, complete } = tick!;
    assert.deepEqual([sent, expected, received, complete], [12, 36, 24, true]);
    assert.deepEqual([latencyUs.count, latencyUs.min, latencyUs.max], [2, 5000, 7000]);
  });

  it('reports the same however the workers’ samples arrive, as long as none is two ticks late', () => {
    const orders = fc.tuple(fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), fc.nat(2));
    const same = fc.property(orders, ([ranks, extra]) => {
      const merger = new TickMerger();
      const reported: MergedTick[] = [];
      for (let tick = 1; tick <= 6; tick++) {
        const workers = [0, 1, 2].sort(
          (a, b) => ((a + ranks[tick - 1]!) % 3) - ((b + ranks[tick - 1]!) % 3),
        );
        for (const worker of workers) {
          // Samples at borders come before the tick's last one and count for it.
          if (worker === extra) reported.push(...merger.add(sampleOf(worker, tick, 100), false, 3));
          reported.push(...merger.add(sampleOf(worker, tick, worker + tick), true, 3));
        }
      }
      const sums = [1, 2, 3, 4, 5, 6].map((tick) => `${tick}:${103 + 3 * tick}`);
      assert.deepEqual(shown(reported), sums);
    });
    fc.assert(same, { numRuns: 100 });
  });

  it('never adds two ticks of a fast worker together', () => {
    const merger = new TickMerger();
    const reported = [
      ...merger.add(sampleOf(0, 1, 1), true, 2),
      ...merger.add(sampleOf(0, 2, 10), true, 2),
      ...merger.add(sampleOf(1, 1, 2), true, 2),
      ...merger.add(sampleOf(1, 2, 20), true, 2),
    ];
    assert.deepEqual(shown(reported), ['1:3', '2:30']);
  });

  it('marks a tick incomplete that a worker is two ticks late for, and forgets what comes then', () => {
    const merger = new TickMerger();
    assert.deepEqual(merger.add(sampleOf(0, 1, 1), true, 2), []);
    assert.deepEqual(merger.add(sampleOf(0, 2, 1), true, 2), []);
    assert.deepEqual(shown(merger.add(sampleOf(0, 3, 1), true, 2)), ['1:1 incomplete']);
    assert.deepEqual(merger.add(sampleOf(1, 1, 99), true, 2), []);
    assert.deepEqual(shown(merger.add(sampleOf(1, 2, 4), true, 2)), ['2:5']);
    assert.deepEqual(shown(merger.add(sampleOf(1, 3, 4), true, 2)), ['3:5']);
  });

  it('reports what is left of an open tick at the end', () => {
    const merger = new TickMerger();
    merger.add(sampleOf(0, 1, 3), true, 1);
    assert.deepEqual(merger.add(sampleOf(0, 2, 4), false, 1), []);
    assert.deepEqual(shown(merger.rest()), ['2:4']);
    assert.deepEqual(merger.rest(), []);
  });

  it('goes on with the workers that are left', () => {
    const merger = new TickMerger();
    merger.add(sampleOf(0, 1, 1), true, 3);
    merger.add(sampleOf(1, 1, 1), true, 3);
    assert.deepEqual(shown(merger.add(sampleOf(1, 2, 1), true, 1)), ['1:2', '2:1']);
  });
});

const rounded = (windows: RateWindows, tick: number): number[] => {
  const { seconds, receivingSeconds } = windows.within(tick);
  return [seconds, receivingSeconds].map((value) => Math.round(value * 1000) / 1000);
};

describe('RateWindows', () => {
  it('has nothing before the first step', () => {
    assert.deepEqual(rounded(new RateWindows(), 1), [0, 0]);
  });

  it('gives the part of each tick in which the step was measured', () => {
    const windows = new RateWindows();
    windows.begin(2.98);
    assert.deepEqual(rounded(windows, 2), [0, 0]);
    assert.deepEqual(rounded(windows, 3), [0.02, 0.02]);
    assert.deepEqual(rounded(windows, 4), [1, 1]);
    windows.sent(4.6);
    assert.deepEqual(rounded(windows, 5), [0.6, 1]);
    windows.drained(4.8);
    assert.deepEqual(rounded(windows, 5), [0.6, 0.8]);
    assert.deepEqual(rounded(windows, 6), [0, 0]);
  });

  it('adds up two steps in one tick, and still knows the one before when its tick comes late', () => {
    const windows = new RateWindows();
    windows.begin(0.5);
    windows.sent(3.2);
    windows.drained(3.3);
    windows.begin(3.4);
    assert.deepEqual(rounded(windows, 3), [1, 1]);
    assert.deepEqual(rounded(windows, 4), [0.8, 0.9]);
  });

  it('ends sending with the drain when a run is broken off', () => {
    const windows = new RateWindows();
    windows.begin(0);
    windows.drained(0.25);
    windows.drained(0.75);
    assert.deepEqual(rounded(windows, 1), [0.25, 0.25]);
  });
});
