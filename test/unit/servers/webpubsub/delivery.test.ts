import assert from 'node:assert/strict';
import { Delivery } from '../../../../src/servers/webpubsub/client';
import { readJsonServerMessage } from '../../../fakes/pubSubFrames';
import { readProtobufServerMessage } from '../../../../src/wire/webpubsub/protobufMessages';
import { subprotocols, type DataMessage } from '../../../../src/wire/webpubsub/pubSubMessage';

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
