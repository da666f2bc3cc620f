import assert from 'node:assert/strict';
import type { Span } from '../../../../src/wire/message/hubCodec';
import { codecForProtocol } from '../../../../src/wire/connect/connectHub';
import {
  itemDigits,
  itemKey,
  recordLatencyShape,
  streamIdLength,
  streamLayoutFor,
  type MessageLayout,
} from '../../../../src/wire/message/messageLayout';
import {
  holeLengths,
  MessageTemplate,
  type SenderFields,
} from '../../../../src/wire/message/messageTemplate';
import { emptyStamp, stampLength, writeStamp } from '../../../../src/wire/message/stamp';
import { onlyClientFrame } from '../../../fakes/frames';

const stamp = { ...emptyStamp(), sequence: 5 };
const stampBytes = Buffer.alloc(stampLength);
writeStamp(stampBytes, 0, stamp);
const [id, streamId] = ['i0000000f', 'u0000000f'];
const unixMs = 1_700_000_000_000;
const lengths = holeLengths(undefined);

/** The dictionary of a stream's item. */
const content = (binary: boolean, blob = 'ä"x') =>
  recordLatencyShape({ method: 'Any', blob, binary }).arguments[0]!;
const number = (value: number) => ({ kind: 'value', value }) as const;

for (const protocol of ['json', 'messagepack'] as const) {
  describe(`stream messages in ${protocol}`, () => {
    const codec = codecForProtocol(protocol);
    const layout = streamLayoutFor(protocol);

    /** What a message says with its holes filled, framed and bare. */
    function decoded(message: MessageLayout, more: Partial<SenderFields> = {}): unknown {
      const ids = { callId: Buffer.from(id), streamId: Buffer.from(streamId) };
      const read = (framed: boolean): unknown => {
        const template = new MessageTemplate(message, codec, framed);
        const other = Buffer.alloc(streamIdLength, 0x61);
        const fill = (source: SenderFields, sequence: number, nowMs: number): Buffer =>
          template.fill({ ...stamp, sequence }, undefined, nowMs, source);
        // A second filling overwrites the first.
        fill({ index: 0, callId: other, streamId: other, itemCount: 9_999_999 }, 1, 1);
        const given = fill({ index: 0, ...ids, ...more }, stamp.sequence, unixMs);
        const before = Buffer.from(given);
        template.detach();
        fill({ index: 0, callId: other, streamId: other }, 2, 2);
        assert.deepEqual(given, before, 'a frame that was given away stays as it is');
        const bytes = framed ? onlyClientFrame(given).payload : given;
        const span: Span = { start: 0, end: 0, next: 0 };
        codec.find(bytes, 0, bytes.length, span);
        assert.equal(span.next, bytes.length);
        return codec.read(bytes, span.start, span.end);
      };
      const said = read(true);
      assert.deepEqual(read(false), said);
      return said;
    }

    const dictionary = {
      'bench.Stamp': stampBytes.toString('latin1'),
      'payload.Timestamp': unixMs,
      'payload.MessageBlob': 'ä"x',
    };

    it('call, carry items, end and cancel', () => {
      const shape = (method: string, args: readonly ReturnType<typeof number>[], down: boolean) =>
        codec.layout({ method, arguments: args, opens: { down, up: true } }, lengths);
      const opening = { invocationId: id, target: 'StreamingEcho', arguments: [5] };
      assert.deepEqual(decoded(shape('StreamingEcho', [number(5)], true)), {
        ...{ type: 4, ...opening, streamIds: [streamId] },
      });
      assert.deepEqual(decoded(shape('Up', [], false)), {
        ...{ type: 1, invocationId: id, target: 'Up', arguments: [], streamIds: [streamId] },
      });
      const count = { kind: 'number', hole: 'itemCount' } as const;
      const args = [content(false), count, number(300)];
      const opens = { down: true, up: false };
      const down = codec.layout({ method: 'Down', arguments: args, opens }, lengths);
      for (const itemCount of [1, 1_000_000]) {
        assert.deepEqual(decoded(down, { itemCount }), {
          ...{ type: 4, invocationId: id, target: 'Down', arguments: [dictionary, itemCount, 300] },
        });
      }
      assert.deepEqual(decoded(layout.item(content(false), lengths)), {
        ...{ type: 2, invocationId: streamId, item: dictionary },
      });
      assert.deepEqual(decoded(layout.end), { type: 3, invocationId: streamId });
      assert.deepEqual(decoded(layout.cancel), { type: 5, invocationId: id });
    });

    it('begin as the hub writes items', () => {
      for (const [form, item, widths] of [
        [layout.echoed, dictionary, [streamIdLength]],
        [layout.numbered, { [itemKey]: '0000000a', ...dictionary }, [streamIdLength, itemDigits]],
        [layout.begins, dictionary, [streamIdLength]],
      ] as const) {
        const message = codec.encode({ type: 2, invocationId: id, item });
        const span: Span = { start: 0, end: 0, next: 0 };
        codec.find(message, 0, message.length, span);
        const begin = Buffer.from(message.subarray(span.start, span.start + form.body.length));
        assert.deepEqual(
          form.holes.map(({ length }) => length),
          widths,
        );
        for (const { at, length } of form.holes) begin.fill(0, at, at + length);
        assert.deepEqual(begin, form.body);
        const behind = span.start + form.body.length;
        if (form !== layout.begins)
          assert.deepEqual(message.subarray(behind, behind + stampLength), stampBytes);
      }
    });

    it('refuse bytes that do not fit', () => {
      const template = new MessageTemplate(layout.cancel, codec, true);
      const source = { index: 0, callId: Buffer.alloc(3) };
      assert.throws(() => template.fill(stamp, undefined, unixMs, source), /do not fit/);
    });
  });
}

it('payloads of streams go out as bytes where the protocol has them', () => {
  const { item } = streamLayoutFor('messagepack');
  const [text, binary] = [false, true].map((bytes) => item(content(bytes, 'x'), lengths).body);
  assert.equal(binary!.at(-3), 0xc4);
  assert.equal(text!.at(-2), 0xa1);
});
