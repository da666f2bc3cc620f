import type { Envelope } from '../../wire/message/envelope';
import { HubMessageError } from '../../wire/message/hubMessage';
import {
  bodyLengthAt,
  lengthPrefix,
  maximumPrefixBytes,
  prefixBytes,
  readInteger,
  readMapHead,
  readText,
  readValue,
  skipValue,
  type Cursor,
  arrayHead,
  encodeText,
  encodeValue,
  mapHead,
} from '../../wire/message/messagePack';
import {
  encodeMessagePackMessage,
  readMessagePackEnvelope,
} from '../../wire/message/messagePackMessage';
import { itemDigits, itemKey } from '../../wire/message/messageLayout';
import type { ByteRest } from '../../wire/socket/frameReader';
import { opcode } from '../../wire/socket/frame';
import { asLong, ServerProtocol } from './serverProtocol';

const nothing = Buffer.alloc(0);
const nil = 0xc0;

class MessagePackProtocol extends ServerProtocol {
  readonly name = 'messagepack';

  messageEnd(
    rest: ByteRest | undefined,
    data: Buffer,
    start: number,
    maxBytes: number,
  ): number | 'incomplete' | 'invalid' | 'tooLong' {
    const kept = rest?.length ?? 0;
    const beginning = beginningOf(rest?.first(maximumPrefixBytes) ?? nothing, data, start);
    const prefix = prefixBytes(beginning, 0, beginning.length);
    if (typeof prefix === 'string') return prefix;
    const length = prefix + bodyLengthAt(beginning, 0, prefix);
    if (length > maxBytes) return 'tooLong';
    const end = start + length - kept;
    return end <= data.length ? end : 'incomplete';
  }

  read(bytes: Buffer, start: number, end: number): Envelope | undefined {
    const prefix = prefixBytes(bytes, start, end);
    if (typeof prefix === 'string') return undefined;
    try {
      return readMessagePackEnvelope(bytes, start + prefix, end);
    } catch (error) {
      if (error instanceof HubMessageError) return undefined;
      throw error;
    }
  }

  isDictionary(value: Buffer): boolean {
    return this.isNull(value) || isMap(value[0]!);
  }

  isNull(value: Buffer): boolean {
    return value[0] === nil;
  }

  wideInteger(value: Buffer): bigint | undefined {
    const read = readInteger(cursorIn(value));
    return read === undefined ? undefined : asLong(BigInt(read));
  }

  text(value: Buffer): string | undefined {
    return readText(cursorIn(value));
  }

  member(dictionary: Buffer, wanted: string): string | undefined {
    if (!isMap(dictionary[0]!)) return undefined;
    const cursor = cursorIn(dictionary);
    let found: string | undefined;
    for (let left = readMapHead(cursor); left > 0; left--) {
      const key = readText(cursor);
      if (key === undefined) skipValue(cursor);
      const text = key === wanted ? readText(cursor) : undefined;
      if (text === undefined) skipValue(cursor);
      if (key === wanted) found = text;
    }
    return found;
  }

  value(bytes: Buffer): unknown {
    return readValue(cursorIn(bytes));
  }

  encodeArguments(values: unknown): Buffer {
    return encodeValue(values);
  }

  numberedItem(dictionary: Buffer, number: number): Buffer {
    const cursor = cursorIn(dictionary);
    const pairs = readMapHead(cursor);
    const digits = encodeText(number.toString(16).padStart(itemDigits, '0'));
    const head = [mapHead(pairs + 1), encodeText(itemKey), digits];
    return Buffer.concat([...head, dictionary.subarray(cursor.at)]);
  }

  protected override carrying(head: Buffer, content: Buffer, tail: Buffer): Buffer {
    const prefix = lengthPrefix(head.length + content.length + tail.length);
    return super.carrying(Buffer.concat([prefix, head]), content, tail);
  }
}

export const messagePackProtocol: ServerProtocol = new MessagePackProtocol(
  opcode.binary,
  encodeMessagePackMessage,
  {
    // [1, {}, nil, target, …
    invocationHead: (target) =>
      Buffer.concat([Buffer.from([0x96, 0x01, 0x80, nil]), encodeText(target)]),
    pairHead: arrayHead(2),
    // No streams.
    invocationTail: arrayHead(0),
    itemHead: (id) => Buffer.concat([Buffer.from([0x94, 0x02, 0x80]), encodeText(id)]),
    itemTail: nothing,
  },
);

function beginningOf(rest: Buffer, data: Buffer, start: number): Buffer {
  const missing = maximumPrefixBytes - rest.length;
  if (rest.length === 0) return data.subarray(start, start + missing);
  return Buffer.concat([rest, data.subarray(start, start + Math.max(0, missing))]);
}

const cursorIn = (bytes: Buffer): Cursor => ({ bytes, at: 0, end: bytes.length });

const isMap = (first: number): boolean =>
  (first & 0xf0) === 0x80 || first === 0xde || first === 0xdf;
