/**
 * A JSON scanner that finds where values begin and end without building them. The hub hands payloads on
 * as the bytes it got, so parsing 2 KB into objects and writing them again would be most of its work.
 *
 * The grammar is checked everywhere except inside strings: control characters and unknown escapes there
 * pass through to the receiver.
 */

/** As deep as System.Text.Json reads by default. */
const maxDepth = 64;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Position of the first byte at or after `at` that is no white space. */
export function skipSpace(bytes: Buffer, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next++;
  return next;
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let slashes = 0;
  while (bytes[at - 1 - slashes] === backslash) slashes++;
  return slashes % 2 === 1;
}

/** Position behind the string whose opening quote is at `at`; -1 when it does not end before `end`. */
export function skipString(bytes: Buffer, at: number, end: number): number {
  // Keys and short values end within a few bytes; the blob is left to the native search.
  const near = Math.min(end, at + 32);
  let next = at + 1;
  for (; next < near; next++) {
    const byte = bytes[next];
    if (byte === quote) return next + 1;
    if (byte === backslash) next++;
  }
  for (;;) {
    next = bytes.indexOf(quote, next);
    if (next < 0 || next >= end) return -1;
    if (!isEscaped(bytes, next)) return next + 1;
    next++;
  }
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
 * Walks the members of the object, or the elements of the array, that opens at `at`.
 * `visit` gets the key (positions of its quotes; both 0 in an array) and the value as half-open ranges.
 * @returns the position behind the closing bracket, or -1 when the text is malformed
 */
export function walk(
  bytes: Buffer,
  at: number,
  end: number,
  visit: (keyStart: number, keyEnd: number, start: number, end: number) => void,
  depth = 1,
): number {
  const isObject = bytes[at] === 0x7b;
  const closing = isObject ? 0x7d : 0x5d;
  if (depth > maxDepth) return -1;
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
    const valueEnd = skipValue(bytes, next, end, depth + 1);
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

const ignore = (): void => undefined;

/** Position behind the value that starts at `at`, or -1 when there is none that ends before `end`. */
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

/** The text of the JSON string in `start`…`end` (quotes included); undefined when its escapes are bad. */
export function stringAt(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString('utf8', start + 1, end - 1);
  if (!text.includes('\\')) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}

/**
 * The string member `key` of the object in `start`…`end`, the last one if it is repeated.
 * @returns undefined when the value is no object, has no such member, or the member is no string
 */
export function stringMember(
  bytes: Buffer,
  start: number,
  end: number,
  key: string,
): string | undefined {
  let found: string | undefined;
  if (bytes[start] !== 0x7b) return undefined;
  walk(bytes, start, end, (keyStart, keyEnd, valueStart, valueEnd) => {
    if (stringAt(bytes, keyStart, keyEnd) !== key) return;
    found = bytes[valueStart] === quote ? stringAt(bytes, valueStart, valueEnd) : undefined;
  });
  return found;
}
