import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { NullLogger, type HubMessage as TheirMessage } from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import * as fc from 'fast-check';
import { opcode } from '../../../../src/wire/socket/frame';
import { FrameReader, type FrameListener } from '../../../../src/wire/socket/frameReader';
import { type Span, messagePackCodec } from '../../../../src/wire/message/hubCodec';
import { HubMessageError, type HubMessage } from '../../../../src/wire/message/hubMessage';
import { serverFrame } from '../../../fakes/frames';

const theirs = new MessagePackHubProtocol();
const { encode } = messagePackCodec;

/** All hub messages in bytes, as a connection finds them. */
function readAll(bytes: Buffer): (HubMessage | undefined)[] {
  const messages: (HubMessage | undefined)[] = [];
  const span: Span = { start: 0, end: 0, next: 0 };
  while (span.next < bytes.length) {
    messagePackCodec.find(bytes, span.next, bytes.length, span);
    messages.push(messagePackCodec.read(bytes, span.start, span.end));
  }
  return messages;
}

const only = (bytes: Buffer): HubMessage | undefined => {
  const [message, ...more] = readAll(bytes);
  assert.deepEqual(more, []);
  return message;
};

/** A body behind its length, which must be below 128. */
const framed = (...body: number[]): Buffer => Buffer.from([body.length, ...body]);

const text = fc.string({ unit: 'grapheme', maxLength: 60 });
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    fc.integer({ min: -70_000, max: 70_000 }),
    fc.double().map((number) => (number === 0 ? 0 : number)),
    text,
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie('value'), { maxLength: 20 }),
    fc.dictionary(
      text.filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 20, noNullPrototype: true },
    ),
  ),
}));
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const call = {
  target: name,
  arguments: fc.array(value, { maxLength: 4 }),
};
const streams = fc.option(fc.record({ streamIds: fc.array(name, { minLength: 1, maxLength: 3 }) }));
const invocations = fc
  .tuple(fc.record({ type: fc.constant(1 as const), ...call }), streams, fc.option(name))
  .map(([message, more, id]) => ({
    ...message,
    ...more,
    ...(id === null ? {} : { invocationId: id }),
  }));
const withId = { invocationId: name };
const anyMessage: fc.Arbitrary<HubMessage> = fc.oneof(
  invocations,
  fc.record({ type: fc.constant(2 as const), ...withId, item: value }),
  fc.record({ type: fc.constant(3 as const), ...withId }),
  fc.record({ type: fc.constant(3 as const), ...withId, result: value }),
  fc.record({ type: fc.constant(3 as const), ...withId, error: name }),
  fc
    .tuple(fc.record({ type: fc.constant(4 as const), ...withId, ...call }), streams)
    .map(([message, more]) => ({ ...message, ...more })),
  fc.record({ type: fc.constant(5 as const), ...withId }),
  fc.constant<HubMessage>({ type: 6 }),
  fc.record({ type: fc.constant(7 as const), error: name, allowReconnect: fc.boolean() }),
  fc.record({ type: fc.constant(7 as const), allowReconnect: fc.boolean() }),
  fc.record({ type: fc.constant(8 as const), sequenceId: fc.maxSafeNat() }),
  fc.record({ type: fc.constant(9 as const), sequenceId: fc.maxSafeNat() }),
);

// Plain objects, as messages are.
const messages = anyMessage.map((message): HubMessage => ({ ...message }));

/** What both sides can say of a message: without headers, stream ids and members that are not there. */
function common(message: object): object {
  const entries = Object.entries(message).filter(
    ([key, member]) =>
      key !== 'headers' && key !== 'streamIds' && member !== undefined && member !== null,
  );
  return Object.fromEntries(entries);
}

