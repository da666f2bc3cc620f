import assert from 'node:assert/strict';
import { WebPubSubJsonReliableProtocol } from '@azure/web-pubsub-client';
import { HubMessageError, type HubMessage } from '../../../src/wire/message/hubMessage';
import { withLengthPrefix } from '../../../src/wire/message/messagePack';
import {
  encodeServiceMessage,
  readServiceMessage,
  type ServiceMessage,
} from '../../../src/wire/service/serviceMessage';
import { ServiceFrames } from '../../../src/wire/service/serviceStream';
import { readJsonClientMessage } from '../../../src/wire/webpubsub/jsonMessages';
import {
  readProtobufClientMessage,
  readProtobufServerMessage,
  writeProtobufClientMessage,
  writeProtobufServerMessage,
} from '../../../src/wire/webpubsub/protobufMessages';
import { codecForProtocol } from '../../../src/wire/connect/connectHub';
import { parseFilter, FilterError } from '../../../src/servers/webpubsub/filter';
import { golden } from '../../unit/wire/service/goldenFrames';
import { inPieces, unless, type Subject } from '../subject';

const recorded = (): Buffer[] =>
  [
    ...golden.vectors,
    ...golden.readerVectors,
    ...golden.later.vectors,
    ...golden.framingVectors,
  ].map(({ base64 }) => Buffer.from(base64, 'base64'));

function bodiesIn(feed: (frames: ServiceFrames) => void): string[] | undefined {
  const bodies: string[] = [];
  const frames = new ServiceFrames(2048, (bytes, start, end) =>
    bodies.push(bytes.toString('latin1', start, end)),
  );
  const isRead = unless([HubMessageError], () => {
    feed(frames);
    return true;
  });
  return isRead === undefined ? undefined : bodies;
}

function serviceMessage(body: Buffer): ServiceMessage | undefined {
  return unless([HubMessageError], () => readServiceMessage(body, 0, body.length));
}

export const serviceProtocol: Subject = {
  name: 'service-protocol',
  holds:
    'messages are found however the bytes are cut, only HubMessageError is thrown, and what was read comes back as it is written',
  seeds: recorded,
  check: (input) => {
    const whole = bodiesIn((frames) => frames.push(Buffer.from(input)));
    const cut = bodiesIn((frames) =>
      inPieces(input, (buffer, start, end) =>
        frames.push(Buffer.from(buffer.subarray(start, end))),
      ),
    );
    assert.deepEqual(cut, whole);
    const bodies = whole?.map((body) => Buffer.from(body, 'latin1')) ?? [];
    for (const body of [input, ...bodies]) {
      const message = serviceMessage(body);
      if (message === undefined) continue;
      const written = encodeServiceMessage(message);
      const again = bodiesIn((frames) => frames.push(written)) ?? [];
      if (written.length > 2048) continue;
      assert.equal(again.length, 1);
      const back = serviceMessage(Buffer.from(again[0]!, 'latin1'));
      assert.ok(back !== undefined, 'what was written cannot be read');
      assert.deepEqual(encodeServiceMessage(back), written);
    }
    // Most lengths that are changed fit nothing.
    bodiesIn((frames) => frames.push(withLengthPrefix([input])));
  },
};

const jsonSeeds = [
  '{"type":"sendToGroup","group":"g","ackId":1,"noEcho":true,"dataType":"json","data":{"a":1.10}}',
  '{"type":"event","event":"e","ackId":18446744073709551615,"dataType":"binary","data":"AQI="}',
  '{"type":"joinGroup","group":"g","ackId":2}',
  '{"type":"invoke","invocationId":"1","target":"event","event":"e","dataType":"text","data":"x"}',
  '{"type":"sequenceAck","sequenceId":3}',
  '{"type":"system","event":"connected","connectionId":"c","userId":"u","reconnectionToken":"t"}',
  '{"type":"system","event":"disconnected","message":"bye"}',
  '{"type":"ack","ackId":1,"success":false,"error":{"name":"Forbidden","message":"m"}}',
  '{"sequenceId":5,"type":"message","from":"group","fromUserId":"u","group":"g","dataType":"json","data":{"bench.Stamp":"x"}}',
  '{"type":"message","from":"server","dataType":"text","data":"t"}',
  '{"type":"ping"}',
];

const official = WebPubSubJsonReliableProtocol();

