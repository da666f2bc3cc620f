import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Snapshot } from '../../../../src/measure/snapshot';
import { mostSnapshots } from '../../../../src/measure/snapshotHistory';
import { RunTotals } from '../../../../src/measure/total/runTotals';
import { planOf, shortStep } from '../../../fakes/plan';
import { countsOf, stepSampleOf, workerSampleOf } from '../../../fakes/sample';
import { VirtualTime } from '../../../fakes/virtualTime';
import { conductorOf, FakeWorkers } from '../../../fakes/workers';

/**
 * Half of them come before memory is looked at: by then what runs once a second is compiled as far as it will be. Fewer than
 * from which on snapshots are thinned.
 */
const seconds = Math.floor(mostSnapshots * 0.2);
/** A sample of a worker that stays has more than a thousand, its histogram 94,000. */
const mostBytesASecond = 500;
/** Of 100 seconds with 300 latencies each. Four histograms have 376,000, and seconds as maps as much again. */
const mostBytesAStep = 150_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heldBytes(): number {
  for (let round = 0; round < 3; round++) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('the process that leads a run', function () {
  it('keeps nothing of a second that is over', async () => {
    const time = new VirtualTime().install();
    try {
      const step = { ...shortStep, measureMs: seconds * 1000 };
      const workers: FakeWorkers = new FakeWorkers(() => time.nowUs(), 2, {}, step);
      const conductor = conductorOf(planOf({ steps: [step] }, 2), {
        startWorkers: workers.start,
        nowUs: () => time.nowUs(),
      });
      let newest: Snapshot | undefined;
      let fired = 0;
      conductor.onSnapshot((snapshot) => {
        newest = snapshot;
        fired += 1;
      });
      const beat = setInterval(() => {
        if (newest?.phase !== 'measuring') return;
        for (const worker of [0, 1]) {
          const latency = countsOf(...Array.from({ length: 50 }, (_, at) => 800 + 7 * at));
          const counts = { offered: 50, sent: 50, expected: 50, received: 50 };
          workers.sample(
            worker,
            { steps: [stepSampleOf({ ...counts, latency })] },
            undefined,
            true,
          );
        }
      }, 1000);
      await time.to((seconds / 2) * 1000);
      const before = heldBytes();
      const firedBefore = fired;
      await time.to((seconds - 1) * 1000);
      const grownBytes = heldBytes() - before;
      assert.equal(newest?.phase, 'measuring');
      assert.ok(fired - firedBefore >= seconds / 2 - 2, `${fired - firedBefore} snapshots`);
      const bytes = Math.round(grownBytes / (seconds / 2));
      assert.ok(bytes < mostBytesASecond, `${bytes} bytes stay of each second`);
      clearInterval(beat);
      const over = conductor.finished;
      conductor.stop('stopped');
      await time.until(over, 120_000);
    } finally {
      time.restore();
    }
  });

  it('keeps little of a step that is over, and counts what comes late', () => {
    const totals = new RunTotals(10);
    const latency = countsOf(...Array.from({ length: 300 }, (_, at) => 500 + at * at));
    const sample = { offered: 300, sent: 300, expected: 300, received: 300, latency };
    const runStep = (index: number): void => {
      totals.beginStep({ index, senders: 10 });
      for (let tick = 1; tick <= 100; tick++) {
        const counts = { ...sample, step: index, sendLatency: latency, slip: latency };
        const generator = { step: index, elapsedUs: 1, busyUs: 0, gcUs: 0, loopDelay: latency };
        const steps = [stepSampleOf(counts)];
        totals.add(workerSampleOf({ tick: (index - 1) * 100 + tick, steps, generator }));
      }
    };
    for (let index = 1; index <= 10; index++) runStep(index);
    const before = heldBytes();
    for (let index = 11; index <= 30; index++) runStep(index);
    const bytes = Math.round((heldBytes() - before) / 20);
    assert.ok(bytes < mostBytesAStep, `${bytes} bytes stay of each step`);

    totals.add(workerSampleOf({ tick: 3001, steps: [stepSampleOf({ ...sample, step: 1 })] }));
    const [first, second] = totals.steps;
    assert.equal(first!.latency.count, 30_300);
    assert.deepEqual(second!.latency.summary(), totals.steps.at(-1)!.latency.summary());
  });
});
