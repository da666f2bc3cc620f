import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { PairTable, SequenceTracker, type Arrival } from '../../../src/measure/sequence';

interface Delivery {
  readonly receiver: number;
  readonly source: number;
  readonly sequence: number;
}

/** The definition, at the cost of remembering everything. */
class BruteForce {
  private readonly seen = new Map<string, Set<number>>();

  arrived({ receiver, source, sequence }: Delivery): Arrival {
    const key = `${receiver} ${source}`;
    const before = this.seen.get(key) ?? new Set();
    this.seen.set(key, before);
    if (before.has(sequence)) return 'duplicate';
    const newest = Math.max(-1, ...before);
    before.add(sequence);
    return sequence > newest ? 'first' : 'outOfOrder';
  }
}

/** Streams of a few pairs: messages lost, sent twice and overtaken. */
const deliveries = fc
  .array(
    fc.record({
      receiver: fc.nat(1),
      source: fc.constantFrom(0, 2 ** 26 - 1),
      sequence: fc.nat(15),
    }),
    { maxLength: 100, size: 'max' },
  )
  .chain((list) =>
    fc.record({
      // Mostly in order, as a real stream is.
      list: fc.constantFrom(
        list,
        [...list].sort((a, b) => a.sequence - b.sequence),
      ),
      capacity: fc.integer({ min: 1, max: 50 }),
    }),
  );

describe('SequenceTracker', () => {
  it('judges every arrival as brute force does', () => {
    const same = fc.property(deliveries, ({ list, capacity }) => {
      const tracker = new SequenceTracker(capacity);
      const model = new BruteForce();
      for (const delivery of list) {
        const { receiver, source, sequence } = delivery;
        const expected = model.arrived(delivery);
        assert.equal(tracker.classify(receiver, source, sequence), expected);
      }
    });
    fc.assert(same, { numRuns: 500 });
  });

  it('counts each message once, whatever comes twice or late', () => {
    const tracker = new SequenceTracker();
    const counts = { first: 0, outOfOrder: 0, duplicate: 0 };
    for (const sequence of [0, 1, 4, 4, 2, 2, 0, 7, 3])
      counts[tracker.classify(9, 5, sequence)] += 1;
    assert.deepEqual(counts, { first: 4, outOfOrder: 2, duplicate: 3 });
  });

  it('survives a gap that no memory could hold', () => {
    const tracker = new SequenceTracker();
    assert.equal(tracker.classify(1, 1, 2_000_000_000), 'first');
    assert.equal(tracker.classify(1, 1, 5), 'outOfOrder');
    assert.equal(tracker.classify(1, 1, 5), 'duplicate');
    assert.equal(tracker.classify(1, 1, 2_000_000_001), 'first');
    // Beyond the numbers that are remembered, late ones look like duplicates.
    assert.equal(tracker.classify(1, 1, 1_500_000_000), 'duplicate');
    assert.equal(tracker.classify(2, 1, 0), 'first');
  });
});

/** Finding a slot may replace the array of values, so the slot comes first. */
function valueAt(table: PairTable, first: number, second: number): number | undefined {
  const slot = table.slot(first, second);
  return table.values[slot];
}

describe('PairTable', () => {
  it('holds what a map holds, however often it grows', () => {
    const pairs = fc.array(
      fc.tuple(fc.nat(2 ** 31 - 1), fc.nat(2 ** 31 - 1), fc.integer({ min: 1, max: 1000 })),
      { maxLength: 300 },
    );
    const near = fc.array(fc.tuple(fc.nat(30), fc.nat(30), fc.integer({ min: 1, max: 9 })), {
      maxLength: 600,
    });
    const same = fc.property(
      fc.oneof(pairs, near),
      fc.integer({ min: 1, max: 40 }),
      (list, size) => {
        const table = new PairTable(size);
        const map = new Map<string, number>();
        for (const [first, second, add] of list) {
          const slot = table.slot(first, second);
          table.values[slot]! += add;
          map.set(`${first} ${second}`, (map.get(`${first} ${second}`) ?? 0) + add);
        }
        for (const [first, second] of list)
          assert.equal(valueAt(table, first, second), map.get(`${first} ${second}`));
        assert.equal(valueAt(table, 31, 31), map.get('31 31') ?? 0);
      },
    );
    fc.assert(same, { numRuns: 300 });
  });

  it('gives new pairs 0', () => {
    const table = new PairTable(1);
    for (let first = 0; first < 1000; first++) {
      const slot = table.slot(first, 0);
      assert.equal(table.values[slot], 0);
      table.values[slot] = first + 1;
    }
    assert.equal(valueAt(table, 999, 0), 1000);
    assert.equal(valueAt(table, 0, 999), 0);
  });
});
