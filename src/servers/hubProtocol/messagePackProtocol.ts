import { hubMessageType, HubMessageError } from '../../wire/message/hubMessage';
import {
  bodyLengthAt,
  lengthPrefix,
  maximumPrefixBytes,
  prefixBytes,
  readArrayHead,
  readInteger,
  readMapHead,
  readText,
  readValue,
  skipNil,
  skipValue,
  type Cursor,
  arrayHead,
  encodeText,
  encodeValue,
  mapHead,
} from '../../wire/message/messagePack';
import { completionKind, encodeMessagePackMessage } from '../../wire/message/messagePackMessage';
import { itemDigits, itemKey } from '../../wire/message/messageLayout';
import type { ByteRest } from '../../wire/socket/frameReader';
import { opcode } from '../../wire/socket/frame';
import {
  asLong,
  HubMessage,
  longError,
  maxErrorBytes,
  maxNameBytes,
  ServerProtocol,
} from './serverProtocol';

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

  read(bytes: Buffer, start: number, end: number): HubMessage | undefined {
    const prefix = prefixBytes(bytes, start, end);
    if (typeof prefix === 'string') return undefined;
    const cursor: Cursor = { bytes, at: start + prefix, end };
    try {
      const message = new HubMessage(bytes, cursor.at, end);
      const elements = readArrayHead(cursor);
      const type = elements === 0 ? undefined : readInteger(cursor);
      message.type = typeof type === 'number' ? type : fail('no type');
      const used = readFields(cursor, message, elements);
      // Newer versions of the protocol may append elements, and have types of their own.
      for (let index = used; index < elements; index++) skipValue(cursor, 2);
      return cursor.at === cursor.end ? message : undefined;
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

function fail(text: string): never {
  throw new HubMessageError(text);
}

function readFields(cursor: Cursor, message: HubMessage, elements: number): number {
  switch (message.type) {
    case hubMessageType.invocation:
    case hubMessageType.streamInvocation:
      return readInvocation(cursor, message, elements);
    case hubMessageType.streamItem: {
      readHead(cursor, message, elements, 4);
      const { at } = cursor;
      skipValue(cursor, 2);
      message.item = cursor.bytes.subarray(at, cursor.at);
      return 4;
    }
    case hubMessageType.completion:
      return readCompletion(cursor, message, elements);
    case hubMessageType.cancelInvocation:
      readHead(cursor, message, elements, 3);
      return 3;
    default:
      return 1;
  }
}

function readHead(cursor: Cursor, message: HubMessage, elements: number, wanted: number): void {
  if (elements < wanted) fail('too few elements');
  for (let left = 2 * readMapHead(cursor); left > 0; left--) skipValue(cursor, 3);
  const mayBeNil = message.type === hubMessageType.invocation;
  if (mayBeNil && skipNil(cursor)) return;
  const id = nameAt(cursor);
  // An empty id stands for none, as .NET reads it.
  if (id !== '') message.invocationId = id;
  else if (!mayBeNil) fail('no invocation id');
}

function nameAt(cursor: Cursor): string {
  const { at } = cursor;
  const name = readText(cursor);
  return name === undefined || cursor.at - at > maxNameBytes ? fail('no name') : name;
}

function readInvocation(cursor: Cursor, message: HubMessage, elements: number): number {
  readHead(cursor, message, elements, 5);
  message.target = nameAt(cursor);
  if (message.target === '') fail('no target');
  message.beginArguments(cursor.at);
  for (let left = readArrayHead(cursor); left > 0; left--) {
    const { at } = cursor;
    skipValue(cursor, 3);
    message.foundArgument(at, cursor.at);
  }
  message.argumentsEnd = cursor.at;
  if (elements < 6) return 5;
  message.streams = readArrayHead(cursor);
  for (let index = 0; index < message.streams; index++) {
    const id = nameAt(cursor);
    if (index === 0) message.streamId = id;
  }
  return 6;
}

function readCompletion(cursor: Cursor, message: HubMessage, elements: number): number {
  readHead(cursor, message, elements, 4);
  const kind = readInteger(cursor);
  if (kind === completionKind.void) return 4;
  if (elements < 5) fail('too few elements');
  if (kind === completionKind.error) {
    const { at } = cursor;
    const text = readText(cursor) ?? fail('no error text');
    message.error = cursor.at - at > maxErrorBytes ? longError : text;
  } else if (kind === completionKind.value) {
    message.hasResult = true;
    skipValue(cursor, 2);
  } else {
    fail('neither a result nor an error');
  }
  return 5;
}
