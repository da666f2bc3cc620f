import assert from 'node:assert/strict';
import { NullLogger } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import * as fc from 'fast-check';
import {
  clientFrame,
  clientHeaderLength,
  opcode,
  serverHeaderLength,
} from '../../../../src/wire/socket/frame';
import { jsonCodec, messagePackCodec } from '../../../../src/wire/message/hubCodec';
import { recordLatencyShape } from '../../../../src/wire/message/messageLayout';
import { MessageTemplate } from '../../../../src/wire/message/messageTemplate';
import { emptyStamp, readStamp, stampKey, type Stamp } from '../../../../src/wire/message/stamp';
import { onlyClientFrame, serverFrame } from '../../../fakes/frames';

const stampOf = (sequence: number): Stamp => ({
  runId: 0xffff_0000 + (sequence & 0xffff),
  step: 3,
  warmup: sequence % 2 === 1,
  source: sequence % 1000,
  sequence,
  intendedUs: sequence * 1000,
  sentUs: sequence * 1000 + 17,
});

/** The one hub message in a frame, its stamp read; one in MessagePack as the official protocol reads it. */
function decoded(frame: Buffer): { message: unknown; stamp: Stamp; dictionary: Fields } {
  const { code, payload } = onlyClientFrame(frame);
  const message = (code === opcode.text ? textMessage : packedMessage)(payload);
  const [dictionary] = message.arguments;
  const stamp = emptyStamp();
  assert.ok(readStamp(Buffer.from(String(dictionary[stampKey])), 0, stamp));
  return { message, stamp, dictionary };
}
function textMessage(payload: Buffer): Call {
  const text = payload.toString('utf8');
  assert.equal(text.indexOf('\x1e'), text.length - 1);
  return JSON.parse(text.slice(0, -1)) as Call;
}
function packedMessage(payload: Buffer): Call {
  const bytes = new Uint8Array(payload).buffer;
  const [message, ...more] = new MessagePackHubProtocol().parseMessages(bytes, NullLogger.instance);
  assert.deepEqual(more, []);
  const { type, target, arguments: args } = message as unknown as Call;
  return { type, target, arguments: args };
}
interface Call {
  readonly type: number;
  readonly target: string;
  readonly arguments: [Fields];
}
type Fields = Record<string, unknown>;
const lengthsOf = (receiver: number) => ({ receiver, sender: 0, senderIndex: 1 });
const echoShape = recordLatencyShape({ method: 'Echo', blob: 'x' });

describe('client frames', () => {
  it('unmask to their payload at every width of length', () => {
    for (const size of [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]) {
      const payload = Buffer.from(Uint8Array.from({ length: size }, (_, at) => at & 255));
      const frame = clientFrame(opcode.binary, payload);
      assert.equal(frame.length, clientHeaderLength(size) + size);
      assert.deepEqual(onlyClientFrame(frame).payload, payload);
      assert.equal(serverFrame(opcode.binary, payload).length, serverHeaderLength(size) + size);
    }
  });

  it('have a mask of their own each', () => {
    const masks = Array.from({ length: 100 }, () =>
      onlyClientFrame(clientFrame(opcode.text, Buffer.alloc(1))).mask.toString('hex'),
    );
    assert.ok(new Set(masks).size > 95);
  });
});

