import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  emptyStamp,
  readStamp,
  stampLength,
  stampMarker,
  writeStamp,
  type Stamp,
} from '../../../../src/wire/message/stamp';

/** Whole numbers below a bound, its edges more often than chance would have them. */
const below = (bound: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.maxSafeInteger().map((value) => Math.abs(value) % bound),
    fc.constantFrom(0, 1, bound - 1, bound / 2, 0xff_ffff % bound, 0x100_0000 % bound),
  );
const stamps: fc.Arbitrary<Stamp> = fc
  .tuple(
    below(2 ** 32),
    below(0x8000),
    fc.boolean(),
    below(2 ** 26),
    below(2 ** 32),
    below(2 ** 44),
    below(2 ** 44),
  )
  .map(([runId, step, warmup, source, sequence, intendedUs, sentUs]) => {
    return { runId, step, warmup, source, sequence, intendedUs, sentUs };
  });

function written(stamp: Stamp): Buffer {
  const buffer = Buffer.alloc(stampLength + 4, '#');
  writeStamp(buffer, 2, stamp);
  assert.equal(buffer.toString('latin1', 0, 2) + buffer.toString('latin1', 56), '####');
  return buffer.subarray(2, 2 + stampLength);
}

describe('a stamp', () => {
  it('comes back as it was written, over the whole range', () => {
    const roundTrip = fc.property(stamps, (stamp) => {
      const read = emptyStamp();
      assert.ok(readStamp(written(stamp), 0, read));
      assert.deepEqual(read, stamp);
    });
    fc.assert(roundTrip, { numRuns: 2000 });
  });

  it('is letters and digits only, so that every serialiser leaves it alone', () => {
    const plain = fc.property(stamps, (stamp) => {
      assert.match(written(stamp).toString('latin1'), /^SB1[0-9a-f]{51}$/);
    });
    fc.assert(plain, { numRuns: 300 });
  });

  it('cuts times to whole microseconds', () => {
    const read = emptyStamp();
    const bytes = written({ ...emptyStamp(), intendedUs: 16_777_216.9, sentUs: 0.999 });
    assert.ok(readStamp(bytes, 0, read));
    assert.deepEqual([read.intendedUs, read.sentUs], [16_777_216, 0]);
  });

  it('is refused as soon as one of its characters is wrong', () => {
    const wrong = fc.property(
      stamps,
      fc.nat(stampLength - 1),
      fc.integer({ min: 0, max: 255 }),
      (stamp, at, value) => {
        const bytes = written(stamp);
        fc.pre(bytes[at] !== value);
        bytes[at] = value;
        assert.equal(readStamp(bytes, 0, emptyStamp()), false);
      },
    );
    fc.assert(wrong, { numRuns: 1000 });
  });

  it('is refused when it is cut off', () => {
    const bytes = written({ ...emptyStamp(), sequence: 5 });
    for (let length = 0; length < stampLength; length++)
      assert.equal(readStamp(bytes.subarray(0, length), 0, emptyStamp()), false, String(length));
  });

  it('is refused when there is garbage in its place', () => {
    const garbage = fc.property(
      fc.uint8Array({ minLength: stampLength, maxLength: stampLength }),
      (bytes) => {
        bytes.set(Buffer.from(stampMarker));
        fc.pre(!/^SB1[0-9a-f]+$/.test(Buffer.from(bytes).toString('latin1')));
        assert.equal(readStamp(bytes, 0, emptyStamp()), false);
      },
    );
    fc.assert(garbage, { numRuns: 500 });
  });
});