/** What a client makes of a frame, of either kind; undefined when it is refused. */
function clientRead(protocol: 'webpubsubReliable' | 'webpubsubReliableProtobuf', input: Buffer) {
  const codec = codecForProtocol(protocol);
  const read = unless([HubMessageError], () => [codec.read(input, 0, input.length)] as const);
  unless([HubMessageError], () => codec.firstMessageEnd?.(input, 0, input.length));
  const notice = unless([HubMessageError], () => codec.recovery!.inspect(input, 0, input.length));
  codec.stampInCompletion(input, 0, input.length);
  return { message: read?.[0], notice };
}

function compareWithOfficial(message: HubMessage, notice: unknown, input: Buffer): void {
  const text = input.toString('utf8');
  const theirs = unless([Error], () => official.parseMessages(text));
  const [first] = Array.isArray(theirs) ? theirs : [theirs];
  if (first?.kind === 'groupData' || first?.kind === 'serverData') {
    assert.equal(message.type, 1);
    if (first.sequenceId !== undefined && Number.isSafeInteger(first.sequenceId))
      assert.equal(notice, first.sequenceId);
  }
}

export const pubSubJson: Subject = {
  name: 'web-pubsub-json',
  holds:
    'servers refuse what is malformed, clients throw HubMessageError alone, and data messages are those of `@azure/web-pubsub-client`',
  seeds: () => jsonSeeds,
  pieces: ['"__proto__":', '"sequenceId":', '1e400', '-1', '\\u0000', '18446744073709551616'],
  check: (input) => {
    readJsonClientMessage(input);
    const { message, notice } = clientRead('webpubsubReliable', input);
    if (message !== undefined && input.toString('utf8').split('"sequenceId"').length < 3)
      compareWithOfficial(message, notice, input);
    const plain = codecForProtocol('webpubsubNone');
    plain.read(input, 0, input.length);
  },
};

export const pubSubProtobuf: Subject = {
  name: 'web-pubsub-protobuf',
  holds: 'nothing but HubMessageError is thrown, and what was read comes back as it is written',
  seeds: () => [
    ...[
      '0a0e0a02616210ac021a030a01782001',
      '2a0a0a0165120208011a0161',
      '32060a01671001',
      '3a020805',
      '12090a0567726f75701201671a060a047b7d',
    ].map((hex) => Buffer.from(hex, 'hex')),
    writeProtobufServerMessage({
      type: 'ack',
      ackId: 1,
      success: false,
      error: { name: 'n', message: 'm' },
    }),
    writeProtobufServerMessage({
      type: 'connected',
      connectionId: 'c',
      userId: 'u',
      reconnectionToken: 't',
    }),
    writeProtobufServerMessage({ type: 'disconnected', message: 'bye' }),
    writeProtobufServerMessage({
      ...{ type: 'message', from: 'group', group: 'g', fromUserId: 'u', sequenceId: 2n ** 63n },
      payload: { dataType: 'json', bytes: Buffer.from('{"a":1}') },
    }),
  ],
  check: (input) => {
    const asked = readProtobufClientMessage(input);
    if (asked !== undefined) {
      const written = writeProtobufClientMessage(asked);
      assert.deepEqual(writeProtobufClientMessage(readProtobufClientMessage(written)!), written);
    }
    const said = readProtobufServerMessage(input);
    if (said !== undefined) {
      const written = writeProtobufServerMessage(said);
      assert.deepEqual(writeProtobufServerMessage(readProtobufServerMessage(written)!), written);
    }
    clientRead('webpubsubReliableProtobuf', input);
  },
};

export const filters: Subject = {
  name: 'web-pubsub-filters',
  holds: 'a filter is read and applied, or refused by FilterError',
  seeds: () => [
    "userId eq 'ann' or (not ('g' in groups) and length(connectionId) gt 3)",
    "startswith(toupper(userId), 'A') and tolower(userId) ne null",
    "indexof(userId, 'x') ge -1",
  ],
  pieces: [
    'not ',
    '(((((((((',
    '))))',
    "''",
    ' eq ',
    'in groups',
    'substringof(',
    '9999999999999999999',
  ],
  check: (input) => {
    const filter = unless([FilterError], () => parseFilter(input.toString('utf8')));
    filter?.({ id: 'c', userId: 'ann', groups: new Set(['g']) });
    filter?.({ id: 'c', userId: undefined, groups: new Set() });
  },
};
