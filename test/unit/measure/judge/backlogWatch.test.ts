import assert from 'node:assert/strict';
import fc from 'fast-check';
import { BacklogWatch, mostGrowth } from '../../../../src/measure/judge/backlogWatch';
import { noLatency } from '../latencies';

/** Seconds 1 … n of a step, each with a median latency in microseconds. */
function growthOf(p50s: readonly number[], received = 100): number | undefined {
  const watch = new BacklogWatch(0, p50s.length * 1e6);
  p50s.forEach((p50, at) =>
    watch.tick({ tick: at + 1, received, latencyUs: { ...noLatency, p50 } }),
  );
  return watch.growth();
}

describe('BacklogWatch', () => {
  it('finds the share by which a target is above its capacity', () => {
    // 5 % more than can be delivered: of each second 5/105 stays in the queue.
    const share = 0.05 / 1.05;
    const growth = growthOf(Array.from({ length: 5 }, (_, at) => 2000 + share * 1e6 * (at + 0.5)));
    assert.ok(growth !== undefined && Math.abs(growth - share) < 1e-9);
  });

  it('finds none in latency that stays, however high, or falls', () => {
    assert.equal(growthOf([900_000, 900_000, 900_000, 900_000]), undefined);
    assert.equal(growthOf([500_000, 300_000, 100_000, 2000]), undefined);
  });

  it('takes no slow second for a trend', () => {
    assert.equal(growthOf([2000, 2100, 400_000, 2000, 2200, 1900]), undefined);
    assert.equal(growthOf([2000, 2100, 1900, 2000, 2200, 700_000]), undefined);
  });

  it('takes no rise of a few milliseconds for one', () => {
    assert.equal(growthOf([1000, 5000, 9000, 13_000]), undefined);
  });

  it('needs three seconds in which something arrived', () => {
    assert.equal(growthOf([100_000, 600_000]), undefined);
    assert.equal(growthOf([100_000, 600_000, 900_000], 0), undefined);
  });

  it('looks at whole seconds of the measured time alone', () => {
    const watch = new BacklogWatch(1_500_000, 5_200_000);
    const ticks = [0, 0, 1, 2, 3, 900];
    ticks.forEach((ms, at) =>
      watch.tick({ tick: at + 1, received: 1, latencyUs: { ...noLatency, p50: ms * 100_000 } }),
    );
    assert.ok(Math.abs(watch.growth()! - 0.1) < 1e-9);
  });

  it('never says less than its limit, nor anything that is not a number', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3_000_000), { maxLength: 40 }), (p50s) => {
        const growth = growthOf(p50s);
        assert.ok(growth === undefined || (Number.isFinite(growth) && growth > mostGrowth));
      }),
    );
  });
});
