import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { Arrivals } from '../../../src/engine/connect/ramp';
import { configSpecs } from '../../../src/scenario/keys/configKeys';

const wait = { batchWaitMs: 500 };

describe('the ramp modes of the Azure SignalR benchmark', () => {
  it('HighPress limits the connects in flight, to half of the share at first', () => {
    const arrivals = new Arrivals({ mode: 'HighPress', share: 9, ...wait });
    assert.equal(arrivals.mayHaveBegun(0, 0), 5);
    assert.equal(arrivals.mayHaveBegun(250, 0), 7);
    assert.equal(arrivals.mayHaveBegun(5000, 0), 9);
    assert.equal(arrivals.mayHaveBegun(5000, 40), 49);
  });

  it('LowPress opens batches with a pause, whatever became of the ones before', () => {
    const arrivals = new Arrivals({ mode: 'LowPress', share: 20, ...wait });
    const begun = [0, 499, 500, 1499, 1500].map((ms) => arrivals.mayHaveBegun(ms, 0));
    assert.deepEqual(begun, [20, 20, 40, 60, 80]);
    assert.equal(
      new Arrivals({ mode: 'LowPress', share: 1, batchWaitMs: 0 }).mayHaveBegun(0, 0),
      Infinity,
    );
  });

  it('ExtLimitRatePress opens a tenth of the rate each 100 ms, fractions not lost', () => {
    const arrivals = new Arrivals({ mode: 'ExtLimitRatePress', share: 55, ...wait });
    const begun = [0, 99, 100, 200, 1000, 2000].map((ms) => arrivals.mayHaveBegun(ms, 0));
    assert.deepEqual(begun, [0, 0, 5, 11, 55, 110]);
  });

  it('LimitRatePress opens no more than were over in the 100 ms before, unless none was', () => {
    const arrivals = new Arrivals({ mode: 'LimitRatePress', share: 100, ...wait });
    assert.equal(arrivals.mayHaveBegun(0, 0), 0);
    // Ten are allowed, and one more each time at first.
    assert.equal(arrivals.mayHaveBegun(100, 0), 11);
    assert.equal(arrivals.mayHaveBegun(200, 0), 22);
    assert.equal(arrivals.mayHaveBegun(250, 1), 22);
    assert.equal(arrivals.mayHaveBegun(300, 2), 25);
    assert.equal(arrivals.mayHaveBegun(400, 32), 36);
    // A pause counts once, with what was over in it.
    assert.equal(arrivals.mayHaveBegun(900, 36), 45);
  });

  for (const share of [1, 4, 20, 55, 100]) {
    it(`LimitRatePress keeps ${share} connects per second when they are over in time`, () => {
      const arrivals = new Arrivals({ mode: 'LimitRatePress', share, ...wait });
      const begun: number[] = [];
      for (let ms = 0; ms <= 120_000; ms += 5) {
        const over = begun.findIndex((at) => at > ms - 20);
        const may = arrivals.mayHaveBegun(ms, over === -1 ? begun.length : over);
        while (begun.length < may) begun.push(ms);
      }
      // After the ones more at first, which are a tenth of a second apart.
      const later = begun.filter((at) => at > 20_000).length;
      assert.ok(Math.abs(later - 100 * share) <= 2, `${later} in 100 s`);
      assert.ok(Math.abs(begun.length - 121 * share) <= 2, `${begun.length} in all`);
    });
  }

  it('never take anything back', () => {
    const moves = fc.array(fc.tuple(fc.nat(400), fc.nat(30)), { maxLength: 30 });
    const rising = fc.property(
      fc.constantFrom(...configSpecs.arrivingBatchMode.choices),
      fc.integer({ min: 1, max: 200 }),
      moves,
      (mode, share, list) => {
        const arrivals = new Arrivals({ mode, share, ...wait });
        let [elapsedMs, over, last] = [0, 0, 0];
        for (const [ms, more] of list) {
          elapsedMs += ms;
          over += more;
          const begun = arrivals.mayHaveBegun(elapsedMs, over);
          assert.ok(begun >= last, `${begun} after ${last}`);
          last = begun;
        }
      },
    );
    fc.assert(rising, { numRuns: 200 });
  });
});
