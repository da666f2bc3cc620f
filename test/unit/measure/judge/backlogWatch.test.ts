import assert from 'node:assert/strict';
import fc from 'fast-check';
import { seededRandom } from '../../../../src/base/random';
import { BacklogWatch, type Growth } from '../../../../src/measure/judge/backlogWatch';
import { normal } from '../../../fakes/simulatedServers';
import { noLatency } from '../latencies';

/** Seconds 1 … n of a step, each with a median latency in microseconds. */
function growthOf(p50s: readonly number[], received = 100): Growth | undefined {
  const watch = new BacklogWatch(0, p50s.length * 1e6, 0.05);
  p50s.forEach((p50, at) =>
    watch.tick({ tick: at + 1, received, latencyUs: { ...noLatency, p50 } }),
  );
  return watch.growth();
}

const seconds = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const kindOf = (p50s: readonly number[]): Growth['kind'] | undefined => growthOf(p50s)?.kind;

describe('BacklogWatch', () => {
  it('finds the share by which a target is above its capacity', () => {
    // 5 % more than can be delivered: of each second 5/105 stays in the queue.
    const share = 0.05 / 1.05;
    const growth = growthOf(seconds(8, (at) => 2000 + share * 1e6 * (at + 0.5)))!;
    assert.equal(growth.kind, 'grows');
    assert.ok(Math.abs(growth.middle - share) < 1e-9);
    assert.ok(Math.abs(growth.limit - 0.0005) < 1e-12);
  });

  it('finds none in latency that stays, however high, or falls', () => {
    assert.equal(kindOf(seconds(8, () => 900_000)), 'stays');
    assert.equal(kindOf(seconds(8, (at) => 900_000 - 100_000 * at)), 'stays');
  });

  it('takes no slow second for a trend', () => {
    for (const slow of [0, 3, 11])
      assert.equal(kindOf(seconds(12, (at) => (at === slow ? 700_000 : 2000 + (at % 3)))), 'stays');
  });

  it('sees a target half a per cent above its capacity, and none in one at it', () => {
    for (const [growthUs, kind] of [
      [5000, 'grows'],
      [0, 'stays'],
    ] as const) {
      const found = seconds(100, (seed) => seed + 1).map((seed) => {
        const random = seededRandom(seed);
        return kindOf(seconds(28, (at) => 20_000 + growthUs * at + 2000 * normal(random)));
      });
      const others = found.filter((each) => each !== kind && each !== 'open');
      assert.deepEqual(others, []);
      assert.ok(found.filter((each) => each === kind).length >= 90, found.join());
    }
  });

  it('leaves open what its seconds do not tell', () => {
    const random = seededRandom(7);
    const found = seconds(40, () =>
      kindOf(seconds(8, (at) => 100_000 + 600 * at + 20_000 * normal(random))),
    );
    assert.ok(found.filter((kind) => kind === 'open').length >= 36, found.join());
  });

  it('believes seconds less that follow the one before', () => {
    // A queue that wanders, and comes back.
    let wandering = 0;
    const random = seededRandom(3);
    const found = seconds(100, () =>
      kindOf(seconds(28, () => 50_000 + (wandering = 0.85 * wandering + 3000 * normal(random)))),
    );
    assert.ok(found.filter((kind) => kind === 'grows').length <= 8, found.join());
  });

  it('needs five seconds in which something arrived', () => {
    assert.equal(growthOf([100_000, 600_000, 900_000, 1_200_000]), undefined);
    assert.equal(
      growthOf(
        seconds(9, (at) => 100_000 * at),
        0,
      ),
      undefined,
    );
  });

  it('looks at whole seconds of the measured time alone', () => {
    const watch = new BacklogWatch(1_500_000, 7_200_000, 0.05);
    const ticks = [0, 0, 1, 2, 3, 4, 5, 900];
    ticks.forEach((ms, at) =>
      watch.tick({ tick: at + 1, received: 1, latencyUs: { ...noLatency, p50: ms * 100_000 } }),
    );
    assert.ok(Math.abs(watch.growth()!.middle - 0.1) < 1e-9);
  });

  it('never says anything that contradicts itself', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3_000_000), { maxLength: 40 }), (p50s) => {
        const growth = growthOf(p50s);
        if (growth === undefined) return;
        const { kind, low, middle, high, limit } = growth;
        assert.ok(Number.isFinite(middle) && low <= middle && middle <= high);
        assert.equal(kind, low > limit ? 'grows' : high <= limit ? 'stays' : 'open');
      }),
    );
  });
});