describe('MessagePack hub messages', () => {
  interface Vector {
    readonly name: string;
    readonly hex: string;
    readonly message?: HubMessage;
    readonly integer?: string;
  }
  const vectors = JSON.parse(
    readFileSync('test/fixtures/hubProtocol/messagePack.json', 'utf8'),
  ) as Vector[];
  for (const { name: title, hex, message, integer } of vectors) {
    it(`are what ASP.NET Core writes: ${title}`, () => {
      const exact = BigInt(integer ?? 0);
      const item = BigInt(Number(exact)) === exact && Number.isSafeInteger(Number(exact));
      const wanted: HubMessage = message ?? {
        type: 2,
        invocationId: 's',
        item: item ? Number(exact) : exact,
      };
      assert.deepEqual(only(Buffer.from(hex, 'hex')), wanted);
      // The client sends no headers.
      if (title !== 'invocationWithHeaders') assert.equal(encode(wanted).toString('hex'), hex);
    });
  }

  it('of every type are read as they were written', () => {
    const property = fc.property(messages, (message) => {
      assert.deepEqual(only(encode(message)), message);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it('are read by the official client as we write them', () => {
    // It never receives calls of streams and their cancellation.
    const received = messages.filter(({ type }) => type !== 4 && type !== 5);
    const property = fc.property(fc.array(received, { maxLength: 5 }), (list) => {
      const bytes = new Uint8Array(Buffer.concat(list.map(encode)));
      const parsed = theirs.parseMessages(bytes.buffer, NullLogger.instance);
      assert.deepEqual(parsed.map(common), list.map(common));
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('are read as the official client writes them', () => {
    const property = fc.property(messages, (message) => {
      const bytes = theirs.writeMessage(message as unknown as TheirMessage);
      // It writes Close messages without their members.
      const wanted = message.type === 7 ? { type: 7 } : message;
      assert.deepEqual(only(Buffer.from(bytes)), wanted);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it('arrive whole however frames and chunks are cut', () => {
    const cuts = fc.array(fc.nat(400), { minLength: 1, maxLength: 30 });
    const property = fc.property(
      fc.array(fc.array(messages, { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
      cuts,
      (frames, lengths) => {
        const wire = Buffer.concat(
          frames.map((list) => serverFrame(opcode.binary, Buffer.concat(list.map(encode)))),
        );
        const found: unknown[] = [];
        const listener: FrameListener = {
          stopped: false,
          onMessage: (buffer, start, end) => found.push(...readAll(buffer.subarray(start, end))),
          onPing: () => assert.fail('no ping was sent'),
          onClose: () => assert.fail('no close was sent'),
        };
        const reader = new FrameReader(1024 * 1024);
        for (let at = 0, turn = 0; at < wire.length; turn++) {
          const length = 1 + lengths[turn % lengths.length]!;
          const chunk = wire.subarray(at, at + length);
          reader.read(chunk, 0, chunk.length, listener);
          at += length;
        }
        assert.deepEqual(found, frames.flat());
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('keep 64-bit integers exactly', () => {
    const wide = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n });
    const property = fc.property(wide, (integer) => {
      const message = only(encode({ type: 2, invocationId: 's', item: integer }));
      assert.ok(message?.type === 2);
      assert.equal(BigInt(message.item as number | bigint), integer);
    });
    fc.assert(property, { numRuns: 300 });
    assert.throws(() => encode({ type: 2, invocationId: 's', item: 2n ** 64n }), RangeError);
  });

  it('may have more elements than we know, other widths, extensions and keys that are numbers', () => {
    const item = Object.fromEntries([
      ['5', false],
      ['__proto__', true],
    ]);
    const accepted: readonly (readonly [hex: string, wanted: HubMessage])[] = [
      ['9206c0', { type: 6 }],
      ['940580a13791c70305010203', { type: 5, invocationId: '7' }],
      ['dc0001cc06', { type: 6 }],
      ['950180a0a15490', { type: 1, target: 'T', arguments: [] }],
      ['950280a1738205c2a95f5f70726f746f5f5fc307', { type: 2, invocationId: 's', item }],
    ];
    for (const [hex, wanted] of accepted)
      assert.deepEqual(only(framed(...Buffer.from(hex, 'hex'))), wanted);
    assert.deepEqual(only(Buffer.from([0x82, 0x00, 0x91, 0x06])), { type: 6 });
  });

  it('of an unknown type are ignored, whatever they hold', () => {
    assert.deepEqual(readAll(framed(0x92, 99, 0xc1)), [undefined]);
    assert.deepEqual(readAll(framed(0x91, 0xff)), [undefined]);
  });

  const violations: Readonly<Record<string, readonly number[]>> = {
    'nothing at all': [],
    'no array': [0x80],
    'an empty array': [0x90],
    'a type that is text': [0x91, 0xa1, 0x31],
    'an array longer than the message': [0xdd, 0xff, 0xff, 0xff, 0xff, 6],
    'bytes behind the array': [0x91, 6, 0xc0],
    'headers that are no map': [0x93, 5, 0xc0, 0xa1, 0x37],
    'headers without end': [0x93, 5, 0xdf, 0xff, 0xff, 0xff, 0xff],
    'an id that is a number': [0x93, 5, 0x80, 7],
    'too few elements': [0x92, 5, 0x80],
    'a stream call without id': [0x95, 4, 0x80, 0xc0, 0xa1, 0x54, 0x90],
    'arguments that are no array': [0x95, 1, 0x80, 0xc0, 0xa1, 0x54, 0x80],
    'arguments without end': [0x95, 1, 0x80, 0xc0, 0xa1, 0x54, 0xdd, 0x7f, 0xff, 0xff, 0xff],
    'a map without end': [0x94, 2, 0x80, 0xa1, 0x73, 0xdf, 0xff, 0xff, 0xff, 0xff],
    'a text without end': [0x94, 2, 0x80, 0xa1, 0x73, 0xdb, 0xff, 0xff, 0xff, 0xff],
    'bytes without end': [0x94, 2, 0x80, 0xa1, 0x73, 0xc6, 0x7f, 0xff, 0xff, 0xff],
    'an extension without end': [0x94, 2, 0x80, 0xa1, 0x73, 0xc9, 0x7f, 0xff, 0xff, 0xff, 1],
    'half a number': [0x94, 2, 0x80, 0xa1, 0x73, 0xcf, 0, 0],
    'a byte that means nothing': [0x94, 2, 0x80, 0xa1, 0x73, 0xc1],
    'a key that is nil': [0x94, 2, 0x80, 0xa1, 0x73, 0x81, 0xc0, 0xc0],
    'a completion of no kind': [0x95, 3, 0x80, 0xa1, 0x37, 9, 0xc0],
    'an error that is not a text': [0x95, 3, 0x80, 0xa1, 0x37, 1, 5],
    'a result that is missing': [0x94, 3, 0x80, 0xa1, 0x37, 3],
    'a sequence id beyond all counting': [0x92, 8, 0xcf, ...Array<number>(8).fill(0xff)],
  };
  for (const [title, body] of Object.entries(violations)) {
    it(`are refused with ${title}`, () => {
      assert.throws(() => readAll(framed(...body)), HubMessageError);
    });
  }

  it('are refused when they are nested without end', () => {
    const deep = Buffer.concat([
      Buffer.from([0x94, 2, 0x80, 0xa1, 0x73]),
      Buffer.alloc(100_000, 0x91),
      Buffer.from([0xc0]),
    ]);
    assert.throws(() => messagePackCodec.read(deep, 0, deep.length), /too deeply/);
  });

  it('are refused when their length is none, or they end too late', () => {
    for (const bytes of [
      [0xff, 0xff, 0xff, 0xff, 0x0f, 1],
      [0x80, 0x80, 0x80, 0x80, 0x80, 0],
    ])
      assert.throws(() => readAll(Buffer.from(bytes)), /invalid length/);
    for (const bytes of [[0x80], [0x82, 0x80], [3, 0x91, 6], [0xff, 0xff, 0xff, 0xff, 0x07]])
      assert.throws(() => readAll(Buffer.from(bytes)), /cut off/);
    // The buffer goes on behind the end of what was received.
    const span: Span = { start: 0, end: 0, next: 0 };
    assert.throws(() => messagePackCodec.find(framed(0x91, 6), 0, 2, span), /cut off/);
  });

  it('are read or refused, never anything else, whatever bytes come', () => {
    const mutated = fc
      .tuple(messages, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }))
      .map(([message, changes]) => {
        const bytes = encode(message);
        for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
        return bytes;
      });
    const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
    const property = fc.property(fc.oneof(mutated, noise), (bytes) => {
      try {
        readAll(bytes);
      } catch (error) {
        assert.ok(error instanceof HubMessageError, String(error));
      }
    });
    fc.assert(property, { numRuns: 1000 });
  });

  it('begin with a handshake in JSON', () => {
    const handshake = '{"protocol":"messagepack","version":1}\x1e';
    assert.equal(messagePackCodec.handshake.toString(), handshake);
  });
});
