import assert from 'node:assert/strict';
import fc from 'fast-check';
import { HubMessageError } from '../../../../src/wire/message/hubMessage';
import { ServiceFrames } from '../../../../src/wire/service/serviceStream';
import {
  serviceType,
  readServiceMessage,
  encodeServiceMessage,
  type ServiceMessage,
} from '../../../../src/wire/service/serviceMessage';
import { golden, meaningOf, messageOf, type GoldenFrame, type GoldenReading } from './goldenFrames';

/** Reads a stream in pieces of one size: what came, and how many bytes wait. */
function readStream(
  bytes: Buffer,
  pieceBytes = bytes.length,
): { readonly messages: (ServiceMessage | undefined)[]; readonly bytesLeft: number } {
  const messages: (ServiceMessage | undefined)[] = [];
  const frames = new ServiceFrames(1 << 20, (body, start, end) => {
    messages.push(readServiceMessage(body, start, end));
  });
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    frames.push(Buffer.from(bytes.subarray(at, at + pieceBytes)));
  }
  return { messages, bytesLeft: frames.waitingBytes };
}

function readOne(base64: string): ServiceMessage | undefined {
  const { messages, bytesLeft } = readStream(Buffer.from(base64, 'base64'));
  assert.equal(messages.length, 1);
  assert.equal(bytesLeft, 0);
  return messages[0];
}

describe('service protocol', () => {
  it('writes and reads every frame of the SDK, byte for byte', () => {
    const both = [...golden.vectors, ...golden.later.vectors];
    assert.equal(both.length, 232);
    for (const frame of both) checkFrame(frame);
    const codes = new Set<number>(both.map(({ code }) => code));
    assert.deepEqual(
      Object.values(serviceType).filter((code) => !codes.has(code)),
      [],
    );
  });

  function checkFrame({ name, code, fields, base64, readsBackAs }: GoldenFrame): void {
    assert.equal(encodeServiceMessage(messageOf(code, fields)).toString('base64'), base64, name);
    const read = readOne(base64);
    assert.ok(read !== undefined, name);
    const expected = messageOf(code, { ...fields, ...readsBackAs });
    assert.deepEqual(meaningOf(read), meaningOf(expected), name);
    assert.equal(encodeServiceMessage(read).toString('base64'), base64, name);
  }

  it('accepts, ignores and refuses what the SDK does', () => {
    const later = new Map(golden.later.readerVectors.map((each) => [each.name, each]));
    const readings = golden.readerVectors.map((each) => later.get(each.name) ?? each);
    assert.equal(readings.length, 83);
    for (const reading of readings) checkReading(reading);
    for (const reading of golden.later.readerVectors) checkReading(reading);
  });

  function checkReading({ name, base64, result, code = 0, fields = {} }: GoldenReading): void {
    if (result === 'throws') {
      assert.throws(() => readOne(base64), HubMessageError, name);
    } else if (result === 'ignored') {
      assert.equal(readOne(base64), undefined, name);
    } else {
      const expected = meaningOf(messageOf(code, fields), true);
      assert.deepEqual(meaningOf(readOne(base64), true), expected, name);
    }
  }

  it('puts messages together from pieces of any size', () => {
    assert.equal(golden.framingVectors.length, 11);
    for (const { name, base64, messages, bytesLeft, throws } of golden.framingVectors) {
      const bytes = Buffer.from(base64, 'base64');
      for (const pieceBytes of [1, 2, 7, bytes.length]) {
        if (throws !== undefined) {
          assert.throws(() => readStream(bytes, pieceBytes), HubMessageError, name);
          continue;
        }
        const read = readStream(bytes, pieceBytes);
        assert.deepEqual(read.messages.map(nameOf), messages, name);
        assert.equal(read.bytesLeft, bytesLeft, name);
      }
    }
  });

  function nameOf(message: ServiceMessage | undefined): string {
    const names = { 3: 'Ping', 5: 'CloseConnection', 6: 'ConnectionData' };
    return message === undefined ? 'ignored' : names[message.type as keyof typeof names];
  }

  it('refuses a message above the bound before it has it', () => {
    const frames = new ServiceFrames(100, () => assert.fail('no body is whole'));
    frames.push(Buffer.from([100, 0x94]));
    assert.equal(frames.waitingBytes, 2);
    const tooLong = new ServiceFrames(100, () => assert.fail('no body is whole'));
    assert.throws(() => tooLong.push(Buffer.from([101])), HubMessageError);
  });

  it('survives any bytes: they are a message, ignored, or an error of the protocol', () => {
    const noise = fc.uint8Array({ maxLength: 80 });
    const known = fc.constantFrom(...golden.vectors.map(({ base64 }) => base64));
    const changed = fc
      .tuple(known, fc.nat(), fc.nat(255), fc.nat(20))
      .map(([base64, at, value, cut]) => {
        const bytes = Buffer.from(base64, 'base64').subarray(0, 200);
        bytes[at % bytes.length] = value;
        return bytes.subarray(0, bytes.length - cut);
      });
    fc.assert(
      fc.property(fc.oneof(noise, changed), fc.integer({ min: 1, max: 9 }), (bytes, size) => {
        try {
          const { messages } = readStream(Buffer.from(bytes), size);
          for (const message of messages) if (message !== undefined) encodeServiceMessage(message);
        } catch (error) {
          assert.ok(error instanceof HubMessageError, String(error));
        }
      }),
      { numRuns: 1000 },
    );
  });
});
