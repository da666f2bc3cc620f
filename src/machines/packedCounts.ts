/** Counts of a histogram as a short text. */
import { lastLatencyPlace, latencyOfPlace, latencyPlaceOf } from '../measure/histogram';

/** Of one number. */
const mostBytes = 5;
/** In one place of a histogram. */
const mostCount = 2 ** 31 - 1;

/**
 * Pairs of latency and count, rising, as {@link import('../measure/histogram').HistogramCounts} has them. Each place of the
 * histogram up to the last that counts is a number: twice its count, or, for a run of empty places, twice their number less
 * one; numbers as in LEB128, the bytes as base64. A place with few values takes one byte.
 */
export function packCounts(pairs: Float64Array): string {
  const bytes: number[] = [];
  const put = (number: number): void => {
    let rest = number;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
    bytes.push(rest);
  };
  let next = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    const place = latencyPlaceOf(pairs[at]!);
    if (place > next) put(2 * (place - next) - 1);
    put(2 * pairs[at + 1]!);
    next = place + 1;
  }
  return Buffer.from(bytes).toString('base64');
}

/** Undefined for what {@link packCounts} has not written: the text may come from anywhere. */
export function unpackCounts(text: string): Float64Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  // A number that counts takes a byte at least.
  const pairs = new Float64Array(2 * Math.min(bytes.length, lastLatencyPlace + 1));
  let [length, place] = [0, 0];
  for (let at = 0; at < bytes.length;) {
    let byte = bytes[at++]!;
    let number = byte & 0x7f;
    for (let size = 1, scale = 0x80; byte >= 0x80; size++, scale *= 0x80) {
      if (at >= bytes.length || size >= mostBytes) return undefined;
      byte = bytes[at++]!;
      number += (byte & 0x7f) * scale;
    }
    if (number % 2 === 1) {
      place += (number + 1) / 2;
      continue;
    }
    if (place > lastLatencyPlace || number === 0 || number > 2 * mostCount) return undefined;
    pairs[length] = latencyOfPlace(place++);
    pairs[length + 1] = number / 2;
    length += 2;
  }
  return pairs.subarray(0, length);
}
