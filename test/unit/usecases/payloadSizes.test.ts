import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { payloadOf } from '../../../src/usecases/useCase';
import { parsePayloadSizes } from '../../../src/usecases/payloadSizes';

const sizesOf = (text: string): number[] => {
  const read = parsePayloadSizes(text);
  assert.ok('sizes' in read, text);
  return read.sizes.map(({ bytes }) => bytes);
};
const meanOf = (text: string): number => payloadOf({ messageSizes: text }).meanBytes;

describe('parsePayloadSizes', () => {
  it('reads a range as evenly spread sizes around its middle', () => {
    const sizes = sizesOf('1KB-4KB');
    assert.equal(sizes.length, 16);
    assert.deepEqual([sizes[0], sizes[1], sizes[15]], [1120, 1312, 4000]);
    for (const text of ['1KB-4KB', '1024 - 4096', '1KB..4KB', '1KB – 4KB']) {
      assert.equal(meanOf(text), 2560, text);
    }
  });

  it('reads sizes with weights, shares or neither', () => {
    assert.deepEqual(sizesOf('256B 90%, 16KB 10%'), [256, 16_384]);
    assert.equal(meanOf('256B 90%, 16KB 10%'), Math.round(256 * 0.9 + 1638.4));
    assert.equal(meanOf('256B 9, 16KB 1'), meanOf('256 90%, 16KB 10%'));
    assert.equal(meanOf('100, 300'), 200);
    assert.equal(meanOf('2KB'), 2048);
  });

  it('says what is wrong', () => {
    for (const [text, message] of [
      ['', /Write a range such as/],
      ['big', /Write a range such as/],
      ['1KB-', /Write a range such as/],
      ['256B 90%; 16KB 10%', /Write a range such as/],
      ['4KB-1KB', /begins with its smaller size/],
      ['0-10', /from 1 byte to 16 MB/],
      ['1KB-17MB', /from 1 byte to 16 MB/],
      ['20MB', /from 1 byte to 16 MB/],
      ['1KB 0', /weight of each size must be above 0/],
      ['16MB, 16MB, 16MB, 16MB, 1B', /must not exceed 64 MB/],
      [Array<string>(17).fill('1B').join(','), /At most 16 sizes/],
    ] as const) {
      const read = parsePayloadSizes(text);
      assert.ok('problem' in read, text);
      assert.match(read.problem, message);
    }
  });

  it('never throws, and never gives a size out of bounds', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.stringMatching(/^[0-9.]{1,10}(B|KB|MB)?( [0-9]{1,3}%?)?(, ?[0-9]{1,4}KB)?$/),
    );
    const bounded = fc.property(text, (written) => {
      const read = parsePayloadSizes(written);
      if ('problem' in read) return;
      for (const { bytes, weight } of read.sizes) {
        assert.ok(Number.isInteger(bytes) && bytes >= 1 && bytes <= 16 * 1024 * 1024, written);
        assert.ok(weight > 0 && Number.isFinite(weight), written);
      }
    });
    fc.assert(bounded, { numRuns: 500 });
  });
});
