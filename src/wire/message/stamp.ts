import { stampBytes } from '../../base/message';

/**
 * The stamp every message carries: which run, step and sender it belongs to, its number, when it was
 * meant to leave and when it left. Fixed width, letters and digits only, so that it survives every
 * serialiser unchanged and can be found and overwritten in place.
 *
 *     SB1 rrrrrrrr ssss uuuuuuu nnnnnnnn iiiiiiiiiii ttttttttttt cc   (hexadecimal, without the spaces)
 *
 * r run, s step (highest bit: warm-up), u source, n sequence, i intended and t sent time in
 * microseconds since the run's origin (203 days at most), c check: a stamp in which one digit is another is none.
 */
export interface Stamp {
  runId: number;
  step: number;
  warmup: boolean;
  source: number;
  sequence: number;
  intendedUs: number;
  sentUs: number;
}

export const stampKey = 'bench.Stamp';
export const stampMarker = 'SB1';
export const stampLength = stampBytes;

const markerBytes = Buffer.from(stampMarker, 'latin1');
const hexDigits = Buffer.from('0123456789abcdef', 'latin1');
const digitValues = new Int8Array(256).fill(-1);
hexDigits.forEach((byte, value) => (digitValues[byte] = value));

const field = {
  run: 3,
  step: 11,
  source: 15,
  sequence: 22,
  intended: 30,
  sent: 41,
  check: 52,
} as const;
const timeDigits = 11;

export function emptyStamp(): Stamp {
  return { runId: 0, step: 0, warmup: false, source: 0, sequence: 0, intendedUs: 0, sentUs: 0 };
}

/** 54 bytes, unmasked. Times are cut to whole microseconds. */
export function writeStamp(buffer: Uint8Array, at: number, stamp: Stamp): void {
  buffer.set(markerBytes, at);
  writeHex(buffer, at + field.run, 8, stamp.runId);
  writeHex(buffer, at + field.step, 4, stepBits(stamp));
  writeHex(buffer, at + field.source, 7, stamp.source);
  writeHex(buffer, at + field.sequence, 8, stamp.sequence);
  writeHex(buffer, at + field.intended, timeDigits, stamp.intendedUs);
  writeHex(buffer, at + field.sent, timeDigits, stamp.sentUs);
  writeHex(buffer, at + field.check, 2, checkOf(stamp));
}

const stepBits = ({ step, warmup }: Stamp): number => step | (warmup ? 0x8000 : 0);

/**
 * All fields by exclusive or, each rotated by another number of bits, so that swapped fields and any changed digit
 * give another check.
 */
function checkOf(stamp: Stamp): number {
  const { runId, source, sequence, intendedUs, sentUs } = stamp;
  const bits =
    turned(runId | 0, 1) ^
    turned(stepBits(stamp), 2) ^
    turned(source, 3) ^
    turned(sequence | 0, 4) ^
    turned((intendedUs / 2 ** 32) | 0, 5) ^
    turned(intendedUs | 0, 6) ^
    turned((sentUs / 2 ** 32) | 0, 7) ^
    (sentUs | 0);
  const half = bits ^ (bits >>> 16);
  return (half ^ (half >>> 8)) & 0xff;
}

const turned = (bits: number, by: number): number => (bits << by) | (bits >>> (32 - by));

/** False when there is no valid stamp; `stamp` is then partly overwritten. */
export function readStamp(buffer: Uint8Array, at: number, stamp: Stamp): boolean {
  if (
    buffer[at] !== markerBytes[0] ||
    buffer[at + 1] !== markerBytes[1] ||
    buffer[at + 2] !== markerBytes[2]
  )
    return false;
  const step = readHex(buffer, at + field.step, 4);
  stamp.runId = readHex(buffer, at + field.run, 8);
  stamp.step = step & 0x7fff;
  stamp.warmup = step >= 0x8000;
  stamp.source = readHex(buffer, at + field.source, 7);
  stamp.sequence = readHex(buffer, at + field.sequence, 8);
  stamp.intendedUs = readHex(buffer, at + field.intended, timeDigits);
  stamp.sentUs = readHex(buffer, at + field.sent, timeDigits);
  return (
    step >= 0 &&
    stamp.runId >= 0 &&
    stamp.source >= 0 &&
    stamp.sequence >= 0 &&
    stamp.intendedUs >= 0 &&
    stamp.sentUs >= 0 &&
    readHex(buffer, at + field.check, 2) === checkOf(stamp)
  );
}

const scratch = emptyStamp();
export const isStamp = (text: string): boolean =>
  text.length === stampLength && readStamp(Buffer.from(text, 'latin1'), 0, scratch);

export function writeHex(buffer: Uint8Array, at: number, width: number, value: number): void {
  let high = Math.floor(value / 0x1000000);
  let low = value - high * 0x1000000;
  let to = at + width - 1;
  for (let digit = 0; digit < 6 && to >= at; digit++, to--) {
    buffer[to] = hexDigits[low & 15]!;
    low >>= 4;
  }
  for (; to >= at; to--) {
    buffer[to] = hexDigits[high & 15]!;
    high >>= 4;
  }
}

/** −1 when a character is no lower-case hexadecimal digit, or is beyond the buffer's end. */
export function readHex(buffer: Uint8Array, at: number, width: number): number {
  let high = 0;
  let low = 0;
  const lowStart = at + Math.max(0, width - 6);
  for (let from = at; from < lowStart; from++) {
    const value = digitValues[buffer[from]!]!;
    if (!(value >= 0)) return -1;
    high = (high << 4) | value;
  }
  for (let from = lowStart; from < at + width; from++) {
    const value = digitValues[buffer[from]!]!;
    if (!(value >= 0)) return -1;
    low = (low << 4) | value;
  }
  return high * 0x1000000 + low;
}