describe('MessageTemplate', () => {
  it('decodes to exactly the invocation, for any size, receiver and number of fills', () => {
    const ids = fc.string({ unit: 'grapheme', maxLength: 100 });
    const sizes = fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 65_200, max: 65_700 }),
    );
    const codecs = fc.constantFrom(jsonCodec, messagePackCodec);
    const fillCounts = fc.integer({ min: 1, max: 20 });
    const property = fc.property(codecs, sizes, ids, fillCounts, (codec, size, id, fills) => {
      const bytes = codec.textBytes(id);
      const blob = 'b'.repeat(size);
      const template = MessageTemplate.of(
        recordLatencyShape({
          method: 'SendToClient',
          receiverKey: 'information.ConnectionId',
          blob,
        }),
        lengthsOf(bytes.length),
        codec,
      );
      for (let fill = 1; fill <= fills; fill++) {
        const receiver = fill === fills ? bytes : Buffer.alloc(bytes.length, 'z');
        const nowMs = 1_800_000_000_000 + (fill >> 1);
        const frame = template.fill(stampOf(fill), receiver, nowMs);
        assert.equal(frame.length, template.wireBytes);
        if (fill < fills) continue;
        const { message, stamp, dictionary } = decoded(frame);
        assert.deepEqual(stamp, stampOf(fill));
        assert.deepEqual(message, {
          type: 1,
          target: 'SendToClient',
          arguments: [
            {
              [stampKey]: dictionary[stampKey],
              'information.ConnectionId': id,
              'payload.Timestamp': nowMs,
              'payload.MessageBlob': blob,
            },
          ],
        });
      }
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('has no receiver when the method needs none', () => {
    const frame = MessageTemplate.of(echoShape, lengthsOf(0), jsonCodec).fill(
      stampOf(5),
      undefined,
      1_800_000_000_001,
    );
    assert.deepEqual(Object.keys(decoded(frame).dictionary), [
      stampKey,
      'payload.Timestamp',
      'payload.MessageBlob',
    ]);
  });

  it('has the payload as bytes on request, and begins as deliveries do, in MessagePack', () => {
    for (const size of [1, 255, 256, 70_000]) {
      const shape = recordLatencyShape({ method: 'Echo', blob: 'x'.repeat(size), binary: true });
      const template = MessageTemplate.of(shape, lengthsOf(0), messagePackCodec);
      const { dictionary } = decoded(template.fill(stampOf(1), undefined, 1));
      const payload = dictionary['payload.MessageBlob'];
      assert.ok(payload instanceof Uint8Array);
      assert.deepEqual(Buffer.from(payload), Buffer.alloc(size, 'x'));
    }
    const shape = recordLatencyShape({ method: 'RecordLatency', blob: '' });
    const template = MessageTemplate.of(shape, lengthsOf(0), messagePackCodec, false);
    const bytes = template.fill(stampOf(1), undefined, 1);
    const span = { start: 0, end: 0, next: 0 };
    messagePackCodec.find(bytes, 0, bytes.length, span);
    const start = messagePackCodec.callStart('RecordLatency');
    assert.deepEqual(bytes.subarray(span.start, span.start + start.length), start);
  });

  it('is the bare message where there are no frames', () => {
    const shape = recordLatencyShape({ method: 'M', receiverKey: 'k', blob: 'x' });
    const template = MessageTemplate.of(shape, lengthsOf(3), jsonCodec, false);
    const text = (sequence: number): string =>
      template.fill(stampOf(sequence), Buffer.from('one'), 1_800_000_000_001).toString('utf8');
    const framed = MessageTemplate.of(shape, lengthsOf(3), jsonCodec);
    for (const sequence of [1, 2]) {
      const frame = framed.fill(stampOf(sequence), Buffer.from('one'), 1_800_000_000_001);
      assert.equal(text(sequence), onlyClientFrame(frame).payload.toString('utf8'));
    }
    assert.equal(template.wireBytes, text(3).length);
  });

  it('leaves a frame alone that was given away', () => {
    const template = MessageTemplate.of(
      recordLatencyShape({ method: 'Echo', blob: 'x'.repeat(200) }),
      lengthsOf(0),
      jsonCodec,
    );
    const kept = template.fill(stampOf(1), undefined, 1_800_000_000_001);
    const before = Buffer.from(kept);
    template.detach();
    const next = template.fill(stampOf(2), undefined, 1_800_000_000_002);
    assert.deepEqual(kept, before);
    assert.deepEqual(decoded(next).stamp, stampOf(2));
    assert.equal(decoded(next).dictionary['payload.Timestamp'], 1_800_000_000_002);
  });

  it('masks each template differently', () => {
    const masks = Array.from({ length: 20 }, () =>
      onlyClientFrame(
        MessageTemplate.of(echoShape, lengthsOf(0), jsonCodec).fill(stampOf(1), undefined, 1),
      ).mask.toString('hex'),
    );
    assert.ok(new Set(masks).size > 15);
  });

  it('refuses a receiver of another length', () => {
    const template = MessageTemplate.of(
      recordLatencyShape({ method: 'M', receiverKey: 'k', blob: 'x' }),
      lengthsOf(3),
      jsonCodec,
    );
    assert.throws(() => template.fill(stampOf(1), Buffer.from('four'), 1), /do not fit/);
  });
});
