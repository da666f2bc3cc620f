import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  maxWireId,
  wireId,
  type ClientMessage,
  type Payload,
  type ProtobufServerMessage,
} from '../../../../src/wire/webpubsub/pubSubMessage';
import {
  readJsonClientMessage,
  writeJsonServerMessage,
} from '../../../../src/wire/webpubsub/jsonMessages';
import { writeJsonClientMessage, readJsonServerMessage } from '../../../fakes/pubSubFrames';
import {
  readProtobufClientMessage,
  writeProtobufClientMessage,
  readProtobufServerMessage,
  writeProtobufServerMessage,
} from '../../../../src/wire/webpubsub/protobufMessages';

/** Like {@link fc.record}, of objects as literals make them. */
const record = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(model, { noNullPrototype: true });

const id = fc.bigInt({ min: 0n, max: maxWireId }).map(wireId);
const optionalId = fc.option(id, { nil: undefined });
const text = fc.string({ unit: 'grapheme' });
const bytes = fc.uint8Array().map((array) => Buffer.from(array));
const payload: fc.Arbitrary<Payload> = fc.oneof(
  text.map((value) => ({ dataType: 'text' as const, bytes: Buffer.from(value) })),
  bytes.map((value) => ({ dataType: 'binary' as const, bytes: value })),
  bytes.map((value) => ({ dataType: 'protobuf' as const, bytes: value })),
  fc.json().map((value) => ({ dataType: 'json' as const, bytes: Buffer.from(value.trim()) })),
);

const clientMessage = fc.oneof(
  record({
    type: fc.constantFrom('joinGroup' as const, 'leaveGroup' as const),
    group: text,
    ackId: optionalId,
  }),
  record({
    type: fc.constant('sendToGroup' as const),
    group: text,
    ackId: optionalId,
    noEcho: fc.boolean(),
    payload,
  }),
  record({ type: fc.constant('event' as const), event: text, ackId: optionalId, payload }),
  record({ type: fc.constant('sequenceAck' as const), sequenceId: id }),
);

const optionalText = fc.option(text, { nil: undefined });
const serverMessage: fc.Arbitrary<ProtobufServerMessage> = fc.oneof(
  record({
    type: fc.constant('connected' as const),
    connectionId: text,
    userId: optionalText,
    reconnectionToken: optionalText,
  }),
  record({ type: fc.constant('disconnected' as const), message: text }),
  record({
    type: fc.constant('ack' as const),
    ackId: id,
    success: fc.boolean(),
    error: fc.option(record({ name: text, message: text }), { nil: undefined }),
  }),
  record({
    type: fc.constant('message' as const),
    from: fc.constantFrom('group' as const, 'server' as const),
    group: optionalText,
    fromUserId: fc.constant(undefined),
    sequenceId: optionalId,
    payload,
  }),
);

