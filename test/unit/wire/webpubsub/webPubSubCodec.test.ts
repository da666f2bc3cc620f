import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { HubMessageError } from '../../../../src/wire/message/hubMessage';
import { recordLatencyShape, firstMessageAckId } from '../../../../src/wire/message/messageLayout';
import { holeLengths, MessageTemplate } from '../../../../src/wire/message/messageTemplate';
import { emptyStamp, stampLength } from '../../../../src/wire/message/stamp';
import {
  leadingSequenceId,
  plainWebPubSubCodec,
  reliableWebPubSubCodec,
  webPubSubCodec,
  protobufWebPubSubCodec,
  reliableProtobufWebPubSubCodec,
} from '../../../../src/wire/webpubsub/webPubSubCodec';
import {
  nestedVarint,
  readProtobufClientMessage,
  writeProtobufServerMessage,
} from '../../../../src/wire/webpubsub/protobufMessages';
import type { ProtobufServerMessage } from '../../../../src/wire/webpubsub/pubSubMessage';
import {
  readJsonClientMessage,
  writeJsonServerMessage,
} from '../../../../src/wire/webpubsub/jsonMessages';

const read = (frame: Buffer) => webPubSubCodec.read(frame, 0, frame.length);
const noError = undefined;
const nowMs = 1_800_000_000_000;

