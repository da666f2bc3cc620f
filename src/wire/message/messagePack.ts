import { HubMessageError } from './hubMessage';

/**
 * MessagePack: a reader that is safe with hostile bytes, and a writer in the shortest form of each value, which is
 * not for hot paths: see `messageTemplate.ts`. Source: the MessagePack specification, "Formats".
 */

export interface Cursor {
  readonly bytes: Buffer;
  at: number;
  readonly end: number;
}

export class MessagePackExtension {
  constructor(
    /** −128…127; negative ones are reserved, −1 is a timestamp. */
    readonly type: number,
    readonly data: Uint8Array,
  ) {}
}

/** The default of .NET's JSON reader, so that both protocols carry the same values. */
const maximumDepth = 64;

const cutOff = 'a hub message is cut off inside a value';

function take(cursor: Cursor, length: number): number {
  const { at } = cursor;
  if (length > cursor.end - at) throw new HubMessageError(cutOff);
  cursor.at = at + length;
  return at;
}

function unsigned(cursor: Cursor, width: 1 | 2 | 4): number {
  return cursor.bytes.readUIntBE(take(cursor, width), width);
}

function firstByte(cursor: Cursor): number {
  if (cursor.at >= cursor.end) throw new HubMessageError(cutOff);
  return cursor.bytes[cursor.at]!;
}

interface HeadForm {
  /** First byte with the length in its low bits (`mask`); −1 for none. */
  readonly fixed: number;
  readonly mask: number;
  /** First byte before a length of 8 bits; −1 for none. */
  readonly one: number;
  /** The same for 16 bits; that for 32 bits is the next number. */
  readonly two: number;
}
const heads = {
  array: { fixed: 0x90, mask: 15, one: -1, two: 0xdc },
  map: { fixed: 0x80, mask: 15, one: -1, two: 0xde },
  text: { fixed: 0xa0, mask: 31, one: 0xd9, two: 0xda },
  binary: { fixed: -1, mask: 0, one: 0xc4, two: 0xc5 },
  extension: { fixed: -1, mask: 0, one: 0xc7, two: 0xc8 },
} as const satisfies Record<string, HeadForm>;

/** Returns the length in a head and moves behind it; −1 without moving when it is of another kind. */
function takeHead(cursor: Cursor, { fixed, mask, one, two }: HeadForm): number {
  const first = firstByte(cursor);
  if ((first & ~mask) === fixed) return cursor.bytes[cursor.at++]! & mask;
  const width = first === one ? 1 : first === two ? 2 : first === two + 1 ? 4 : 0;
  if (width === 0) return -1;
  cursor.at += 1;
  return unsigned(cursor, width);
}

const headWriter =
  ({ fixed, mask, one, two }: HeadForm) =>
  (length: number): Buffer => {
    if (fixed >= 0 && length <= mask) return Buffer.from([fixed | length]);
    if (one >= 0 && length < 0x100) return Buffer.from([one, length]);
    const wide = length >= 0x10000;
    const head = Buffer.alloc(wide ? 5 : 3, wide ? two + 1 : two);
    head.writeUIntBE(length, 1, wide ? 4 : 2);
    return head;
  };
export const textHead = headWriter(heads.text);
export const binaryHead = headWriter(heads.binary);
export const arrayHead = headWriter(heads.array);
export const mapHead = headWriter(heads.map);

function takeExtensionHead(cursor: Cursor): number {
  const first = firstByte(cursor);
  if (first < 0xd4 || first > 0xd8) return takeHead(cursor, heads.extension);
  cursor.at += 1;
  return 1 << (first - 0xd4);
}

/** Every element takes a byte at least: a larger claim must not reserve memory. */
function bounded(cursor: Cursor, count: number, bytesEach: number): number {
  if (count * bytesEach > cursor.end - cursor.at) throw new HubMessageError(cutOff);
  return count;
}

