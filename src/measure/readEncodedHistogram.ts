import { ExpectedError } from '../base/expectedError';

/** What the header of an encoded histogram says, and its counts by place. */
export interface EncodedCounts {
  readonly significantDigits: number;
  readonly lowest: number;
  readonly highest: number;
  /** Counts that differ from 0, by rising place. */
  readonly counts: readonly (readonly [place: number, count: number])[];
}

/** An encoded histogram of ours is below 100 KB. */
const longestText = 1_000_000;
/** Inflated: at most 9 bytes for each of the 23,552 places of a histogram of ours. */
const mostInflatedBytes = 23_552 * 9 + 64;
const mostPlaces = 23_552;
/** First words of the deflated V2 form and of what is in it; bits 4 to 7 tell the width of numbers. */
const deflatedCookie = 0x1c849304;
const inflatedCookie = 0x1c849303;
const headerBytes = 40;

/**
 * Reads HdrHistogram's V2 form (deflated, base64) without trust: the text may come from any file. Layout:
 * cookie, payload length, offset, digits (32 bits each), lowest, highest, ratio (64 bits each), then
 * counts as ZigZag LEB128 numbers where a negative one is a run of zeros.
 * Source: HdrHistogram, `AbstractHistogram.encodeIntoByteBuffer`.
 *
 * @throws ExpectedError `histogram-damaged`
 */
export function readEncodedHistogram(
  text: string,
  inflate: (data: Uint8Array, options: { maxOutputLength: number }) => Uint8Array,
): EncodedCounts {
  if (text.length > longestText) throw damaged();
  const outer = bytesOfBase64(text);
  if (outer.length < 8 || cookieOf(outer) !== deflatedCookie) throw damaged();
  let data: Uint8Array;
  try {
    data = inflate(outer.subarray(8), { maxOutputLength: mostInflatedBytes });
  } catch {
    throw damaged();
  }
  if (data.length < headerBytes || cookieOf(data) !== inflatedCookie) throw damaged();
  const view = viewOf(data);
  const wide = (at: number): number => view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);
  return {
    significantDigits: view.getInt32(12),
    lowest: wide(16),
    highest: wide(24),
    counts: countsOf(data.subarray(headerBytes, headerBytes + view.getUint32(4))),
  };
}

export function damaged(): ExpectedError {
  return new ExpectedError('histogram-damaged', 'The histogram in the result cannot be read.');
}

const viewOf = (data: Uint8Array): DataView =>
  new DataView(data.buffer, data.byteOffset, data.byteLength);

const cookieOf = (data: Uint8Array): number => viewOf(data).getInt32(0) & ~0xf0;

function countsOf(payload: Uint8Array): [number, number][] {
  const counts: [number, number][] = [];
  let place = 0;
  for (let at = 0; at < payload.length;) {
    let number = 0;
    for (let byte = 0; byte < 9; byte++) {
      const bits = payload[at++] ?? 0;
      // The ninth byte has no continuation bit.
      number += (byte === 8 ? bits : bits & 0x7f) * 2 ** (7 * byte);
      if (bits < 0x80) break;
    }
    if (number % 2 === 1) place += (number + 1) / 2;
    else {
      if (number > 0) counts.push([place, number / 2]);
      place++;
    }
    if (place > mostPlaces) throw damaged();
  }
  return counts;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Neither Node's nor a browser's decoder is known to a pure folder. */
function bytesOfBase64(text: string): Uint8Array {
  const digits = text.trim().replace(/={0,2}$/, '');
  const bytes = new Uint8Array(Math.floor((digits.length * 3) / 4));
  let [bits, held, at] = [0, 0, 0];
  for (const digit of digits) {
    const value = letters.indexOf(digit);
    if (value < 0) throw damaged();
    bits = ((bits << 6) | value) & 0xffff;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes[at++] = (bits >> held) & 0xff;
    }
  }
  return bytes;
}
