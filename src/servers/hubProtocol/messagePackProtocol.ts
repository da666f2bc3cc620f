import { opcode } from '../../wire/socket/frame';
import { hubMessageType, HubMessageError } from '../../wire/hub/hubMessage';
import {
  bodyLengthAt,
  lengthPrefix,
  maximumPrefixBytes,
  prefixBytes,
} from '../../wire/message/messagePackFraming';
import { encodeMessagePackMessage } from '../../wire/message/messagePackMessage';
import {
  readArrayHead,
  readInteger,
  readMapHead,
  readText,
  readValue,
  skipValue,
  type Cursor,
} from '../../wire/message/messagePackReader';
import { arrayHead, encodeText, encodeValue, mapHead } from '../../wire/message/messagePackWriter';
import { itemDigits, itemKey } from '../../wire/message/messageLayout';
import { readMessagePackEnvelope } from './messagePackEnvelope';
import { carryingFrame, serverFrame } from './serverFrame';
import type { ServerProtocol } from './serverProtocol';

const nothing = Buffer.alloc(0);
const noStreams = arrayHead(0);
// [1, {}, nil, target, …
const invocationHead = Buffer.from([0x96, 0x01, 0x80, 0xc0]);
const recordLatencyHead = Buffer.concat([invocationHead, encodeText('RecordLatency')]);

// [1, {}, nil, 'Measure', [ticks, payload], …
const measureHead = Buffer.concat([
  Buffer.from([0x96, 0x01, 0x80, 0xc0]),
  encodeText('Measure'),
  arrayHead(2),
]);

function messageFrame(message: Parameters<typeof encodeMessagePackMessage>[0]): Buffer {
  return serverFrame(opcode.binary, encodeMessagePackMessage(message));
}

/** The frame of a message made of `head`, a part of `bytes`, and `tail`. */
function carrying(head: Buffer, bytes: Buffer, start: number, end: number, tail: Buffer): Buffer {
  const length = head.length + (end - start) + tail.length;
  const framedHead = Buffer.concat([lengthPrefix(length), head]);
  return carryingFrame(opcode.binary, framedHead, bytes, start, end, tail);
}

/** What `read` finds at a place whose bytes were checked before. */
function at<T>(bytes: Buffer, start: number, end: number, read: (cursor: Cursor) => T): T {
  return read({ bytes, at: start, end });
}

/** Up to 5 bytes from the beginning of the message: from what is kept, and from the new data. */
function beginningOf(rest: Buffer, data: Buffer, start: number): Buffer {
  const missing = maximumPrefixBytes - rest.length;
  if (rest.length === 0) return data.subarray(start, start + missing);
  return Buffer.concat([rest, data.subarray(start, start + Math.max(0, missing))]);
}

const isMap = (first: number): boolean =>
  (first & 0xf0) === 0x80 || first === 0xde || first === 0xdf;

function textMember(cursor: Cursor, wanted: string): string | undefined {
  let found: string | undefined;
  for (let left = readMapHead(cursor); left > 0; left--) {
    const key = readText(cursor);
    if (key === undefined) skipValue(cursor);
    if (key !== wanted) {
      skipValue(cursor);
    } else {
      found = readText(cursor);
      if (found === undefined) skipValue(cursor);
    }
  }
  return found;
}

export const messagePackProtocol: ServerProtocol = {
  name: 'messagepack',
  isText: false,
  // JSON in every protocol, here in a binary message.
  handshakeFrame: serverFrame(opcode.binary, Buffer.from('{}\x1e')),
  pingFrame: messageFrame({ type: hubMessageType.ping }),
  messageEnd: (rest, data, start, maxBytes) => {
    const kept = rest?.length ?? 0;
    const beginning = beginningOf(rest?.first(maximumPrefixBytes) ?? nothing, data, start);
    const prefix = prefixBytes(beginning, 0, beginning.length);
    if (typeof prefix === 'string') return prefix;
    const length = prefix + bodyLengthAt(beginning, 0, prefix);
    if (length > maxBytes) return 'tooLong';
    const end = start + length - kept;
    return end <= data.length ? end : 'incomplete';
  },
  read: readMessagePackEnvelope,
  isDictionary: (bytes, start) => bytes[start] === 0xc0 || isMap(bytes[start]!),
  isNull: (bytes, start) => bytes[start] === 0xc0,
  integer: (bytes, start, end) => {
    const value = at(bytes, start, end, readInteger);
    return typeof value === 'number' && value === (value | 0) ? value : undefined;
  },
  wideInteger: (bytes, start, end) => {
    const read = at(bytes, start, end, readInteger);
    const value = read === undefined ? undefined : BigInt(read);
    return value === undefined || BigInt.asIntN(64, value) !== value ? undefined : value;
  },
  text: (bytes, start, end) => at(bytes, start, end, readText),
  member: (bytes, start, end, key) =>
    isMap(bytes[start]!) ? at(bytes, start, end, (cursor) => textMember(cursor, key)) : undefined,
  value: (bytes, start, end) => {
    try {
      return at(bytes, start, end, readValue);
    } catch (error) {
      if (error instanceof HubMessageError) throw new SyntaxError(error.message, { cause: error });
      throw error;
    }
  },
  places: (bytes, start, end) =>
    at(bytes, start, end, (cursor) =>
      Array.from({ length: readArrayHead(cursor) }, () => {
        const from = cursor.at;
        skipValue(cursor, 3);
        return [from, cursor.at] as const;
      }),
    ),
  numberedItem: (bytes, start, end, number) =>
    at(bytes, start, end, (cursor) => {
      const pairs = readMapHead(cursor);
      const digits = encodeText(number.toString(16).padStart(itemDigits, '0'));
      const head = [mapHead(pairs + 1), encodeText(itemKey), digits];
      return Buffer.concat([...head, bytes.subarray(cursor.at, end)]);
    }),
  recordLatencyFrame: (bytes, start, end) =>
    carrying(recordLatencyHead, bytes, start, end, noStreams),
  measureFrame: (bytes, start, end) => carrying(measureHead, bytes, start, end, noStreams),
  measureFrameOf: (ticks, payload) =>
    messageFrame({
      type: hubMessageType.invocation,
      target: 'Measure',
      arguments: [ticks, payload],
    }),
  invocationFrame: (target, bytes, start, end) => {
    const head = Buffer.concat([invocationHead, encodeText(target)]);
    return carrying(head, bytes, start, end, noStreams);
  },
  encodeArguments: encodeValue,
  streamItemFrame: (invocationId, bytes, start, end) => {
    const head = [arrayHead(4), encodeValue(2), mapHead(0), encodeText(invocationId)];
    return carrying(Buffer.concat(head), bytes, start, end, nothing);
  },
  callbackFrame: (target, ...args) =>
    messageFrame({ type: hubMessageType.invocation, target, arguments: args }),
  resultFrame: (invocationId, result) =>
    messageFrame({ type: hubMessageType.completion, invocationId, result }),
  streamEndFrame: (invocationId) => messageFrame({ type: hubMessageType.completion, invocationId }),
  errorFrame: (invocationId, error) =>
    messageFrame({ type: hubMessageType.completion, invocationId, error }),
  closeFrame: (error, allowReconnect) =>
    messageFrame({
      type: hubMessageType.close,
      ...(error !== undefined && { error }),
      allowReconnect,
    }),
};