/** @throws HubMessageError when there is no array, or it claims more elements than bytes */
export function readArrayHead(cursor: Cursor): number {
  const length = takeHead(cursor, heads.array);
  if (length < 0) throw new HubMessageError('a hub message has no array where one belongs');
  return bounded(cursor, length, 1);
}

export function readMapHead(cursor: Cursor): number {
  const length = takeHead(cursor, heads.map);
  if (length < 0) throw new HubMessageError('a hub message has no map where one belongs');
  return bounded(cursor, length, 2);
}

export function skipNil(cursor: Cursor): boolean {
  if (firstByte(cursor) !== 0xc0) return false;
  cursor.at += 1;
  return true;
}

/** Undefined without moving when the value is no text. */
export function readText(cursor: Cursor): string | undefined {
  const length = takeHead(cursor, heads.text);
  if (length < 0) return undefined;
  const start = take(cursor, length);
  return cursor.bytes.toString('utf8', start, cursor.at);
}

/** An integer of any width, exactly; undefined without moving when the value is none. */
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

function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Integers beyond the safe range become bigint, bin a copy, nil null. @throws HubMessageError when the bytes are no
 * MessagePack, or nested too deeply
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
  const binary = takeHead(cursor, heads.binary);
  if (binary >= 0) return copyOf(cursor, binary);
  const extension = takeExtensionHead(cursor);
  if (extension >= 0) {
    const type = bytes.readInt8(take(cursor, 1));
    return new MessagePackExtension(type, copyOf(cursor, extension));
  }
  if (depth > maximumDepth) throw new HubMessageError('a hub message is nested too deeply');
  const elements = takeHead(cursor, heads.array);
  if (elements >= 0) {
    bounded(cursor, elements, 1);
    return Array.from({ length: elements }, () => readValue(cursor, depth + 1));
  }
  const pairs = takeHead(cursor, heads.map);
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

/** Total lengths of the values 0xc0 to 0xdf that have a fixed one; 0 for all others. */
const fixedLengths = Uint8Array.from([
  1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 5, 9, 2, 3, 5, 9, 2, 3, 5, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** Skips a value. @throws HubMessageError as {@link readValue} does */
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
  const text = takeHead(cursor, heads.text);
  const flat = text < 0 ? takeHead(cursor, heads.binary) : text;
  if (flat >= 0) {
    take(cursor, flat);
    return;
  }
  const extension = takeExtensionHead(cursor);
  if (extension >= 0) {
    take(cursor, extension + 1);
    return;
  }
  if (depth > maximumDepth) throw new HubMessageError('a hub message is nested too deeply');
  const elements = takeHead(cursor, heads.array);
  const pairs = elements < 0 ? takeHead(cursor, heads.map) : 0;
  if (pairs < 0) throw new HubMessageError('a hub message contains a byte that starts no value');
  const count = elements < 0 ? 2 * pairs : elements;
  bounded(cursor, count, 1);
  for (let index = 0; index < count; index++) skipValue(cursor, depth + 1);
}

export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([textHead(bytes.length), bytes]);
}

/**
 * Whole numbers and bigint become integers, other numbers 64-bit floats, byte arrays bin, undefined nil. @throws
 * RangeError for a bigint beyond 64 bits
 */
export function encodeValue(value: unknown): Buffer {
  const output: Output = { bytes: Buffer.allocUnsafe(256), used: 0 };
  append(output, value);
  return output.bytes.subarray(0, output.used);
}

const nil = Buffer.from([0xc0]);

/** A list of pieces would need many times the memory of small values. */
interface Output {
  bytes: Buffer;
  used: number;
}

function put(output: Output, piece: Uint8Array): void {
  const wanted = output.used + piece.length;
  if (wanted > output.bytes.length) {
    const larger = Buffer.allocUnsafe(Math.max(wanted, 2 * output.bytes.length));
    output.bytes.copy(larger, 0, 0, output.used);
    output.bytes = larger;
  }
  output.bytes.set(piece, output.used);
  output.used = wanted;
}

