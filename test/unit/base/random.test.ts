import assert from 'node:assert/strict';
import fc from 'fast-check';
import { derangement, seededRandom, shuffled } from '../../../src/base/random';

const seeds = fc.integer({ min: 0, max: 0xffffffff });
const run = <T>(values: fc.Arbitrary<T>, test: (value: T) => void): void =>
  fc.assert(fc.property(values, test), { numRuns: 200 });

const isPermutation = (order: Uint32Array, count: number): boolean =>
  order.length === count &&
  [...order].sort((a, b) => a - b).every((value, index) => value === index);

describe('random numbers', () => {
  it('are the same for the same seed and differ for another', () => {
    const take = (seed: number): number[] => {
      const random = seededRandom(seed);
      return Array.from({ length: 20 }, () => random.next());
    };
    assert.deepEqual(take(1), take(1));
    assert.notDeepEqual(take(1), take(2));
    assert.deepEqual(take(1), take(1 + 2 ** 32));
  });

  it('lie in [0, 1), and below a bound in whole numbers', () => {
    run(fc.tuple(seeds, fc.integer({ min: 1, max: 1_000_000 })), ([seed, bound]) => {
      const random = seededRandom(seed);
      for (let index = 0; index < 20; index++) {
        const value = random.next();
        assert.ok(value >= 0 && value < 1);
        const whole = random.below(bound);
        assert.ok(Number.isInteger(whole) && whole >= 0 && whole < bound);
      }
    });
  });

  it('are spread evenly', () => {
    const random = seededRandom(7);
    const counts = new Array<number>(10).fill(0);
    for (let index = 0; index < 100_000; index++) counts[random.below(10)]! += 1;
    // Nine degrees of freedom: above 27.9 with a probability of 0.001.
    const chiSquare = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    assert.ok(chiSquare < 27.9, String(chiSquare));
  });
});

describe('a shuffle', () => {
  it('holds every number once', () => {
    run(fc.tuple(seeds, fc.nat(200)), ([seed, count]) => {
      assert.ok(isPermutation(shuffled(count, seededRandom(seed)), count));
    });
  });

  it('gives every order of three equally often', () => {
    const random = seededRandom(3);
    const counts = new Map<string, number>();
    for (let index = 0; index < 12_000; index++) {
      const order = shuffled(3, random).join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    assert.equal(counts.size, 6);
    for (const count of counts.values()) assert.ok(Math.abs(count - 2000) < 200, String(count));
  });
});

describe('a derangement', () => {
  it('holds every number once and none at its own place', () => {
    run(fc.tuple(seeds, fc.integer({ min: 2, max: 200 })), ([seed, count]) => {
      const order = derangement(count, seededRandom(seed));
      assert.ok(isPermutation(order, count));
      assert.ok(order.every((value, index) => value !== index));
    });
  });

  it('of one or none is all there is', () => {
    assert.deepEqual([...derangement(1, seededRandom(1))], [0]);
    assert.deepEqual([...derangement(0, seededRandom(1))], []);
  });

  it('is the same for the same seed', () => {
    assert.deepEqual(derangement(50, seededRandom(9)), derangement(50, seededRandom(9)));
  });
});
