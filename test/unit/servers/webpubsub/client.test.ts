import { Delivery, AckIds, UnackedMessages } from '../../../../src/servers/webpubsub/client';
import { readJsonServerMessage } from '../../../fakes/pubSubFrames';
import { readProtobufServerMessage } from '../../../../src/wire/webpubsub/protobufMessages';
import { subprotocols, type DataMessage } from '../../../../src/wire/webpubsub/pubSubMessage';
import assert from 'node:assert/strict';
import fc from 'fast-check';

describe('a delivery of Web PubSub', () => {
  const message: DataMessage = {
    type: 'message',
    from: 'group',
    group: 'g',
    fromUserId: undefined,
    sequenceId: undefined,
    payload: { dataType: 'binary', bytes: Buffer.alloc(300, 7) },
  };

  /** The payload of an unmasked final frame of 126 to 65,535 bytes. */
  const payloadOf = (frame: Buffer, code: number): Buffer => {
    assert.deepEqual([frame[0], frame[1]], [0x80 | code, 126]);
    assert.equal(frame.readUInt16BE(2), frame.length - 4);
    return frame.subarray(4);
  };

  it('is encoded once for each form, and shared by all receivers', () => {
    const delivery = new Delivery(message);
    for (const subprotocol of [...subprotocols, undefined]) {
      assert.equal(delivery.frame(subprotocol), delivery.frame(subprotocol));
    }
    for (const subprotocol of subprotocols) {
      const [first, second] = [
        delivery.numbered(subprotocol, 1),
        delivery.numbered(subprotocol, 2),
      ];
      assert.equal(first[1], second[1]);
    }
    const [plain, reliable] = subprotocols;
    assert.equal(delivery.frame(plain), delivery.frame(reliable));
  });

  it('is the same message in all of them', () => {
    const delivery = new Delivery(message);
    for (const subprotocol of subprotocols) {
      const isJson = subprotocol.format === 'json';
      const read = isJson ? readJsonServerMessage : readProtobufServerMessage;
      const code = isJson ? 1 : 2;
      assert.deepEqual(read(payloadOf(delivery.frame(subprotocol), code)), message);
      const numbered = Buffer.concat(delivery.numbered(subprotocol, 300));
      assert.deepEqual(read(payloadOf(numbered, code)), { ...message, sequenceId: 300 });
    }
    assert.deepEqual(payloadOf(delivery.frame(undefined), 2), message.payload.bytes);
  });
});

describe('ack ids', () => {
  it('are new once, in whatever order they come', () => {
    const id = fc.oneof(fc.nat(50), fc.bigInt(2n ** 60n, 2n ** 60n + 50n));
    const check = fc.property(fc.array(id), (ids) => {
      const known = new AckIds();
      const seen = new Set<number | bigint>();
      for (const next of ids) {
        assert.equal(known.add(next), !seen.has(next));
        seen.add(next);
      }
    });
    fc.assert(check, { numRuns: 200 });
  });

  it('take no room when they count up, and little when they do not', () => {
    const known = new AckIds();
    for (let id = 1; id <= 5000; id++) assert.ok(known.add(id));
    assert.equal(known.add(1), false);
    for (let id = 10_000; id < 30_000; id += 2) assert.ok(known.add(id));
    assert.equal(known.add(29_998), false);
    // Forgotten: more than a thousand came after it.
    assert.equal(known.add(10_000), true);
  });
});

describe('unacknowledged messages', () => {
  const delivery = (bytes: number): Delivery =>
    new Delivery({
      type: 'message',
      from: 'server',
      group: undefined,
      fromUserId: undefined,
      sequenceId: undefined,
      payload: { dataType: 'binary', bytes: Buffer.alloc(bytes) },
    });

  it('are a thousand at most', () => {
    const unacked = new UnackedMessages();
    const message = delivery(1);
    for (let n = 0; n < 1000; n++) assert.ok(unacked.add(message));
    assert.equal(unacked.add(message), false);
    assert.equal(unacked.at(1), message);
    unacked.acknowledge(600);
    assert.deepEqual(
      [unacked.firstId, unacked.at(600), unacked.at(601)],
      [601, undefined, message],
    );
    for (let n = 0; n < 600; n++) assert.ok(unacked.add(message));
    assert.equal(unacked.add(message), false);
    unacked.acknowledge(2n ** 60n);
    assert.deepEqual(
      [unacked.firstId, unacked.at(1600), unacked.at(1601)],
      [1601, undefined, undefined],
    );
  });

  it('are 16 MB at most', () => {
    const unacked = new UnackedMessages();
    const large = delivery(1024 * 1024);
    for (let n = 0; n < 16; n++) assert.ok(unacked.add(large));
    assert.equal(unacked.add(delivery(1)), false);
    unacked.acknowledge(1);
    assert.ok(unacked.add(large));
  });
});
