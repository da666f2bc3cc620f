import { HubMessageError } from './hubMessage';

/**
 * Reading of MessagePack, as far as hostile bytes allow: nothing is believed that cannot stand in the
 * bytes that are there. Source: the MessagePack specification, "Formats".
 */

/** A place in bytes; reading moves `at` on, never beyond `end`. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
  readonly end: number;
}

/** A value of an application's own type. */
export class MessagePackExtension {
  constructor(
    /** −128…127; negative ones belong to MessagePack itself, −1 is a point in time. */
    readonly type: number,
    readonly data: Uint8Array,
  ) {}
}

/** As deep as .NET's JSON reader goes by default, so that both protocols carry the same values. */
export const maximumDepth = 64;

const cutOff = 'a hub message is cut off inside a value';

/** Moves over `length` bytes and returns where they begin. */
function take(cursor: Cursor, length: number): number {
  const { at } = cursor;
  if (length > cursor.end - at) throw new HubMessageError(cutOff);
  cursor.at = at + length;
  return at;
}

function unsigned(cursor: Cursor, width: 1 | 2 | 4): number {
  return cursor.bytes.readUIntBE(take(cursor, width), width);
}

/** The first byte of the value at the cursor. */
function firstByte(cursor: Cursor): number {
  if (cursor.at >= cursor.end) throw new HubMessageError(cutOff);
  return cursor.bytes[cursor.at]!;
}

/**
 * Moves over a head and returns the length in it; −1 without moving when it is none of that kind.
 *
 * @param fixed first byte with the length in its low bits, which `mask` has; −1 for none
 * @param one first byte before a length of 8 bits; −1 for none
 * @param two the same of 16 bits; that of 32 bits is the next number
 */
function headOf(cursor: Cursor, fixed: number, mask: number, one: number, two: number): number {
  const first = firstByte(cursor);
  if ((first & ~mask) === fixed) return cursor.bytes[cursor.at++]! & mask;
  const width = first === one ? 1 : first === two ? 2 : first === two + 1 ? 4 : 0;
  if (width === 0) return -1;
  cursor.at += 1;
  return unsigned(cursor, width);
}

const arrayHead = (cursor: Cursor): number => headOf(cursor, 0x90, 15, -1, 0xdc);
const mapHead = (cursor: Cursor): number => headOf(cursor, 0x80, 15, -1, 0xde);
const textHead = (cursor: Cursor): number => headOf(cursor, 0xa0, 31, 0xd9, 0xda);
const binaryHead = (cursor: Cursor): number => headOf(cursor, -1, 0, 0xc4, 0xc5);

/** The head of an extension up to its type byte; the length is that of its data. */
function extensionHead(cursor: Cursor): number {
  const first = firstByte(cursor);
  if (first < 0xd4 || first > 0xd8) return headOf(cursor, -1, 0, 0xc7, 0xc8);
  cursor.at += 1;
  return 1 << (first - 0xd4);
}

/** Every element takes a byte at least: what claims more is no reason to make room for it. */
function bounded(cursor: Cursor, count: number, bytesEach: number): number {
  if (count * bytesEach > cursor.end - cursor.at) throw new HubMessageError(cutOff);
  return count;
}

/**
 * Moves over the head of an array.
 * @throws HubMessageError when there is none, or more elements than bytes
 */
export function readArrayHead(cursor: Cursor): number {
  const length = arrayHead(cursor);
  if (length < 0) throw new HubMessageError('a hub message has no array where one belongs');
  return bounded(cursor, length, 1);
}

/** The same for a map; the length is the number of its pairs. */
export function readMapHead(cursor: Cursor): number {
  const length = mapHead(cursor);
  if (length < 0) throw new HubMessageError('a hub message has no map where one belongs');
  return bounded(cursor, length, 2);
}

/** Moves over a nil, if one is there. */
export function skipNil(cursor: Cursor): boolean {
  if (firstByte(cursor) !== 0xc0) return false;
  cursor.at += 1;
  return true;
}

/** Reads a text; undefined without moving when the value is none. */
export function readText(cursor: Cursor): string | undefined {
  const length = textHead(cursor);
  if (length < 0) return undefined;
  const start = take(cursor, length);
  return cursor.bytes.toString('utf8', start, cursor.at);
}

