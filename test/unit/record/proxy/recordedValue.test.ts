import assert from 'node:assert/strict';
import { recordedHubMessage, recordedProtobuf } from '../../../../src/record/proxy/traffic';
import { messagePackCodec } from '../../../../src/wire/message/hubCodec';
import { MessagePackExtension } from '../../../../src/wire/message/messagePack';
import type { ProtobufClientMessage } from '../../../../src/wire/webpubsub/pubSubMessage';
import {
  readProtobufClientMessage,
  writeProtobufClientMessage,
} from '../../../../src/wire/webpubsub/protobufMessages';

describe('values of MessagePack in a recording', () => {
  it('are JSON that says what they were', () => {
    const values = [
      1,
      'ä',
      null,
      true,
      2n ** 60n,
      Infinity,
      new Uint8Array([1, 255]),
      new MessagePackExtension(-1, new Uint8Array([0, 0, 0, 1])),
      { deep: [new Uint8Array([7])] },
    ];
    const bytes = messagePackCodec.encode({ type: 1, target: 'Send', arguments: values });
    const span = { start: 0, end: 0, next: 0 };
    messagePackCodec.find(bytes, 0, bytes.length, span);
    const message = messagePackCodec.read(bytes, span.start, span.end)!;
    const recorded = recordedHubMessage(message);
    assert.deepEqual(JSON.parse(JSON.stringify(recorded)), {
      type: 1,
      target: 'Send',
      arguments: [
        1,
        'ä',
        null,
        true,
        { $integer: '1152921504606846976' },
        { $float: 'Infinity' },
        { $bytes: 'Af8=' },
        { $extension: [-1, 'AAAAAQ=='] },
        { deep: [{ $bytes: 'Bw==' }] },
      ],
    });
  });
});

describe('messages of protobuf in a recording', () => {
  const json = { dataType: 'json', bytes: Buffer.from('{"a":1}') } as const;

  it('have the members of the JSON subprotocol', () => {
    const recorded = [
      { type: 'joinGroup', group: 'g', ackId: 1 },
      { type: 'sendToGroup', group: 'g', ackId: 2n ** 60n, payload: json, noEcho: true },
      { type: 'event', event: 'e', ackId: undefined, payload: { ...json, dataType: 'text' } },
    ].map((message) => {
      const bytes = writeProtobufClientMessage(message as ProtobufClientMessage);
      return recordedProtobuf(readProtobufClientMessage(bytes)!);
    });
    assert.deepEqual(recorded, [
      { type: 'joinGroup', group: 'g', ackId: 1 },
      {
        type: 'sendToGroup',
        group: 'g',
        ackId: '1152921504606846976',
        noEcho: true,
        dataType: 'json',
        data: { a: 1 },
      },
      { type: 'event', event: 'e', dataType: 'text', data: '{"a":1}' },
    ]);
  });

  it('have no token that takes a connection up again', () => {
    const connected = { connectionId: 'c', userId: 'ann', reconnectionToken: 'secret' };
    assert.deepEqual(recordedProtobuf({ type: 'connected', ...connected }), {
      type: 'system',
      event: 'connected',
      userId: 'ann',
    });
    assert.deepEqual(recordedProtobuf({ type: 'disconnected', message: 'bye' }), {
      type: 'system',
      event: 'disconnected',
      message: 'bye',
    });
  });
});
