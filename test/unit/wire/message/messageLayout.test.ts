import assert from 'node:assert/strict';
import { dotNetTicks, type MessageArgument } from '../../../../src/base/message';
import {
  measureShape,
  recordLatencyShape,
  type MessageShape,
} from '../../../../src/wire/message/messageLayout';
import { type HubCodec, jsonCodec, messagePackCodec } from '../../../../src/wire/message/hubCodec';
import { holeLengths, MessageTemplate } from '../../../../src/wire/message/messageTemplate';
import { stampLength, writeStamp, type Stamp } from '../../../../src/wire/message/stamp';

const stamp: Stamp = {
  runId: 0xabcd,
  step: 2,
  warmup: false,
  source: 7,
  sequence: 42,
  intendedUs: 1_000_000,
  sentUs: 1_000_020,
};
const stampBuffer = Buffer.alloc(stampLength);
writeStamp(stampBuffer, 0, stamp);
const stampText = stampBuffer.toString('latin1');
/** 2027-01-15T08:00:00.001Z, and the same in ticks of .NET. */
const nowMs = 1_800_000_000_001;
const ticks = 639_355_968_000_010_000n;

const bare = (shape: MessageShape, codec: HubCodec, receiver?: string): Buffer => {
  const bytes = receiver === undefined ? undefined : codec.textBytes(receiver);
  const source = { id: codec.textBytes('me"'), index: 12 };
  const template = MessageTemplate.of(shape, holeLengths(bytes, source), codec, false);
  return template.fill(stamp, bytes, nowMs, source);
};
const json = (shape: MessageShape, receiver?: string): string =>
  bare(shape, jsonCodec, receiver).toString('utf8');

const payload = 'p'.repeat(60);

describe('the layout of messages', () => {
  it('counts ticks exactly, where a number would round them', () => {
    assert.equal(dotNetTicks(nowMs), ticks);
    assert.equal(dotNetTicks(0), 621_355_968_000_000_000n);
  });

  it('in the dialect measure is ticks and a payload that begins with the stamp, in JSON', () => {
    assert.equal(
      json(measureShape({ method: 'Echo', blob: payload })),
      `{"type":1,"target":"Echo","arguments":[639355968000010000,"${stampText}pppppp"]}\x1e`,
    );
    const toOne = { method: 'SendToConnection', receiverKey: 'any', blob: payload };
    assert.equal(
      json(measureShape(toOne), 'a"b'),
      `{"type":1,"target":"SendToConnection","arguments":["a\\"b",639355968000010000,"${stampText}pppppp"]}\x1e`,
    );
  });

  it('in the dialect measure has ticks of 64 bits in MessagePack', () => {
    const bytes = bare(
      measureShape({ method: 'GroupBroadcast', receiverKey: 'any', blob: payload }),
      messagePackCodec,
      'g1',
    );
    const ticksBytes = Buffer.alloc(8);
    ticksBytes.writeBigUInt64BE(ticks);
    const body = Buffer.concat([
      // [1, {}, nil, 'GroupBroadcast', ['g1', ticks, text of 60 bytes], []]
      Buffer.from([0x96, 0x01, 0x80, 0xc0, 0xae]),
      Buffer.from('GroupBroadcast'),
      Buffer.from([0x93, 0xa2]),
      Buffer.from('g1'),
      Buffer.from([0xcf]),
      ticksBytes,
      Buffer.from([0xd9, 60]),
      Buffer.from(`${stampText}pppppp`),
      Buffer.from([0x90]),
    ]);
    assert.deepEqual(bytes, Buffer.concat([Buffer.from([body.length]), body]));
  });

  it('in the dialect measure keeps the size of a payload whose character the stamp cuts', () => {
    // Byte 54 is the second of an ü.
    const blob = `${'p'.repeat(53)}${'ü'.repeat(5)}`;
    const text = json(measureShape({ method: 'Echo', blob }));
    assert.ok(text.includes(`,"${stampText} üüüü"]`), text);
  });

  it('of the dictionary is as ever', () => {
    const message = { method: 'SendToGroup', receiverKey: 'information.GroupName', blob: 'x' };
    assert.equal(
      json(recordLatencyShape(message), 'g'),
      `{"type":1,"target":"SendToGroup","arguments":[{"bench.Stamp":"${stampText}","information.GroupName":"g","payload.Timestamp":1800000000001,"payload.MessageBlob":"x"}]}\x1e`,
    );
  });

  /** Everything that an own method may be given. */
  const own: readonly MessageArgument[] = [
    { kind: 'text', parts: ['to "', { hole: 'receiver' }, '" of ', { hole: 'sender' }] },
    { kind: 'number', hole: 'senderIndex' },
    {
      kind: 'list',
      items: [
        { kind: 'number', hole: 'sequence' },
        { kind: 'value', value: null },
        { kind: 'value', value: -1.5 },
      ],
    },
    {
      kind: 'map',
      members: [
        ['at', { kind: 'number', hole: 'unixMs' }],
        ['n°', { kind: 'text', parts: ['#', { hole: 'sequence' }, '/', { hole: 'senderIndex' }] }],
      ],
    },
  ];
  const filled = ['to "you" of me"', 12, [42, null, -1.5], { at: nowMs, 'n°': '#0000000042/12' }];

  for (const codec of [jsonCodec, messagePackCodec]) {
    it(`of an own method holds lists, maps and placeholders, in ${codec.protocol}`, () => {
      // The id of the sender as it stands in JSON is longer than what it means.
      const shape = { method: 'Post', arguments: own, answered: true };
      const bytes = bare(shape, codec, 'you');
      const span = { start: 0, end: 0, next: 0 };
      codec.find(bytes, 0, bytes.length, span);
      const message = codec.read(bytes, span.start, span.end);
      assert.deepEqual(
        { ...message },
        { type: 1, invocationId: stampText, target: 'Post', arguments: filled },
      );
      assert.equal(span.next, bytes.length);
    });
  }

  it('keeps its length whatever the numbers are', () => {
    const template = MessageTemplate.of(
      { method: 'M', arguments: own },
      holeLengths(Buffer.from('you'), { id: Buffer.from('me'), index: 12 }),
      jsonCodec,
      false,
    );
    for (const sequence of [0, 9, 10, 4_294_967_295]) {
      const bytes = template.fill({ ...stamp, sequence }, Buffer.from('you'), nowMs, {
        id: Buffer.from('me'),
        index: 99,
      });
      const { arguments: args } = JSON.parse(bytes.toString('utf8').slice(0, -1)) as {
        arguments: [string, number, [number], unknown];
      };
      assert.deepEqual([args[1], args[2][0]], [99, sequence]);
    }
  });
});