describe('messages of Web PubSub', () => {
  it('come back from both forms as they went in', () => {
    const check = fc.property(clientMessage, serverMessage, (client, server) => {
      assert.deepEqual(readJsonClientMessage(writeJsonClientMessage(client)), client);
      assert.deepEqual(readProtobufClientMessage(writeProtobufClientMessage(client)), client);
      assert.deepEqual(readJsonServerMessage(writeJsonServerMessage(server)), server);
      assert.deepEqual(readProtobufServerMessage(writeProtobufServerMessage(server)), server);
    });
    fc.assert(check, { numRuns: 200 });
  });

  it('stand in JSON as documented', () => {
    const written = (message: Parameters<typeof writeJsonClientMessage>[0]): string =>
      writeJsonClientMessage(message).toString();
    const hello: Payload = { dataType: 'text', bytes: Buffer.from('hello "you"') };
    assert.equal(
      written({ type: 'sendToGroup', group: 'g', ackId: 7, noEcho: true, payload: hello }),
      '{"type":"sendToGroup","group":"g","ackId":7,"noEcho":true,"dataType":"text","data":"hello \\"you\\""}',
    );
    assert.equal(
      written({
        type: 'event',
        event: 'e',
        ackId: undefined,
        payload: { dataType: 'binary', bytes: Buffer.from([1, 2]) },
      }),
      '{"type":"event","event":"e","dataType":"binary","data":"AQI="}',
    );
    assert.equal(
      written({ type: 'joinGroup', group: 'g', ackId: undefined }),
      '{"type":"joinGroup","group":"g"}',
    );
    assert.equal(written({ type: 'ping' }), '{"type":"ping"}');
    assert.equal(
      writeJsonServerMessage({
        type: 'message',
        from: 'group',
        group: 'g',
        fromUserId: 'ann',
        sequenceId: 3,
        payload: { dataType: 'json', bytes: Buffer.from('{"a":1.0}') },
      }).toString(),
      '{"sequenceId":3,"type":"message","from":"group","fromUserId":"ann","group":"g","dataType":"json","data":{"a":1.0}}',
    );
  });

  it('keeps JSON data and ids digit by digit', () => {
    const frame =
      '{"data": [12345678901234567890, 1.10], "type":"sendToGroup", "group":"g", "ackId":18446744073709551615}';
    const message = readJsonClientMessage(Buffer.from(frame));
    assert.ok(message?.type === 'sendToGroup');
    assert.equal(message.ackId, maxWireId);
    assert.equal(message.payload.bytes.toString(), '[12345678901234567890, 1.10]');
  });

  it('stand in Protocol Buffers as in the schema', () => {
    const message: ClientMessage = {
      type: 'sendToGroup',
      group: 'ab',
      ackId: 300,
      noEcho: true,
      payload: { dataType: 'text', bytes: Buffer.from('x') },
    };
    const hex = (bytes: Buffer): string => bytes.toString('hex');
    // send_to_group 1 { group 1, ack_id 2, data 3 { text 1 }, no_echo 4 }
    assert.equal(hex(writeProtobufClientMessage(message)), '0a0e0a02616210ac021a030a01782001');
    const data: ProtobufServerMessage = {
      type: 'message',
      from: 'group',
      group: 'g',
      fromUserId: undefined,
      sequenceId: 5,
      payload: { dataType: 'json', bytes: Buffer.from('1') },
    };
    // data 2 { sequence_id 4, from 1, group 2, data 3 { json 4 } }
    assert.equal(
      hex(writeProtobufServerMessage(data)),
      '12112005' + '0a0567726f7570' + '120167' + '1a03220131',
    );
    const connected: ProtobufServerMessage = {
      type: 'connected',
      connectionId: 'c',
      userId: 'u',
      reconnectionToken: 't',
    };
    assert.equal(
      hex(writeProtobufServerMessage(connected)),
      '1a0b' + '0a09' + '0a0163120175' + '1a0174',
    );
  });

  it('malformed ones are distinguished', () => {
    const words = `[] null {"type":"joinGroup"} {"type":"joinGroup","group":1}
      {"type":"joinGroup","group":"g","ackId":-1} {"type":"joinGroup","group":"g","ackId":1.5}
      {"type":"joinGroup","group":"g","ackId":18446744073709551616}
      {"type":"sendToGroup","group":"g","dataType":"binary","data":"%"}
      {"type":"sendToGroup","group":"g","dataType":"text","data":1}
      {"type":"sendToGroup","group":"g","dataType":"xml","data":""}
      {"type":"sendToGroup","group":"g","noEcho":1,"data":1}
      {"type":"sequenceAck"} {"type":"unknown"}`;
    const deep = `{"type":"event","event":"e","data":${'['.repeat(100)}${']'.repeat(100)}}`;
    const bad = ['', deep, ...words.split(/\s+/)];
    for (const frame of bad)
      assert.equal(readJsonClientMessage(Buffer.from(frame)), undefined, frame);
    const badBytes = '00 0a 0aff 0a02 08ffffffffffffffffffff01 0b 0a040a02ff 0a0322ff 0a041a022201';
    for (const hex of ['', ...badBytes.split(' ')])
      assert.equal(readProtobufClientMessage(Buffer.from(hex, 'hex')), undefined, hex);
  });

  it('garbage is never more than malformed', () => {
    const valid = clientMessage.map(writeProtobufClientMessage);
    const damaged = fc
      .tuple(fc.oneof(valid, bytes), fc.nat(), fc.nat(255))
      .map(([frame, at, byte]) => {
        const copy = Buffer.from(frame);
        if (copy.length > 0) copy[at % copy.length] = byte;
        return copy;
      });
    const check = fc.property(damaged, fc.json(), (frame, json) => {
      readProtobufClientMessage(frame);
      readProtobufServerMessage(frame);
      readJsonClientMessage(frame);
      readJsonServerMessage(Buffer.from(json));
      readJsonClientMessage(Buffer.from(`{"type":"event","event":${json},"data":${json}}`));
    });
    fc.assert(check, { numRuns: 500 });
  });
});
