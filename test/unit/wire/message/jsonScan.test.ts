import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { SeededRandom } from '../../../fakes/seededBytes';
import { isJson } from '../../../../src/wire/message/jsonScan';

describe('JSON scanner', () => {
  /** Whether JSON.parse takes it; no white space of other kinds comes into these texts. */
  function parses(bytes: Buffer): boolean {
    try {
      JSON.parse(bytes.toString('utf8'));
      return isUtf8(bytes);
    } catch {
      return false;
    }
  }

  it('accepts what JSON.parse accepts', () => {
    const words = String.raw`"" "\u00e4\uD800" "\"\\\/\b\f\n\r\t" "\x" "\u12g4" "\u123" "\u12 "\
      0 -0 - 01 1. .5 1e5 1e 1E+05 +1 NaN Infinity true truex True nul null
      [1,] {"a":1,} {"a"} []]`.split(/\s+/);
    const texts = [...words, '"\x00"', '"\x1f"', '"\n"', '"\x7f\u2028ä😀"', ' [ ] ', ''];
    for (const text of texts) {
      const bytes = Buffer.from(text);
      assert.equal(isJson(bytes), parses(bytes), JSON.stringify(text));
    }
    assert.equal(isJson(Buffer.from([0x22, 0xff, 0x22])), false);
  });

  it('bounds the depth, so that a value fits into a message', () => {
    const nested = (depth: number): Buffer => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    assert.deepEqual(
      [63, 64, 100_000].map((depth) => isJson(nested(depth))),
      [true, false, false],
    );
  });

  it('finds every special byte at every place of a long string', () => {
    for (let shift = 0; shift < 4; shift++) {
      for (let length = 60; length < 140; length++) {
        const bytes = Buffer.alloc(shift + length + 2, 'é').subarray(shift);
        for (let at = 0; at < bytes.length; at++) bytes[at] = 0x61;
        bytes[0] = 0x22;
        bytes[length + 1] = 0x22;
        assert.equal(isJson(bytes), true, `${shift} ${length}`);
        for (const special of [0x00, 0x1f, 0x22, 0x5c]) {
          for (let at = Math.max(1, length - 8); at <= length; at++) {
            bytes[at] = special;
            assert.equal(isJson(bytes), parses(bytes), `${shift} ${length} ${at} ${special}`);
            bytes[at] = 0x61;
          }
        }
      }
    }
  });

  it('agrees with JSON.parse on random changes of a text', () => {
    const random = new SeededRandom();
    const text = `{"a":[1.5e-3,true,null,{"b\\u00e9":"${'x'.repeat(90)}\\n"}],"c":"é😀"}`;
    for (let round = 0; round < 5000; round++) {
      const bytes = Buffer.from(text);
      for (let changes = 1 + random.below(3); changes > 0; changes--)
        bytes[random.below(bytes.length)] = random.below(256);
      assert.equal(
        isJson(bytes),
        parses(bytes),
        `seed ${random.seed} round ${round}: ${bytes.toString('hex')}`,
      );
    }
  });
});
