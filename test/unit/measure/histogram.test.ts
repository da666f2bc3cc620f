import assert from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import * as fc from 'fast-check';
import { build, decodeFromCompressedBase64, encodeIntoCompressedBase64 } from 'hdr-histogram-js';
import {
  decodeHistogram,
  lastBucket,
  LatencyHistogram,
  bucketStartUs,
  bucketOf,
  packCounts,
  unpackCounts,
} from '../../../src/measure/histogram';

const latencies = fc.oneof(
  fc.integer({ min: 0, max: 5000 }),
  fc.integer({ min: 0, max: 10_000_000 }),
  fc.integer({ min: 0, max: 3_600_000_000 }),
);
const recorded = (values: readonly number[]): LatencyHistogram => {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
};
const shares = [0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];

/** Value at a rank, by definition. */
function exactAt(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length - 1e-9) - 1)]!;
}

describe('LatencyHistogram', () => {
  it('has at each share what the library has there', () => {
    const list = fc.array(latencies, { minLength: 1, maxLength: 300 });
    const share = fc.integer({ min: 1, max: 10_000 }).map((part) => part / 10_000);
    const property = fc.property(list, share, (values, at) => {
      const library = build({
        lowestDiscernibleValue: 1,
        highestTrackableValue: 3_600_000_000,
        numberOfSignificantValueDigits: 3,
        bitBucketSize: 32,
        useWebAssembly: false,
      });
      for (const value of values) library.recordValue(value);
      const wanted = library.getValueAtPercentile(at * 100);
      const bounded = Math.max(Math.min(...values), Math.min(Math.max(...values), wanted));
      assert.equal(recorded(values).valueAtShare(at), bounded);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('is the same packed, and takes further values', () => {
    const list = fc.array(latencies, { maxLength: 60 });
    const packing = fc.property(list, list, list, (first, second, third) => {
      const packed = recorded(first);
      packed.pack();
      packed.pack();
      packed.add(recorded(second).counts());
      packed.pack();
      for (const value of third) packed.record(value);
      packed.pack();
      const whole = recorded([...first, ...second, ...third]);
      assert.equal(packed.encode(), whole.encode());
      packed.pack();
      assert.deepEqual(packed.summary(), whole.summary());
      packed.pack();
      assert.deepEqual(packed.take(true), whole.take(true));
      assert.equal(packed.count, 0);
    });
    fc.assert(packing);
  });

  it('gives the same however its values were spread over workers and merged', () => {
    const lists = fc.array(fc.array(latencies, { maxLength: 60 }), { minLength: 1, maxLength: 5 });
    const merging = fc.property(lists, (parts) => {
      const merged = new LatencyHistogram();
      for (const part of parts) merged.add(recorded(part).counts());
      const whole = recorded(parts.flat());
      assert.deepEqual(merged.counts(), whole.counts());
      assert.deepEqual(merged.summary(), whole.summary());
      assert.equal(merged.encode(), whole.encode());
      assert.equal(merged.count, parts.flat().length);
    });
    fc.assert(merging, { numRuns: 60 });
  });

  it('keeps minimum, maximum and mean exactly and percentiles within 0.1 %', () => {
    const values = fc.array(latencies, { minLength: 1, maxLength: 300 });
    const accurate = fc.property(values, (list) => {
      const histogram = recorded(list);
      const sorted = [...list].sort((a, b) => a - b);
      const { count, min, max, mean } = histogram.summary();
      const sum = list.reduce((total, value) => total + value, 0);
      assert.deepEqual([count, min, max], [list.length, sorted[0], sorted.at(-1)]);
      assert.ok(Math.abs(mean - sum / list.length) <= 0.05 + 1e-6);
      for (const share of shares) {
        const exact = exactAt(sorted, share);
        const found = histogram.valueAtShare(share);
        assert.ok(Math.abs(found - exact) <= exact * 0.001, `${share}: ${found}, not ${exact}`);
      }
      assert.equal(histogram.valueAtShare(1), sorted.at(-1));
    });
    fc.assert(accurate, { numRuns: 150 });
  });

  it('has the places of HdrHistogram', () => {
    const theirs = build({
      ...{ bitBucketSize: 32 as const, numberOfSignificantValueDigits: 3 as const },
      ...{ lowestDiscernibleValue: 1, highestTrackableValue: 3_600_000_000 },
    }) as unknown as Record<'countsArrayIndex' | 'valueFromIndex', (value: number) => number>;
    const same = (us: number): void => assert.equal(bucketOf(us), theirs.countsArrayIndex(us));
    for (let place = 0; place <= lastBucket; place++) {
      const us = bucketStartUs(place);
      assert.equal(us, theirs.valueFromIndex(place));
      assert.equal(bucketOf(us), place);
    }
    fc.assert(fc.property(latencies, same), { numRuns: 1000 });
    for (let us = 2048; us < 3_600_000_000; us *= 2) for (const by of [-1, 0, 1]) same(us + by);
    same(3_600_000_000);
  });

  it('can be read by every HdrHistogram library', () => {
    const values = Array.from({ length: 1000 }, (_, at) => at * at);
    const histogram = recorded(values);
    const decoded = decodeFromCompressedBase64(histogram.encode());
    assert.equal(decoded.totalCount, 1000);
    assert.ok(Math.abs(decoded.getValueAtPercentile(99) - 989 ** 2) <= 989 ** 2 * 0.001);
    assert.equal(decodeFromCompressedBase64(new LatencyHistogram().encode()).totalCount, 0);
  });

  it('rounds fractions, takes negative values for 0 and caps at an hour', () => {
    const { min, max, count } = recorded([1.5, 0.4]).summary();
    assert.deepEqual([min, max, count], [0, 2, 2]);
    assert.equal(recorded([-5]).summary().max, 0);
    assert.equal(recorded([1e12]).summary().max, 3_600_000_000);
  });

  it('says 0 when nothing was recorded, and again after its counts were taken', () => {
    const histogram = recorded([5, 6, 7]);
    histogram.take(true);
    const empty = new LatencyHistogram();
    assert.deepEqual(histogram.summary(), empty.summary());
    assert.deepEqual(histogram.counts(), empty.counts());
    assert.deepEqual([empty.valueAtShare(0.5), empty.valueAtShare(1)], [0, 0]);
    const untouched = recorded([9]);
    untouched.add(empty.counts());
    assert.deepEqual(untouched.summary(), recorded([9]).summary());
  });

  it('hands over plain data that can be cloned', () => {
    const counts = recorded([1, 1, 1000]).counts();
    assert.deepEqual(structuredClone(counts), counts);
    assert.deepEqual([...counts.pairs], [1, 2, 1000, 1]);
  });

  it('reads back what it wrote', () => {
    const same = fc.property(
      fc.array(fc.integer({ min: 0, max: 4e9 }), { maxLength: 300 }),
      (us) => {
        const histogram = recorded(us);
        const decoded = decodeHistogram(histogram.encode());
        assert.equal(decoded.count, histogram.count);
        for (const share of [0.5, 0.9, 0.99, 1]) {
          const [is, was] = [decoded.valueAtShare(share), histogram.valueAtShare(share)];
          assert.ok(Math.abs(is - was) <= was * 0.001 + 1, `${share}: ${is} for ${was}`);
        }
      },
    );
    fc.assert(same, { numRuns: 100 });
  });

  it('refuses what is no histogram of ours, whatever it is', () => {
    const whole = recorded([1, 2, 3000]).encode();
    const bomb = deflateSync(Buffer.alloc(5_000_000)).toString('base64');
    const texts = ['', 'HISTFAAAAA==', 'not base64!', `HISTFAAAQHh${bomb}`, whole.slice(0, 30)];
    for (const text of [...texts, 'A'.repeat(2_000_000), otherLayout()]) {
      assert.throws(() => decodeHistogram(text), { code: 'histogram-damaged' }, text.slice(0, 40));
    }
    const anything = fc.property(
      fc.nat({ max: whole.length - 1 }),
      fc.nat({ max: 63 }),
      (at, to) => {
        const letter = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'[to]!;
        try {
          decodeHistogram(whole.slice(0, at) + letter + whole.slice(at + 1));
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'histogram-damaged');
        }
      },
    );
    fc.assert(anything, { numRuns: 200 });
  });
});

describe('packed counts', () => {
  it('are those that were packed', () => {
    const same = fc.property(fc.array(latencies, { maxLength: 200 }), (values) => {
      const { pairs } = recorded(values).counts();
      assert.deepEqual(unpackCounts(packCounts(pairs)), pairs);
    });
    fc.assert(same, { numRuns: 200 });
  });

  it('bear large counts and the longest latency', () => {
    const pairs = Float64Array.from([0, 1, 1, 2 ** 30, 2048, 127, 3_598_712_832, 2 ** 31 - 1]);
    assert.deepEqual(unpackCounts(packCounts(pairs)), pairs);
  });

  it('take a byte for a place with few values', () => {
    const dense = recorded(Array.from({ length: 3000 }, (_, at) => at % 1500));
    assert.equal(packCounts(dense.counts().pairs).length, 1500);
  });

  it('are refused or fit a histogram, whatever the bytes are', () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    const safe = fc.property(bytes, (some) => {
      const pairs = unpackCounts(some);
      if (pairs === undefined) return;
      const histogram = new LatencyHistogram();
      histogram.add({ pairs, minUs: 0, maxUs: 0, sumUs: 0 });
      assert.deepEqual(histogram.counts().pairs, pairs);
    });
    fc.assert(safe, { numRuns: 2000 });
  });

  it('are refused beyond the last place, and cut off', () => {
    for (const bytes of [
      [0xff, 0xff, 0x7f, 2],
      [0x80],
      Array<number>(12).fill(0xff),
      [0x80, 0x80, 0x80, 0x80, 0x10],
      [...Array<number>(9).fill(0x80), 0],
    ])
      assert.equal(unpackCounts(Uint8Array.from(bytes)), undefined, bytes.join());
  });
});

/** A histogram of two digits, which another tool may write. */
function otherLayout(): string {
  const histogram = build({ numberOfSignificantValueDigits: 2 });
  histogram.recordValue(5);
  return encodeIntoCompressedBase64(histogram);
}
