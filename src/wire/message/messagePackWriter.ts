import { MessagePackExtension } from './messagePackReader';

/** Writing of MessagePack in the shortest form of each value, not for hot paths: see `messageTemplate.ts`. */

/** The head of a text of `length` bytes. */
export function textHead(length: number): Buffer {
  return length < 32 ? Buffer.from([0xa0 | length]) : sized(length, 0xd9, 0xda, 0xdb);
}

/** The head of `length` bytes of data. */
export function binaryHead(length: number): Buffer {
  return sized(length, 0xc4, 0xc5, 0xc6);
}

export function arrayHead(length: number): Buffer {
  return length < 16 ? Buffer.from([0x90 | length]) : sized(length, undefined, 0xdc, 0xdd);
}

/** The head of a map with `length` pairs. */
export function mapHead(length: number): Buffer {
  return length < 16 ? Buffer.from([0x80 | length]) : sized(length, undefined, 0xde, 0xdf);
}

function sized(
  length: number,
  oneByte: number | undefined,
  twoBytes: number,
  fourBytes: number,
): Buffer {
  if (oneByte !== undefined && length < 0x100) return Buffer.from([oneByte, length]);
  const wide = length >= 0x10000;
  const head = Buffer.alloc(wide ? 5 : 3, wide ? fourBytes : twoBytes);
  head.writeUIntBE(length, 1, wide ? 4 : 2);
  return head;
}

export function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  return Buffer.concat([textHead(bytes.length), bytes]);
}

/**
 * Encodes plain data: null and undefined as nil, whole numbers and bigint as integers, other numbers as
 * 64-bit floats, byte arrays as bin, objects as maps.
 *
 * @throws RangeError for a bigint beyond 64 bits
 */
export function encodeValue(value: unknown): Buffer {
  const output: Output = { bytes: Buffer.allocUnsafe(256), used: 0 };
  append(output, value);
  return output.bytes.subarray(0, output.used);
}

/** Bytes so far and room for more: a list of pieces would need many times the memory of small values. */
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
      if (value === null) put(output, Buffer.from([0xc0]));
      else appendObject(output, value);
      break;
    case 'undefined':
      put(output, Buffer.from([0xc0]));
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

function extensionHead(length: number, type: number): Buffer {
  const power = [1, 2, 4, 8, 16].indexOf(length);
  const head = power < 0 ? sized(length, 0xc7, 0xc8, 0xc9) : Buffer.from([0xd4 + power]);
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
