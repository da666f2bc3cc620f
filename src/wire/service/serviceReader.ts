import { HubMessageError } from '../hub/hubMessage';
import {
  readArrayHead,
  readInteger,
  readMapHead,
  readText,
  readValue,
  skipNil,
  skipValue,
  type Cursor,
} from '../message/messagePackReader';
import { extensionFields, layoutOf, type Element, type ExtensionKey } from './serviceLayout';
import {
  serviceType,
  type Claims,
  type Headers,
  type Payloads,
  type ServiceMessage,
  type ServiceMessageOf,
} from './serviceMessage';

/**
 * Reads the body of one service message. As lenient as the SDK's own reader, and not more: elements
 * behind the known ones are ignored, those missing at the end have defaults. Payloads share memory
 * with `bytes`.
 *
 * @returns undefined for a type that is not known, which both sides ignore
 * @throws HubMessageError when it breaks the protocol
 */
export function readServiceMessage(
  bytes: Buffer,
  start: number,
  end: number,
): ServiceMessage | undefined {
  const cursor: Cursor = { bytes, at: start, end };
  if (bytes[start] === connectionDataHead && bytes[start + 1] === serviceType.connectionData) {
    cursor.at += 2;
    return readConnectionData(cursor);
  }
  const count = readArrayHead(cursor);
  const type = count === 0 ? undefined : readInteger(cursor);
  if (type === undefined) throw new HubMessageError('a service message has no type');
  const layout = layoutOf(type);
  if (layout === undefined) return undefined;
  const message: Record<string, unknown> = { type };
  for (const [index, element] of layout.entries())
    readElement(cursor, element, index, count, message);
  return message as unknown as ServiceMessage;
}

/** First byte of an array of four: what nearly all messages are, read without looking at a layout. */
const connectionDataHead = 0x94;

function readConnectionData(cursor: Cursor): ServiceMessageOf<6> {
  const message = {
    type: serviceType.connectionData,
    connectionId: textOf(cursor) ?? '',
    payload: bytesOf(cursor) ?? Buffer.alloc(0),
  };
  readExtension(cursor, connectionDataKeys, message);
  return message;
}

const connectionDataKeys: readonly ExtensionKey[] = [1, 5, 6];

function readElement(
  cursor: Cursor,
  element: Element,
  index: number,
  count: number,
  message: Record<string, unknown>,
): void {
  const isThere = count >= (element.from ?? index + 2);
  if ('extension' in element) {
    if (isThere) readExtension(cursor, element.extension, message);
    return;
  }
  const { name, kind, from } = element;
  if (kind === 'restTexts') {
    message[name] = Array.from({ length: count - 1 }, () => textOf(cursor) ?? null);
    return;
  }
  if (!isThere && from === undefined)
    throw new HubMessageError('a service message has too few elements');
  const value = isThere ? readers[kind](cursor) : defaults[kind];
  if (value !== undefined) message[name] = value;
}

/** What stands for elements that are missing at the end. */
const defaults: Partial<Record<string, unknown>> = { int: 0, onDemandTarget: '' };

const readers = {
  text: (cursor) => textOf(cursor) ?? '',
  textOrNil: textOf,
  onDemandTarget: (cursor) => textOf(cursor) ?? '',
  int: integerOf,
  intOrNil: (cursor) => (skipNil(cursor) ? undefined : integerOf(cursor)),
  flowEnum: (cursor) => {
    const value = integerOf(cursor);
    if (value < 1 || value > 4) throw new HubMessageError('flow control of an unknown kind');
    return value;
  },
  boolIfGiven: boolOf,
  bin: (cursor) => bytesOf(cursor) ?? Buffer.alloc(0),
  binIfGiven: (cursor) => bytesOf(cursor) ?? null,
  texts: readTexts,
  restTexts: readTexts,
  payloads: readPayloads,
  claims: readClaims,
  headers: readHeaders,
} satisfies Record<Exclude<Element, { extension: unknown }>['kind'], (cursor: Cursor) => unknown>;

