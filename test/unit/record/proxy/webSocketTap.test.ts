import assert from 'node:assert/strict';
import { FrameTap } from '../../../../src/record/proxy/webSocketTap';
import { clientCloseFrame, clientFrame, opcode } from '../../../../src/wire/socket/frame';
import { serverFrame } from '../../../fakes/frames';
import { SeededRandom } from '../../../fakes/seededBytes';

describe('a tap on the frames of a web socket', () => {
  const found: unknown[] = [];
  const tap = (maximumBytes?: number): FrameTap =>
    new FrameTap(
      {
        message: (payload, isText) => found.push(isText ? payload.toString('utf8') : [...payload]),
        tooLong: (bytes) => found.push({ bytes }),
        closed: (code, reason) => found.push({ code, reason }),
        broken: (why) => found.push({ why }),
      },
      maximumBytes,
    );
  beforeEach(() => (found.length = 0));

  it('reads messages of both sides, however their bytes are cut, and leaves the bytes alone', () => {
    const random = new SeededRandom();
    const long = 'x'.repeat(70_000);
    const bytes = Buffer.concat([
      clientFrame(opcode.text, Buffer.from('ä€😀')),
      serverFrame(opcode.binary, Buffer.from([1, 2, 3])),
      clientFrame(opcode.ping, Buffer.from('are you there')),
      serverFrame(opcode.text, Buffer.from('one '), { last: false }),
      clientFrame(opcode.pong, Buffer.alloc(0)),
      serverFrame(opcode.continuation, Buffer.from('message')),
      clientFrame(opcode.text, Buffer.from(long)),
      clientFrame(opcode.text, Buffer.alloc(0)),
      clientCloseFrame(1000),
    ]);
    const expected = ['ä€😀', [1, 2, 3], 'one message', long, '', { code: 1000, reason: '' }];
    for (let round = 0; round < 30; round++) {
      found.length = 0;
      const same = Buffer.from(bytes);
      const reader = tap();
      for (let at = 0; at < same.length;) {
        const size = 1 + random.below(round < 10 ? 5 : 40_000);
        reader.read(same.subarray(at, at + size));
        at += size;
      }
      assert.deepEqual(found, expected, `seed ${random.seed}`);
      assert.ok(same.equals(bytes));
    }
  });

  it('passes over what is too long, in one frame or in many', () => {
    const reader = tap(100);
    const frames = [
      serverFrame(opcode.text, Buffer.alloc(101, 'a')),
      serverFrame(opcode.text, Buffer.alloc(60, 'a'), { last: false }),
      serverFrame(opcode.continuation, Buffer.alloc(500, 'a'), { last: false }),
      serverFrame(opcode.continuation, Buffer.alloc(20, 'a')),
      serverFrame(opcode.text, Buffer.alloc(100, 'b')),
    ];
    for (const byte of Buffer.concat(frames)) reader.read(Buffer.from([byte]));
    assert.deepEqual(found, [{ bytes: 101 }, { bytes: 580 }, 'b'.repeat(100)]);
  });

  it('stops at what is no frame', () => {
    const wrong: readonly [Buffer, RegExp][] = [
      [Buffer.from([0xc1, 0]), /extension/],
      [Buffer.from([0x83, 0]), /opcode 3/],
      [Buffer.from([0x80, 0]), /order/],
      [Buffer.from([0x09, 0]), /control frame/],
    ];
    for (const [bytes, why] of wrong) {
      found.length = 0;
      const reader = tap();
      reader.read(Buffer.concat([bytes, serverFrame(opcode.text, Buffer.from('more'))]));
      assert.equal(found.length, 1);
      assert.match((found[0] as { why: string }).why, why);
    }
  });
});
