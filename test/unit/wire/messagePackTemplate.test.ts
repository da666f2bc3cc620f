import assert from 'node:assert/strict';
import { NullLogger } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import * as fc from 'fast-check';
import { opcode } from '../../../src/wire/socket/frame';
import { messagePackCodec } from '../../../src/wire/message/hubCodec';
import { recordLatencyShape, type ContractMessage } from '../../../src/wire/message/messageLayout';
import { MessageTemplate } from '../../../src/wire/message/messageTemplate';
import { emptyStamp, readStamp, stampKey, type Stamp } from '../../../src/wire/message/stamp';
import { onlyClientFrame } from '../../fakes/frames';

const stamp: Stamp = {
  runId: 0xffff_1234,
  step: 3,
  warmup: true,
  source: 77,
  sequence: 12_345,
  intendedUs: 5_000_000,
  sentUs: 5_000_017,
};
const nowMs = 1_800_000_000_001;

const templateOf = (message: ContractMessage, receiver = 0): MessageTemplate => {
  const lengths = { receiver, sender: 0, senderIndex: 1 };
  return MessageTemplate.of(recordLatencyShape(message), lengths, messagePackCodec);
};

/** The one invocation in a frame, as the official protocol reads it. */
function invocationIn(frame: Buffer): { target: string; dictionary: Record<string, unknown> } {
  const { code, payload } = onlyClientFrame(frame);
  assert.equal(code, opcode.binary);
  const bytes = new Uint8Array(payload).buffer;
  const [message, ...more] = new MessagePackHubProtocol().parseMessages(bytes, NullLogger.instance);
  assert.deepEqual(more, []);
  const { target, arguments: args } = message as unknown as {
    target: string;
    arguments: unknown[];
  };
  assert.equal(args.length, 1);
  return { target, dictionary: args[0] as Record<string, unknown> };
}

describe('MessageTemplate in MessagePack', () => {
  it('decodes to exactly the invocation, for any size, receiver and number of fills', () => {
    const ids = fc.string({ unit: 'grapheme', maxLength: 100 });
    const sizes = fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 65_200, max: 65_700 }),
    );
    const property = fc.property(sizes, ids, fc.integer({ min: 1, max: 20 }), (size, id, fills) => {
      const receiver = messagePackCodec.textBytes(id);
      const blob = 'b'.repeat(size);
      const shape = { method: 'SendToClient', receiverKey: 'information.ConnectionId', blob };
      const template = templateOf(shape, receiver.length);
      for (let fill = 0; fill < fills; fill++) {
        const wanted = { ...stamp, sequence: fill };
        const frame = template.fill(wanted, receiver, nowMs + fill);
        assert.equal(frame.length, template.wireBytes);
        const { target, dictionary } = invocationIn(frame);
        const found = emptyStamp();
        assert.ok(readStamp(Buffer.from(String(dictionary[stampKey])), 0, found));
        assert.deepEqual(found, wanted);
        assert.equal(target, 'SendToClient');
        assert.deepEqual(dictionary, {
          [stampKey]: dictionary[stampKey],
          'information.ConnectionId': id,
          'payload.Timestamp': nowMs + fill,
          'payload.MessageBlob': blob,
        });
      }
    });
    fc.assert(property, { numRuns: 100 });
  });

  it('has no receiver when the method needs none', () => {
    const { dictionary } = invocationIn(
      templateOf({ method: 'Echo', blob: 'x' }).fill(stamp, undefined, nowMs),
    );
    assert.deepEqual(Object.keys(dictionary), [
      stampKey,
      'payload.Timestamp',
      'payload.MessageBlob',
    ]);
  });

  it('sends the payload as bytes on request', () => {
    for (const size of [1, 255, 256, 70_000]) {
      const shape = { method: 'Echo', blob: 'x'.repeat(size), binary: true };
      const { dictionary } = invocationIn(templateOf(shape).fill(stamp, undefined, nowMs));
      const payload = dictionary['payload.MessageBlob'];
      assert.ok(payload instanceof Uint8Array);
      assert.deepEqual(Buffer.from(payload), Buffer.alloc(size, 'x'));
    }
  });

  it('begins as deliveries do, but for the method', () => {
    const frame = templateOf({ method: 'RecordLatency', blob: '' }).fill(stamp, undefined, nowMs);
    const { payload } = onlyClientFrame(frame);
    const span = { start: 0, end: 0, next: 0 };
    messagePackCodec.find(payload, 0, payload.length, span);
    const start = messagePackCodec.callStart('RecordLatency');
    assert.deepEqual(payload.subarray(span.start, span.start + start.length), start);
  });
});
