import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { stallOf, WaitingWatch } from '../../../../src/measure/judge/waitingWatch';
import { RunTotals } from '../../../../src/measure/total/runTotals';
import { stepSampleOf, workerSampleOf } from '../../../fakes/sample';
import { sampleSnapshot } from '../../results/sampleResult';

const s = 1_000_000;

/** A watch that was given these counts, one second after the other. */
function watched(...counts: readonly (readonly [expected: number, received: number])[]) {
  const watch = new WaitingWatch();
  counts.forEach(([expected, received], at) => {
    watch.note((at + 1) * s, (at + 1) * s, expected, received);
  });
  return watch.waiting();
}

describe('deliveries that are waited for', () => {
  it('are none while each second brings what was due before it', () => {
    assert.equal(watched(), undefined);
    assert.equal(watched([200, 198], [400, 398], [600, 597]), undefined);
    assert.equal(watched([200, 200], [200, 200], [200, 200]), undefined);
  });

  it('are reported with the length of the silence', () => {
    assert.deepEqual(watched([200, 160], [400, 160]), { oldestS: 1, silentS: 1 });
    assert.deepEqual(watched([200, 160], [400, 160], [600, 160]), { oldestS: 2, silentS: 2 });
    // It is over.
    assert.equal(watched([200, 160], [400, 160], [600, 160], [800, 799]), undefined);
  });

  it('are reported with the age of the oldest when newer ones arrive', () => {
    assert.deepEqual(watched([200, 100], [400, 150], [600, 190]), { oldestS: 2, silentS: 0 });
  });

  it('are never reported older than the oldest one is', () => {
    const message = fc.record({
      dueUs: fc.integer({ min: 0, max: 10 * s }),
      tookUs: fc.option(fc.integer({ min: 0, max: 5 * s })),
    });
    const property = fc.property(
      fc.array(message, { maxLength: 60 }),
      fc.array(fc.integer({ min: 0, max: 300_000 }), { minLength: 12, maxLength: 12 }),
      (messages, lateUs) => {
        const watch = new WaitingWatch();
        for (let tick = 1; tick <= 12; tick++) {
          // Two workers: one takes its sample in time, the other later.
          const [fromUs, toUs] = [tick * s, tick * s + lateUs[tick - 1]!];
          const arrivedBy = (atUs: number) =>
            messages.filter(({ dueUs, tookUs }) => tookUs !== null && dueUs + tookUs <= atUs);
          const due = messages.filter(({ dueUs }) => dueUs <= toUs);
          watch.note(fromUs, toUs, due.length, arrivedBy(fromUs).length);
          const missing = due.filter((each) => !arrivedBy(fromUs).includes(each));
          const ages = missing.map(({ dueUs }) => (fromUs - dueUs) / s);
          const { oldestS = 0, silentS = 0 } = watch.waiting() ?? {};
          assert.ok(oldestS <= Math.max(0, ...ages) + 1e-9, `${oldestS} of ${ages.join(', ')}`);
          const last = Math.max(
            0,
            ...arrivedBy(fromUs).map(({ dueUs, tookUs }) => dueUs + tookUs!),
          );
          assert.ok(silentS <= (fromUs - last) / s + 1e-9);
          assert.ok(silentS <= oldestS);
        }
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('are counted over all workers, up to the last sample of each', () => {
    const totals = new RunTotals(10);
    const step = totals.beginStep({ index: 1, senders: 10 });
    const add = (worker: number, atS: number, expected: number, received: number): void => {
      const steps = [stepSampleOf({ expected, received })];
      totals.add(workerSampleOf({ worker, tick: atS, atUs: atS * s, steps }));
    };
    // One sends, the other receives.
    for (const worker of [0, 1]) add(worker, 1, worker === 0 ? 100 : 0, worker === 0 ? 0 : 60);
    add(0, 2, 100, 0);
    assert.equal(step.waiting(), undefined);
    add(1, 2, 0, 0);
    assert.deepEqual(step.waiting(), { oldestS: 1, silentS: 1 });
    step.verdict = { status: 'pass', reasons: [] };
    assert.equal(step.waiting(), undefined);
  });
});

describe('a stall', () => {
  const step = (oldestS: number, silentS: number, p99: number, over = false) => {
    const { step: sample } = sampleSnapshot(9, 1);
    const latencyUs = { ...sample!.latencyUs, p99 };
    return { ...sample!, latencyUs, over, outstanding: 400, waiting: { oldestS, silentS } };
  };

  it('is a wait that the latencies so far do not show', () => {
    assert.deepEqual(stallOf(step(2.19, 2.19, 11_000)), {
      kind: 'silent',
      seconds: '2.1',
      count: 400,
    });
    assert.deepEqual(stallOf(step(6.99, 0, 11_000)), {
      kind: 'behind',
      seconds: '6.9',
      count: 400,
    });
    assert.equal(stallOf(step(2.1, 2.1, 2_200_000)), undefined);
    assert.equal(stallOf(step(2.1, 2.1, 11_000, true)), undefined);
    assert.equal(stallOf(sampleSnapshot(9, 1).step!), undefined);
  });
});