function readExtension(
  cursor: Cursor,
  keys: readonly ExtensionKey[],
  message: Record<string, unknown>,
): void {
  for (let left = readMapHead(cursor); left > 0; left--) {
    const key = integerOf(cursor);
    const known = keys.find((each) => each === key);
    // A key that exists but belongs to other types: no SDK moves over its value, so nobody sends it.
    if (known === undefined) {
      if (!(key in extensionFields)) skipValue(cursor, 2);
    } else {
      message[extensionFields[known]] = extensionReaders[known](cursor);
    }
  }
}

const extensionReaders: Record<ExtensionKey, (cursor: Cursor) => unknown> = {
  1: (cursor) => {
    const value = readInteger(cursor);
    if (value === undefined || value < 0) throw new HubMessageError('a tracing id is no number');
    return BigInt(value);
  },
  2: integerOf,
  3: (cursor) => textOf(cursor) ?? '',
  4: (cursor) => textOf(cursor) ?? '',
  5: integerOf,
  6: boolOf,
};

/** A text, or undefined for nil. */
function textOf(cursor: Cursor): string | undefined {
  if (skipNil(cursor)) return undefined;
  const text = readText(cursor);
  if (text === undefined)
    throw new HubMessageError('a service message has no text where one belongs');
  return text;
}

/** A text that must not be nil. */
function nameOf(cursor: Cursor): string {
  const text = readText(cursor);
  if (text === undefined)
    throw new HubMessageError('a service message has no name where one belongs');
  return text;
}

/** Nothing in the protocol but tracing ids needs more than 32 bits. */
function integerOf(cursor: Cursor): number {
  const value = readInteger(cursor);
  if (typeof value !== 'number' || value !== (value | 0))
    throw new HubMessageError('a service message has no 32-bit integer where one belongs');
  return value;
}

function boolOf(cursor: Cursor): boolean {
  const value = readValue(cursor, 2);
  if (typeof value !== 'boolean')
    throw new HubMessageError('a service message has no boolean where one belongs');
  return value;
}

/** Bytes, or the bytes of a text; undefined for nil. */
function bytesOf(cursor: Cursor): Buffer | undefined {
  if (skipNil(cursor)) return undefined;
  const start = cursor.at;
  const first = cursor.bytes[start]!;
  const isBytes = (first >= 0xc4 && first <= 0xc6) || (first >= 0xd9 && first <= 0xdb);
  if (!isBytes && (first & 0xe0) !== 0xa0)
    throw new HubMessageError('a service message has no payload where one belongs');
  skipValue(cursor);
  const width = first < 0xc4 ? 0 : 1 << (first < 0xd9 ? first - 0xc4 : first - 0xd9);
  return cursor.bytes.subarray(start + 1 + width, cursor.at);
}

function readTexts(cursor: Cursor): string[] {
  const length = readArrayHead(cursor);
  return Array.from({ length }, () => textOf(cursor) ?? '');
}

function readPayloads(cursor: Cursor): Payloads {
  const length = readMapHead(cursor);
  return Array.from(
    { length },
    () => [nameOf(cursor), bytesOf(cursor) ?? Buffer.alloc(0)] as const,
  );
}

function readClaims(cursor: Cursor): Claims {
  const length = readMapHead(cursor);
  return Array.from({ length }, () => [nameOf(cursor), nameOf(cursor)] as const);
}

function readHeaders(cursor: Cursor): Headers {
  const length = readMapHead(cursor);
  const headers = Array.from({ length }, () => [nameOf(cursor), readTexts(cursor)] as const);
  // Names of headers have no case; the SDK drops a client that has one twice.
  if (new Set(headers.map(([name]) => name.toLowerCase())).size < length)
    throw new HubMessageError('a header occurs twice');
  return headers;
}
