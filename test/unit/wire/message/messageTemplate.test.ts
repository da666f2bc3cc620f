import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  clientFrame,
  clientHeaderLength,
  opcode,
  serverHeaderLength,
} from '../../../../src/wire/socket/frame';
import { jsonCodec } from '../../../../src/wire/message/hubCodec';
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

/** The one hub message in a frame, its stamp read. */
function decoded(frame: Buffer): { message: unknown; stamp: Stamp; dictionary: Fields } {
  const { code, payload } = onlyClientFrame(frame);
  assert.equal(code, opcode.text);
  const text = payload.toString('utf8');
  assert.equal(text.indexOf('\x1e'), text.length - 1);
  const message = JSON.parse(text.slice(0, -1)) as { arguments: [Fields] };
  const [dictionary] = message.arguments;
  const stamp = emptyStamp();
  assert.ok(readStamp(Buffer.from(String(dictionary[stampKey])), 0, stamp));
  return { message, stamp, dictionary };
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
    const ids = fc.string({ unit: fc.constantFrom(...Array.from('abcXYZ019_-')), maxLength: 200 });
    const sizes = fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 65_300, max: 65_700 }),
      fc.integer({ min: 1, max: 70_000 }),
    );
    const property = fc.property(sizes, ids, fc.integer({ min: 1, max: 40 }), (size, id, fills) => {
      const blob = 'b'.repeat(size);
      const template = MessageTemplate.of(
        recordLatencyShape({
          method: 'SendToClient',
          receiverKey: 'information.ConnectionId',
          blob,
        }),
        lengthsOf(id.length),
        jsonCodec,
      );
      for (let fill = 1; fill <= fills; fill++) {
        const receiver = fill === fills ? id : 'z'.repeat(id.length);
        const nowMs = 1_800_000_000_000 + (fill >> 1);
        const frame = template.fill(stampOf(fill), Buffer.from(receiver), nowMs);
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
    fc.assert(property, { numRuns: 120 });
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