describe('Web PubSub in the words of a hub', () => {
  it('joins and leaves groups as invocations, acks are their completions', () => {
    const invocation = { type: 1, invocationId: '12', arguments: ['g "1"'] } as const;
    for (const [target, type] of [
      ['JoinGroup', 'joinGroup'],
      ['LeaveGroup', 'leaveGroup'],
    ] as const) {
      const frame = webPubSubCodec.encode({ ...invocation, target });
      assert.deepEqual(readJsonClientMessage(frame), { type, group: 'g "1"', ackId: 12 });
    }
    const ack = { type: 'ack', ackId: 12, success: true, error: noError } as const;
    assert.deepEqual(read(writeJsonServerMessage(ack)), { type: 3, invocationId: '12' });
    const error = { name: 'Forbidden', message: 'no role' };
    assert.deepEqual(read(writeJsonServerMessage({ ...ack, success: false, error })), {
      type: 3,
      invocationId: '12',
      error: 'Forbidden: no role',
    });
    const repeated = { ...ack, success: false, error: { name: 'Duplicate', message: '' } };
    assert.deepEqual(read(writeJsonServerMessage(repeated)), { type: 3, invocationId: '12' });
  });

  it('sends to groups and as events, with room for stamp and group', () => {
    const stamp = { ...emptyStamp(), sequence: 5 };
    const group = webPubSubCodec.textBytes('g "1"');
    const receiverKey = 'information.GroupName';
    const shape = recordLatencyShape({ method: 'Any', receiverKey, toGroup: true, blob: 'é"' });
    const template = MessageTemplate.of(shape, holeLengths(group), webPubSubCodec, false);
    const sent = readJsonClientMessage(template.fill(stamp, group, nowMs));
    assert.ok(sent?.type === 'sendToGroup');
    assert.equal(sent.group, 'g "1"');
    const data = JSON.parse(sent.payload.bytes.toString('utf8')) as Record<string, string>;
    assert.equal(data['bench.Stamp']?.length, stampLength);
    assert.equal(data['payload.MessageBlob'], 'é"');
    const echo = recordLatencyShape({ method: 'Echo', blob: 'x' });
    const event = MessageTemplate.of(echo, holeLengths(undefined), webPubSubCodec, false);
    const echoed = readJsonClientMessage(event.fill(stamp, undefined, nowMs));
    assert.ok(echoed?.type === 'event');
    assert.equal(echoed.event, 'Echo');
  });

  it('takes what groups and servers send for deliveries', () => {
    const payload = { dataType: 'json', bytes: Buffer.from('{"a":1}') } as const;
    const message = { group: 'g', fromUserId: 'u', sequenceId: undefined, payload };
    for (const from of ['group', 'server'] as const) {
      const frame = writeJsonServerMessage({ type: 'message', from, ...message });
      assert.deepEqual(read(frame), { type: 1, target: 'RecordLatency', arguments: [{ a: 1 }] });
    }
  });

  it('pings, and hears why it is disconnected', () => {
    assert.deepEqual(readJsonClientMessage(webPubSubCodec.encode({ type: 6 })), { type: 'ping' });
    assert.deepEqual(read(writeJsonServerMessage({ type: 'pong' })), { type: 6 });
    const frame = writeJsonServerMessage({ type: 'disconnected', message: 'key rotated' });
    assert.deepEqual(read(frame), { type: 7, error: 'key rotated', allowReconnect: true });
  });

  it('is connected when the service says so, and not before', () => {
    const greetingEnd = webPubSubCodec.firstMessageEnd!;
    const connected = { type: 'connected', connectionId: 'c', userId: 'u' } as const;
    const frame = writeJsonServerMessage({ ...connected, reconnectionToken: undefined });
    assert.equal(greetingEnd(frame, 0, frame.length), frame.length);
    for (const text of ['{"type":"pong"}', '[]', 'x', '{}']) {
      const other = Buffer.from(text);
      assert.throws(() => greetingEnd(other, 0, other.length), HubMessageError);
    }
  });

  it('hears of garbage as a break of the protocol', () => {
    for (const text of ['', '[]', '{"type":1}', '{"type":"ack"', 'null'])
      assert.throws(() => read(Buffer.from(text)), HubMessageError);
    assert.equal(read(Buffer.from('{"type":"new"}')), undefined);
  });

  it('finds the number of a message that begins with it', () => {
    for (const [text, id] of [
      ['{"sequenceId":42,"type":"message"}', 42],
      ['{"sequenceId":9007199254740992,"type":"message"}', 0],
      ['{"sequenceId":42', 0],
      ['{"sequenceId":"42"}', 0],
      ['{"type":"ack"}', 0],
      ['{', 0],
    ] as const)
      assert.equal(leadingSequenceId(Buffer.from(text), 0, text.length), id, text);
  });

  it('sends bare payloads without a subprotocol, pings as WebSockets do, and bears whatever comes', () => {
    const codec = plainWebPubSubCodec;
    const shape = recordLatencyShape({ method: 'Echo', blob: 'x' });
    const frame = MessageTemplate.of(shape, holeLengths(undefined), codec, false).fill(
      emptyStamp(),
      undefined,
      nowMs,
    );
    const dictionary = JSON.parse(frame.toString()) as Record<string, string>;
    assert.equal(dictionary['payload.MessageBlob'], 'x');
    assert.deepEqual(codec.read(frame, 0, frame.length), {
      ...{ type: 1, target: 'RecordLatency', arguments: [dictionary] },
    });
    assert.equal(codec.encode({ type: 6 }).length, 0);
    for (const text of ['', 'hello', '[]', '{'])
      assert.equal(codec.read(Buffer.from(text), 0, text.length), undefined);
  });

  it('says the same in protobuf', () => {
    const codec = protobufWebPubSubCodec;
    const group = codec.textBytes('gé');
    for (const [method, receiver] of [
      ['Any', group],
      ['Echo', undefined],
    ] as const) {
      const toGroup = receiver !== undefined;
      const shape = recordLatencyShape({ method, toGroup, blob: 'x'.repeat(300) });
      const template = MessageTemplate.of(shape, holeLengths(receiver), codec, false);
      const sent = readProtobufClientMessage(template.fill(emptyStamp(), receiver, nowMs));
      assert.ok(sent?.type === 'sendToGroup' || sent?.type === 'event');
      assert.equal(sent.type === 'sendToGroup' ? sent.group : sent.event, receiver ? 'gé' : 'Echo');
      const data = JSON.parse(sent.payload.bytes.toString()) as Record<string, string>;
      assert.equal(data['bench.Stamp']?.length, stampLength);
    }
    const join = codec.encode({
      ...{ type: 1, invocationId: '7', target: 'JoinGroup', arguments: ['g'] },
    });
    assert.deepEqual(readProtobufClientMessage(join), { type: 'joinGroup', group: 'g', ackId: 7 });
    assert.equal(codec.encode({ type: 6 }).length, 0);
    const said = (message: ProtobufServerMessage): unknown => {
      const frame = writeProtobufServerMessage(message);
      return codec.read(frame, 0, frame.length);
    };
    const error = { name: 'Forbidden', message: 'no role' };
    assert.deepEqual(said({ type: 'ack', ackId: 7, success: false, error }), {
      ...{ type: 3, invocationId: '7', error: 'Forbidden: no role' },
    });
    assert.deepEqual(said({ type: 'disconnected', message: 'bye' }), {
      ...{ type: 7, error: 'bye', allowReconnect: true },
    });
    assert.throws(() => codec.read(Buffer.from([0xff]), 0, 1), HubMessageError);
  });

  it('asks for acknowledgements of messages, and takes a repeat for a loss', () => {
    const ackIds = [firstMessageAckId, firstMessageAckId + 300, 99_999_999_999];
    for (const codec of [webPubSubCodec, protobufWebPubSubCodec]) {
      const isJson = codec === webPubSubCodec;
      const [write, readSent] = isJson
        ? [writeJsonServerMessage, readJsonClientMessage]
        : [writeProtobufServerMessage, readProtobufClientMessage];
      for (const method of ['SendToGroup', 'Echo']) {
        const toGroup = method !== 'Echo';
        const receiver = toGroup ? Buffer.from('g') : undefined;
        const shape = { ...recordLatencyShape({ method, toGroup, blob: 'x' }), answered: true };
        const template = MessageTemplate.of(shape, holeLengths(receiver), codec, false);
        for (const ackId of ackIds) {
          const frame = template.fill(emptyStamp(), receiver, nowMs, { index: 0, ackId });
          const sent = readSent(frame);
          assert.ok(sent?.type === 'sendToGroup' || sent?.type === 'event');
          assert.equal(sent.ackId, ackId);
        }
      }
      const said = (ackId: number, name: string): unknown => {
        const error = { name, message: 'no' };
        const ack = write({ type: 'ack', ackId, success: false, error });
        return codec.read(ack, 0, ack.length);
      };
      const refused = { type: 3, invocationId: String(firstMessageAckId) };
      for (const name of ['Forbidden', 'InternalServerError', 'Duplicate'])
        assert.deepEqual(said(firstMessageAckId, name), { ...refused, error: `${name}: no` });
      assert.deepEqual(said(7, 'Duplicate'), { type: 3, invocationId: '7' });
    }
  });

  it('notes numbers and who may come back, of whatever comes', () => {
    const payload = { dataType: 'text', bytes: Buffer.from('x'.repeat(300)) } as const;
    const message = { type: 'message', from: 'group', fromUserId: 'u', payload } as const;
    const connected = { type: 'connected', connectionId: 'c', userId: 'u' } as const;
    for (const [codec, write] of [
      [reliableWebPubSubCodec, writeJsonServerMessage],
      [reliableProtobufWebPubSubCodec, writeProtobufServerMessage],
    ] as const) {
      const noted = (frame: Buffer): unknown => {
        // Frames stand in the middle of a buffer.
        const buffer = Buffer.concat([Buffer.from([0x12, 0x20]), frame, Buffer.from('}')]);
        const reported = codec.recovery!.inspect(buffer, 2, 2 + frame.length);
        return typeof reported === 'number'
          ? reported
          : [reported.connectionId, reported.reconnectionToken];
      };
      for (const sequenceId of [1, 127, 128, 2 ** 40])
        assert.equal(noted(write({ ...message, group: 'g', sequenceId })), sequenceId);
      assert.equal(noted(write({ type: 'ack', ackId: 5, success: true, error: undefined })), 0);
      assert.deepEqual(noted(write({ ...connected, reconnectionToken: 't' })), ['c', 't']);
    }
    // As others write it: the number behind the data, and fields of newer editions.
    const late = Buffer.from([
      0x12, 0x0e, 0x0a, 1, 0x67, 0x3d, 1, 2, 3, 4, 0x30, 5, 0x20, 0xac, 2, 0,
    ]);
    assert.equal(nestedVarint(late, 0, late.length, 2, 4), 300);
  });

  it('finds no number beyond the end of a frame, and bears garbage', () => {
    const garbage = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(garbage, fc.nat(40), (bytes, cut) => {
        const end = Math.min(cut, bytes.length);
        const found = nestedVarint(bytes, 0, end, 2, 4);
        assert.ok(Number.isSafeInteger(found) && found >= 0);
      }),
      { numRuns: 2000 },
    );
    const framed = Buffer.from([0x12, 0x05, 0x20, 0x01]);
    assert.equal(nestedVarint(framed, 0, framed.length, 2, 4), 0);
  });
});
