import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ClockInterval } from '../../../../src/agents/clock/clockInterval';

/** One exchange with a clock that stands `offsetUs` ahead, over ways of these lengths. */
const exchange = (sentUs: number, offsetUs: number, thereUs: number, backUs: number) => ({
  sentUs,
  heardUs: sentUs + thereUs + offsetUs,
  answeredUs: sentUs + thereUs + offsetUs + 5,
  receivedUs: sentUs + thereUs + 5 + backUs,
});

describe('where another clock stands', () => {
  it('lies within the bound whatever the ways take, and clocks that drift too', () => {
    const ways = fc.array(
      fc.record({
        there: fc.nat({ max: 20_000 }),
        back: fc.nat({ max: 20_000 }),
        pauseMs: fc.nat({ max: 2000 }),
      }),
      { minLength: 1, maxLength: 40 },
    );
    const offset = fc.integer({ min: -1e12, max: 1e12 });
    // Parts per million, within what time daemons do.
    const drift = fc.integer({ min: -400, max: 400 });
    fc.assert(
      fc.property(ways, offset, drift, (all, offsetUs, ppm) => {
        const interval = new ClockInterval();
        let atUs = 0;
        for (const { there, back, pauseMs } of all) {
          const now = offsetUs + atUs * ppm * 1e-6;
          interval.add(exchange(atUs, now, there, back));
          atUs += there + back + 5 + pauseMs * 1000;
          const found = interval.at(atUs);
          assert.ok(found);
          const truth = offsetUs + atUs * ppm * 1e-6;
          // What a double cannot hold.
          const more = Math.abs(offsetUs) * 1e-12 + 1e-3;
          assert.ok(Math.abs(found.offsetUs - truth) <= found.boundUs + more);
          assert.ok(interval.boundOf(truth, atUs) <= 2 * found.boundUs + 2 * more);
        }
        assert.equal(interval.jumps, 0);
      }),
    );
  });

  it('is known as well as the quickest exchange says', () => {
    const interval = new ClockInterval();
    interval.add(exchange(0, 1000, 500, 9000));
    interval.add(exchange(10_000, 1000, 100, 140));
    const { offsetUs, boundUs } = interval.at(10_245)!;
    // Half of what it took, less the 5 us between question and answer; and what clocks drift in 245 us.
    assert.ok(Math.abs(boundUs - 120 - 245 * 500e-6) < 1e-6, `${boundUs} us`);
    assert.ok(Math.abs(offsetUs - 1000) <= boundUs);
  });

  it('begins anew when a clock was moved', () => {
    const interval = new ClockInterval();
    interval.add(exchange(0, 0, 100, 100));
    interval.add(exchange(1_000_000, 1e9, 100, 100));
    assert.equal(interval.jumps, 1);
    assert.ok(Math.abs(interval.at(1_000_300)!.offsetUs - 1e9) < 200);
  });

  it('takes no exchange whose times cannot be', () => {
    const interval = new ClockInterval();
    interval.add({ sentUs: 10, heardUs: 5, answeredUs: 4, receivedUs: 20 });
    interval.add({ sentUs: 10, heardUs: NaN, answeredUs: NaN, receivedUs: 20 });
    interval.add({ sentUs: 30, heardUs: 5, answeredUs: 6, receivedUs: 20 });
    assert.equal(interval.at(100), undefined);
  });
});