function append(output: Output, value: unknown): void {
  switch (typeof value) {
    case 'boolean':
      put(output, Buffer.from([value ? 0xc3 : 0xc2]));
      break;
    case 'undefined':
      put(output, nil);
      break;
    case 'number':
      put(output, Number.isSafeInteger(value) ? encodeInteger(value) : encodeFloat(value));
      break;
    case 'bigint':
      put(
        output,
        BigInt.asIntN(54, value) === value ? encodeInteger(Number(value)) : encodeWide(value),
      );
      break;
    case 'string':
      put(output, encodeText(value));
      break;
    case 'object':
      if (value === null) put(output, nil);
      else appendObject(output, value);
      break;
    default:
      throw new TypeError(`a ${typeof value} has no form in MessagePack`);
  }
}

function appendObject(output: Output, value: object): void {
  if (value instanceof Uint8Array) {
    put(output, binaryHead(value.length));
    put(output, value);
  } else if (value instanceof MessagePackExtension) {
    put(output, extensionHead(value.data.length, value.type));
    put(output, value.data);
  } else if (Array.isArray(value)) {
    put(output, arrayHead(value.length));
    for (const element of value) append(output, element);
  } else {
    const entries = Object.entries(value);
    put(output, mapHead(entries.length));
    for (const [key, member] of entries) {
      put(output, encodeText(key));
      append(output, member);
    }
  }
}

const longExtensionHead = headWriter(heads.extension);
function extensionHead(length: number, type: number): Buffer {
  const power = [1, 2, 4, 8, 16].indexOf(length);
  const head = power < 0 ? longExtensionHead(length) : Buffer.from([0xd4 + power]);
  return Buffer.concat([head, Buffer.from([type & 0xff])]);
}

function encodeFloat(value: number): Buffer {
  const bytes = Buffer.alloc(9, 0xcb);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function encodeInteger(value: number): Buffer {
  if (value >= -32 && value < 0x80) return Buffer.from([value & 0xff]);
  const isNegative = value < 0;
  const fits = (power: number): boolean =>
    isNegative ? value >= -(2 ** (8 * 2 ** power - 1)) : value < 2 ** (8 * 2 ** power);
  const power = [0, 1, 2].find(fits);
  if (power === undefined) return encodeWide(BigInt(value));
  const bytes = Buffer.alloc(1 + 2 ** power, (isNegative ? 0xd0 : 0xcc) + power);
  if (isNegative) bytes.writeIntBE(value, 1, 2 ** power);
  else bytes.writeUIntBE(value, 1, 2 ** power);
  return bytes;
}

function encodeWide(value: bigint): Buffer {
  const bytes = Buffer.alloc(9, value < 0n ? 0xd3 : 0xcf);
  if (value < 0n) bytes.writeBigInt64BE(value, 1);
  else bytes.writeBigUInt64BE(value, 1);
  return bytes;
}

/**
 * Hub messages follow each other, each behind its length: 7 bits a byte, lowest first, the highest bit says that
 * another byte follows. Source: the hub protocol's specification, "MessagePack encoding".
 */

export const maximumPrefixBytes = 5;

export function lengthPrefix(bodyLength: number): Buffer {
  const bytes: number[] = [];
  let rest = bodyLength;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest >>>= 7;
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}

export function withLengthPrefix(parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([lengthPrefix(body.length), body]);
}

/** Bytes of the length prefix at `at`; `invalid` when it is longer than 5 bytes or 31 bits. */
export function prefixBytes(
  bytes: Uint8Array,
  at: number,
  end: number,
): number | 'incomplete' | 'invalid' {
  for (let count = 1; count <= maximumPrefixBytes; count++) {
    if (at + count > end) return 'incomplete';
    const byte = bytes[at + count - 1]!;
    if (byte < 0x80) return count === maximumPrefixBytes && byte > 0x07 ? 'invalid' : count;
  }
  return 'invalid';
}

export function bodyLengthAt(bytes: Uint8Array, at: number, count: number): number {
  let length = 0;
  for (let index = count - 1; index >= 0; index--)
    length = length * 128 + (bytes[at + index]! & 0x7f);
  return length;
}
