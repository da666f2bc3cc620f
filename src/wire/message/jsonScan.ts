import { isUtf8 } from 'node:buffer';

/**
 * Finds where JSON values begin and end without building them: payloads are passed on as bytes. Whatever it accepts,
 * `JSON.parse` accepts as well, given UTF-8: receivers drop connections otherwise.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

/** Undefined when the text is no JSON object, or nested too deep. */
export function parseObject(text: string): JsonObject | undefined {
  if (isNestedTooDeep(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The default of System.Text.Json. */
export const maximumDepth = 64;

/** No stack overflow is possible in a shorter text. */
const harmlessChars = 4096;

/** Deep nesting overflows the stack of recursive readers, and parsing a million levels takes a second. */
export function isNestedTooDeep(text: string): boolean {
  if (text.length <= harmlessChars) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        while (++at < text.length && text.charCodeAt(at) !== 0x22)
          if (text.charCodeAt(at) === 0x5c) at += 1;
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > maximumDepth) return true;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
    }
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function skipSpace(bytes: Buffer, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next++;
  return next;
}

/** Strings longer than this are searched four bytes at a time. */
const longString = 64;
const everyByte = 0x01010101;
const topBits = 0x80808080;

/** Position of the first quote, backslash or control character in `at`…`end`; `end` without one. */
function plainEnd(bytes: Buffer, at: number, end: number): number {
  const near = Math.min(end, at + longString);
  let next = at;
  while (next < near && isPlain(bytes[next]!)) next++;
  if (next < near || next === end) return next;
  // For a long one, a view of whole words, which begin at multiples of 4.
  const { byteOffset: shift } = bytes;
  const first = (shift + next + 3) >> 2;
  const last = (shift + end) >> 2;
  if (last > first) {
    const aligned = 4 * first - shift;
    for (; next < aligned; next++) if (!isPlain(bytes[next]!)) return next;
    const words = new Int32Array(bytes.buffer, 4 * first, last - first);
    let index = 0;
    while (index < words.length && isPlainWord(words[index]!)) index++;
    next += 4 * index;
  }
  while (next < end && isPlain(bytes[next]!)) next++;
  return next;
}

function isPlain(byte: number): boolean {
  return byte >= 0x20 && byte !== quote && byte !== backslash;
}

/**
 * Whether four bytes are all plain: subtracting n borrows into the top bit of a byte below n. Source: "Bit Twiddling
 * Hacks", headings "Determine if a word has a zero byte" and "a byte less than n".
 */
function isPlainWord(word: number): boolean {
  const quotes = word ^ (quote * everyByte);
  const slashes = word ^ (backslash * everyByte);
  const low = (word - 0x20 * everyByte) & ~word;
  const special = ((quotes - everyByte) & ~quotes) | ((slashes - everyByte) & ~slashes);
  return ((low | special) & topBits) === 0;
}

function isHex(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

/** Position behind the escape whose backslash is at `at`; −1 if it is invalid. */
function skipEscape(bytes: Buffer, at: number): number {
  switch (bytes[at + 1]) {
    case quote:
    case backslash:
    case 0x2f: // slash
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: // u
      for (let digit = at + 2; digit < at + 6; digit++) if (!isHex(bytes[digit])) return -1;
      return at + 6;
    default:
      return -1;
  }
}

/** Position behind the string whose opening quote is at `at`; −1 if it is invalid. */
function skipString(bytes: Buffer, at: number, end: number): number {
  let next = plainEnd(bytes, at + 1, end);
  while (next < end && bytes[next] === backslash) {
    const behind = skipEscape(bytes, next);
    if (behind < 0 || behind >= end) return -1;
    next = plainEnd(bytes, behind, end);
  }
  return next < end && bytes[next] === quote ? next + 1 : -1;
}

function skipDigits(bytes: Buffer, at: number): number {
  let next = at;
  for (let byte = bytes[next]; byte !== undefined && byte >= 0x30 && byte <= 0x39;) {
    byte = bytes[++next];
  }
  return next;
}

function skipNumber(bytes: Buffer, at: number): number {
  const whole = bytes[at] === 0x2d ? at + 1 : at;
  let next = skipDigits(bytes, whole);
  if (next === whole || (bytes[whole] === 0x30 && next > whole + 1)) return -1;
  if (bytes[next] === 0x2e) {
    const fraction = next + 1;
    next = skipDigits(bytes, fraction);
    if (next === fraction) return -1;
  }
  if (bytes[next] === 0x65 || bytes[next] === 0x45) {
    const sign = bytes[next + 1];
    const exponent = sign === 0x2b || sign === 0x2d ? next + 2 : next + 1;
    next = skipDigits(bytes, exponent);
    if (next === exponent) return -1;
  }
  return next;
}

function skipWord(bytes: Buffer, at: number, word: string): number {
  for (let index = 0; index < word.length; index++) {
    if (bytes[at + index] !== word.charCodeAt(index)) return -1;
  }
  return at + word.length;
}

/**
 * Visits the members of the object, or the elements of the array, that opens at `at`. Keys include their quotes, and
 * are 0…0 in an array. @returns the position behind the closing bracket, or −1 when the text is malformed
 */
export function walk(
  bytes: Buffer,
  at: number,
  end: number,
  visit: (keyStart: number, keyEnd: number, start: number, end: number) => void,
  depth = 1,
  skip: SkipMember = skipValue,
): number {
  const isObject = bytes[at] === 0x7b;
  const closing = isObject ? 0x7d : 0x5d;
  if (depth > maximumDepth) return -1;
  let next = skipSpace(bytes, at + 1);
  if (bytes[next] === closing && next < end) return next + 1;
  while (next < end) {
    let keyStart = 0;
    let keyEnd = 0;
    if (isObject) {
      keyStart = next;
      keyEnd = bytes[next] === quote ? skipString(bytes, next, end) : -1;
      if (keyEnd < 0) return -1;
      next = skipSpace(bytes, keyEnd);
      if (bytes[next] !== colon) return -1;
      next = skipSpace(bytes, next + 1);
    }
    const valueEnd = skip(bytes, next, end, depth + 1, keyStart, keyEnd);
    if (valueEnd < 0) return -1;
    visit(keyStart, keyEnd, next, valueEnd);
    next = skipSpace(bytes, valueEnd);
    if (next >= end) return -1;
    if (bytes[next] === closing) return next + 1;
    if (bytes[next] !== comma) return -1;
    next = skipSpace(bytes, next + 1);
  }
  return -1;
}

type SkipMember = (
  bytes: Buffer,
  at: number,
  end: number,
  depth: number,
  keyStart: number,
  keyEnd: number,
) => number;

const ignore = (): void => undefined;

/** Position behind the value at `at`, or −1 when it is malformed or does not end before `end`. */
export function skipValue(bytes: Buffer, at: number, end: number, depth = 1): number {
  let next: number;
  switch (bytes[at]!) {
    case quote:
      return skipString(bytes, at, end);
    case 0x7b:
    case 0x5b:
      return walk(bytes, at, end, ignore, depth);
    case 0x74:
      next = skipWord(bytes, at, 'true');
      break;
    case 0x66:
      next = skipWord(bytes, at, 'false');
      break;
    case 0x6e:
      next = skipWord(bytes, at, 'null');
      break;
    default:
      next = skipNumber(bytes, at);
  }
  return next > end ? -1 : next;
}

/** Whether the bytes are one JSON value in UTF-8 that may stand inside another. */
export function isJson(bytes: Buffer): boolean {
  const behind = skipValue(bytes, skipSpace(bytes, 0), bytes.length, 2);
  return behind >= 0 && skipSpace(bytes, behind) === bytes.length && isUtf8(bytes);
}

export function readString(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start + 1, end - 1);
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** The last string member `key` of an object; undefined without one. */
export function stringMember(bytes: Buffer, key: string): string | undefined {
  let found: string | undefined;
  if (bytes[0] !== 0x7b) return undefined;
  walk(bytes, 0, bytes.length, (keyStart, keyEnd, start, end) => {
    if (readString(bytes, keyStart, keyEnd) !== key) return;
    found = bytes[start] === quote ? readString(bytes, start, end) : undefined;
  });
  return found;
}