/** Reads an integer of any width, exactly; undefined without moving when the value is none. */
export function readInteger(cursor: Cursor): number | bigint | undefined {
  const first = firstByte(cursor);
  const { bytes } = cursor;
  if (first < 0x80 || first >= 0xe0) {
    cursor.at += 1;
    return first < 0x80 ? first : first - 256;
  }
  if (first < 0xcc || first > 0xd3) return undefined;
  cursor.at += 1;
  switch (first) {
    case 0xcc:
      return unsigned(cursor, 1);
    case 0xcd:
      return unsigned(cursor, 2);
    case 0xce:
      return unsigned(cursor, 4);
    case 0xcf:
      return exact(bytes.readBigUInt64BE(take(cursor, 8)));
    case 0xd0:
      return bytes.readInt8(take(cursor, 1));
    case 0xd1:
      return bytes.readInt16BE(take(cursor, 2));
    case 0xd2:
      return bytes.readInt32BE(take(cursor, 4));
    default:
      return exact(bytes.readBigInt64BE(take(cursor, 8)));
  }
}

/** A number where it holds the value exactly. */
function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Reads one value with all it contains. Integers that no number holds exactly are given as bigint, bytes
 * as a copy, nil as null, extensions as {@link MessagePackExtension}.
 *
 * @throws HubMessageError when the bytes are no MessagePack, or nested too deeply
 */
export function readValue(cursor: Cursor, depth = 1): unknown {
  const integer = readInteger(cursor);
  if (integer !== undefined) return integer;
  const text = readText(cursor);
  if (text !== undefined) return text;
  const { bytes } = cursor;
  switch (firstByte(cursor)) {
    case 0xc0:
      cursor.at += 1;
      return null;
    case 0xc2:
    case 0xc3:
      return bytes[take(cursor, 1)] === 0xc3;
    case 0xca:
      cursor.at += 1;
      return bytes.readFloatBE(take(cursor, 4));
    case 0xcb:
      cursor.at += 1;
      return bytes.readDoubleBE(take(cursor, 8));
    default:
      return readCompound(cursor, depth);
  }
}

function readCompound(cursor: Cursor, depth: number): unknown {
  const { bytes } = cursor;
  const binary = binaryHead(cursor);
  if (binary >= 0) return copyOf(cursor, binary);
  const extension = extensionHead(cursor);
  if (extension >= 0) {
    const type = bytes.readInt8(take(cursor, 1));
    return new MessagePackExtension(type, copyOf(cursor, extension));
  }
  if (depth > maximumDepth) throw new HubMessageError('a hub message is nested too deeply');
  const elements = arrayHead(cursor);
  if (elements >= 0) {
    bounded(cursor, elements, 1);
    return Array.from({ length: elements }, () => readValue(cursor, depth + 1));
  }
  const pairs = mapHead(cursor);
  if (pairs < 0) throw new HubMessageError('a hub message contains a byte that starts no value');
  bounded(cursor, pairs, 2);
  const entries = Array.from({ length: pairs }, () => {
    const key = readText(cursor) ?? readInteger(cursor);
    if (key === undefined)
      throw new HubMessageError('a map has a key that is neither text nor a whole number');
    return [String(key), readValue(cursor, depth + 1)] as const;
  });
  // fromEntries makes even `__proto__` an ordinary member.
  return Object.fromEntries(entries);
}

function copyOf(cursor: Cursor, length: number): Uint8Array {
  const start = take(cursor, length);
  return new Uint8Array(cursor.bytes.subarray(start, cursor.at));
}

/** Bytes of the values from 0xc0 to 0xdf whose length is in their first byte; 0 for all others. */
const fixedLengths = Uint8Array.of(
  ...[
    1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
  ],
);

/**
 * Moves over one value with all it contains without building it.
 * @throws HubMessageError as {@link readValue} does
 */
export function skipValue(cursor: Cursor, depth = 1): void {
  const first = firstByte(cursor);
  if (first < 0x80 || first >= 0xe0) {
    cursor.at += 1;
    return;
  }
  const fixed = first < 0xc0 ? 0 : fixedLengths[first - 0xc0]!;
  if (fixed > 0) {
    take(cursor, fixed);
    return;
  }
  const text = textHead(cursor);
  const flat = text < 0 ? binaryHead(cursor) : text;
  if (flat >= 0) {
    take(cursor, flat);
    return;
  }
  const extension = extensionHead(cursor);
  if (extension >= 0) {
    take(cursor, extension + 1);
    return;
  }
  if (depth > maximumDepth) throw new HubMessageError('a hub message is nested too deeply');
  const elements = arrayHead(cursor);
  const pairs = elements < 0 ? mapHead(cursor) : 0;
  if (pairs < 0) throw new HubMessageError('a hub message contains a byte that starts no value');
  const count = elements < 0 ? 2 * pairs : elements;
  bounded(cursor, count, 1);
  for (let index = 0; index < count; index++) skipValue(cursor, depth + 1);
}
