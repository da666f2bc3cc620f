import { isUtf8 } from 'node:buffer';
import { wireId, type WireId } from './pubSubMessage';

/**
 * Protocol Buffers as far as Web PubSub needs them: varints and length-delimited fields, fixed-width ones
 * skipped. Source: protobuf.dev, "Encoding".
 */

const wireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** Bytes of the longest varint. */
const maxVarintBytes = 10;

/**
 * Visits the fields of a message in their order.
 * @throws SyntaxError when the bytes are no message
 */
export function visitFields(
  bytes: Buffer,
  visit: (field: number, value: WireId | Buffer) => void,
): void {
  const cursor = { at: 0 };
  while (cursor.at < bytes.length) {
    const tag = readVarint(bytes, cursor);
    if (typeof tag === 'bigint' || tag < 8 || tag > 0xffff_ffff) throw new SyntaxError('bad tag');
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case wireType.varint:
        visit(field, readVarint(bytes, cursor));
        break;
      case wireType.bytes: {
        const length = readVarint(bytes, cursor);
        visit(field, take(bytes, cursor, length));
        break;
      }
      case wireType.fixed64:
        take(bytes, cursor, 8);
        break;
      case wireType.fixed32:
        take(bytes, cursor, 4);
        break;
      default:
        throw new SyntaxError('bad wire type');
    }
  }
}

/**
 * A number inside the message that a frame begins with.
 * @param outer field of the frame that holds the message
 * @param inner field of the message
 * @returns 0 when the frame begins with another field or is cut off, or the number is not there or too large
 */
export function nestedVarint(
  bytes: Buffer,
  start: number,
  end: number,
  outer: number,
  inner: number,
): number {
  const cursor = { at: start };
  if (nextNumber(bytes, cursor, end) !== outer * 8 + wireType.bytes) return 0;
  const length = nextNumber(bytes, cursor, end);
  const stop = cursor.at + length;
  if (!(stop <= end)) return 0;
  while (cursor.at < stop) {
    const tag = nextNumber(bytes, cursor, stop);
    const value = nextNumberOrSkip(bytes, cursor, stop, tag % 8);
    if (value >= 0 && Math.floor(tag / 8) === inner) return Number.isSafeInteger(value) ? value : 0;
  }
  return 0;
}

/** The number of a field; −1 behind a field that holds none. */
function nextNumberOrSkip(
  bytes: Buffer,
  cursor: { at: number },
  end: number,
  type: number,
): number {
  switch (type) {
    case wireType.varint:
      return nextNumber(bytes, cursor, end);
    case wireType.bytes: {
      const length = nextNumber(bytes, cursor, end);
      // What is cut off leads out of the message.
      cursor.at += length;
      return -1;
    }
    case wireType.fixed64:
    case wireType.fixed32:
      cursor.at += type === wireType.fixed64 ? 8 : 4;
      return -1;
    default:
      cursor.at = end;
      return -1;
  }
}

/** As a number, which is exact up to 2^53; not a number when it is cut off. */
function nextNumber(bytes: Buffer, cursor: { at: number }, end: number): number {
  let value = 0;
  for (let count = 0, scale = 1; count < maxVarintBytes && cursor.at < end; count++, scale *= 128) {
    const byte = bytes[cursor.at++]!;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return value;
  }
  return NaN;
}

function take(bytes: Buffer, cursor: { at: number }, length: WireId): Buffer {
  if (length > bytes.length - cursor.at) throw new SyntaxError('cut off');
  const start = cursor.at;
  cursor.at += Number(length);
  return bytes.subarray(start, cursor.at);
}

function readVarint(bytes: Buffer, cursor: { at: number }): WireId {
  let value = 0;
  let wide = 0n;
  for (let count = 0; count < maxVarintBytes; count++) {
    const byte = bytes[cursor.at++];
    if (byte === undefined) throw new SyntaxError('cut off');
    // 7 bytes fit into a number.
    if (count < 7) value += (byte & 0x7f) * 2 ** (7 * count);
    else wide |= BigInt(byte & 0x7f) << BigInt(7 * count);
    if (byte < 0x80) {
      return wide === 0n ? value : wireId(BigInt.asUintN(64, wide | BigInt(value)));
    }
  }
  throw new SyntaxError('varint too long');
}

/** @throws SyntaxError when the value is no UTF-8 text */
export function textIn(value: WireId | Buffer): string {
  return utf8In(value).toString('utf8');
}

/** The bytes of a text. @throws SyntaxError when the value is no UTF-8 text */
export function utf8In(value: WireId | Buffer): Buffer {
  const bytes = bytesIn(value);
  if (!isUtf8(bytes)) throw new SyntaxError('no text');
  return bytes;
}

/** @throws SyntaxError when the value is a number */
export function bytesIn(value: WireId | Buffer): Buffer {
  if (!Buffer.isBuffer(value)) throw new SyntaxError('no bytes');
  return value;
}

/** @throws SyntaxError when the value is no number */
export function idIn(value: WireId | Buffer): WireId {
  if (Buffer.isBuffer(value)) throw new SyntaxError('no number');
  return value;
}

export function varint(value: WireId): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    if (typeof rest === 'bigint') {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest = wireId(rest >> 7n);
    } else {
      bytes.push((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** Tag and length of a length-delimited field. */
export const bytesHead = (field: number, length: number): Buffer =>
  Buffer.concat([varint(field * 8 + wireType.bytes), varint(length)]);

/** Tag of a varint field. */
export const varintHead = (field: number): Buffer => varint(field * 8 + wireType.varint);

/** A whole field; an undefined value is none. */
export function field(number: number, value: WireId | string | Buffer | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (typeof value === 'number' || typeof value === 'bigint') {
    return Buffer.concat([varintHead(number), varint(value)]);
  }
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([bytesHead(number, bytes.length), bytes]);
}
