import assert from 'node:assert/strict';
import { HoleFrame, type FramePiece } from '../../../../src/wire/message/holeFrame';
import type { Span } from '../../../../src/wire/hub/hubCodec';
import { codecOf } from '../../../../src/wire/hub/codecs';
import { itemKey, streamLayoutOf } from '../../../../src/wire/message/streamLayout';
import { stampLength } from '../../../../src/wire/message/stamp';
import { onlyClientFrame } from '../../../fakes/frames';

const stamp = 's'.repeat(stampLength);
const [id, streamId] = ['i0000000f', 'u0000000f'];

for (const protocol of ['json', 'messagepack'] as const) {
  describe(`stream messages in ${protocol}`, () => {
    const codec = codecOf(protocol);
    const layout = streamLayoutOf(protocol);
    const time = layout.timestamp(1_700_000_000_000);

    /** What the pieces say with their holes filled, framed and bare. */
    function decoded(
      pieces: readonly FramePiece[],
      ...holes: readonly (string | Buffer)[]
    ): unknown {
      const read = (framed: boolean): unknown => {
        const frame = HoleFrame.of(pieces, codec, framed);
        // A second filling overwrites the first.
        for (const round of [0, 1]) {
          holes.forEach((bytes, hole) => {
            frame.put(hole, round === 0 ? Buffer.alloc(bytes.length, 0x61) : Buffer.from(bytes));
          });
        }
        const before = Buffer.from(frame.frame);
        const given = frame.frame;
        frame.detach();
        frame.put(0, Buffer.alloc(holes[0]!.length, 0x62));
        assert.deepEqual(given, before, 'a frame that was given away stays as it is');
        const bytes = framed ? onlyClientFrame(given).payload : given;
        const span: Span = { start: 0, end: 0, next: 0 };
        codec.find(bytes, 0, bytes.length, span);
        assert.equal(span.next, bytes.length);
        return codec.read(bytes, span.start, span.end);
      };
      const message = read(true);
      assert.deepEqual(read(false), message);
      return message;
    }

    const dictionary = {
      'bench.Stamp': stamp,
      'payload.Timestamp': 1_700_000_000_000,
      'payload.MessageBlob': 'ä"x',
    };
    const payload = { blob: 'ä"x', binary: false };

    it('call, carry items, end and cancel', () => {
      const opening = { invocationId: id, target: 'StreamingEcho', arguments: [5] };
      const both = layout.openUp('StreamingEcho', [5], true);
      assert.deepEqual(decoded(both, id, streamId), { type: 4, ...opening, streamIds: [streamId] });
      const up = layout.openUp('Up', [], false);
      assert.deepEqual(decoded(up, id, streamId), {
        ...{ type: 1, invocationId: id, target: 'Up', arguments: [], streamIds: [streamId] },
      });
      for (const count of [1, 1_000_000]) {
        const down = layout.openDown('Down', payload, 300);
        assert.deepEqual(decoded(down, id, stamp, time, layout.count(count)), {
          ...{ type: 4, invocationId: id, target: 'Down', arguments: [dictionary, count, 300] },
        });
      }
      assert.deepEqual(decoded(layout.item(payload), streamId, stamp, time), {
        ...{ type: 2, invocationId: streamId, item: dictionary },
      });
      assert.deepEqual(decoded(layout.end(), streamId), { type: 3, invocationId: streamId });
      assert.deepEqual(decoded(layout.cancel(), id), { type: 5, invocationId: id });
    });

    it('begin as the hub writes items', () => {
      for (const [form, item] of [
        [layout.echoed, dictionary],
        [layout.numbered, { [itemKey]: '0000000a', ...dictionary }],
      ] as const) {
        const message = codec.encode({ type: 2, invocationId: id, item });
        const span: Span = { start: 0, end: 0, next: 0 };
        codec.find(message, 0, message.length, span);
        let at = span.start;
        for (const piece of form) {
          if (typeof piece !== 'number')
            assert.deepEqual(message.subarray(at, at + piece.length), piece);
          at += typeof piece === 'number' ? piece : piece.length;
        }
        assert.equal(message.toString('latin1', at, at + stampLength), stamp);
      }
    });

    it('refuse bytes that do not fit', () => {
      const frame = HoleFrame.of(layout.cancel(), codec, true);
      assert.throws(() => frame.put(0, Buffer.alloc(3)), /do not fit/);
    });
  });
}

it('payloads of streams go out as bytes where the protocol has them', () => {
  const { item } = streamLayoutOf('messagepack');
  const [text, binary] = [false, true].map((bytes) => item({ blob: 'x', binary: bytes }).at(-1));
  assert.ok(Buffer.isBuffer(text) && Buffer.isBuffer(binary));
  assert.equal(binary.at(-3), 0xc4);
  assert.equal(text.at(-2), 0xa1);
});
