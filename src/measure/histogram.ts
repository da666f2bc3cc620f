import { ExpectedError } from '../base/expectedError';
import type { SpectrumPoint, LatencySummary } from './latencySummary';
import { deflate, inflate } from 'hdr-histogram-js/dist/JsHistogram.encoding';
import { latencyMetrics, latencyShare, summaryKeys } from '../base/objectives/percentile';

/** One hour; anything above counts as this. */
const highestUs = 3_600_000_000;
const lowestUs = 1;
const significantDigits = 3;

/** Borders of the latency classes of the Azure SignalR benchmark's counter file: 100, 200, … 1,000 ms. */
export const counterEdgesUs: readonly number[] = Array.from(
  { length: 10 },
  (_, index) => (index + 1) * 100_000,
);

/** Counts that differ from 0, as pairs (value in microseconds, count): small, and safe to hand from thread to thread. */
export interface HistogramCounts {
  readonly pairs: Float64Array;
  readonly minUs: number;
  readonly maxUs: number;
  readonly sumUs: number;
}

/** Values below this have a place each; above, each doubling has half as many places. */
const finePlaces = 2048;
const halfBits = 10;
const fineBits = halfBits + 1;

/** Source: HdrHistogram, `AbstractHistogram.countsArrayIndex` (lowest value 1, three significant digits). */
export function bucketOf(us: number): number {
  if (us < finePlaces) return us;
  const wider = 32 - fineBits - Math.clz32(us);
  return (wider << halfBits) + (us >>> wider);
}

/** Source: HdrHistogram, `AbstractHistogram.valueFromIndex`. */
export function bucketStartUs(place: number): number {
  if (place < finePlaces) return place;
  const wider = (place >>> halfBits) - 1;
  // The longest has 32 bits.
  return ((place - (wider << halfBits)) << wider) >>> 0;
}

export const lastBucket = bucketOf(highestUs);

class BucketCounts {
  total = 0;
  private readonly counts = new Int32Array(lastBucket + 1);

  put(us: number): void {
    this.counts[bucketOf(us)]! += 1;
    this.total += 1;
  }

  putAll(pairs: Float64Array): void {
    for (let at = 0; at < pairs.length; at += 2) {
      const count = pairs[at + 1]!;
      this.counts[bucketOf(pairs[at]!)]! += count;
      this.total += count;
    }
  }

  pairs(minUs: number): Float64Array {
    const pairs: number[] = [];
    for (let place = bucketOf(minUs), left = this.total; left > 0; place++) {
      const count = this.counts[place]!;
      if (count > 0) pairs.push(bucketStartUs(place), count);
      left -= count;
    }
    return Float64Array.from(pairs);
  }

  /** For rising shares, 0…1. Source: HdrHistogram, `AbstractHistogram.getValueAtPercentile`. */
  atShares(shares: readonly number[], minUs: number): number[] {
    const { counts, total } = this;
    const values: number[] = [];
    let place = bucketOf(minUs);
    let reached = counts[place]!;
    for (const share of shares) {
      // Binary crumbs make 0.07 × 100 a rank more.
      const rank = Math.max(1, Math.ceil(share * total * (1 - Number.EPSILON)));
      while (reached < rank && place < lastBucket) reached += counts[++place]!;
      values.push(bucketStartUs(place + 1) - 1);
    }
    return values;
  }

  clear(): void {
    this.counts.fill(0);
    this.total = 0;
  }
}

/** Whole microseconds with three significant digits (HdrHistogram). Minimum, maximum and mean are exact. */
export class LatencyHistogram {
  /** Made for the first value: it has a place for each of 23,552 values. */
  private histogram: BucketCounts | undefined;
  private packed: Uint8Array | undefined;
  private minUs = Infinity;
  private maxUs = 0;
  private sumUs = 0;

  /** Keeps the counts that differ from 0 alone, until it is used again. */
  pack(): void {
    if (this.histogram === undefined) return;
    this.packed = packCounts(this.counts().pairs);
    this.histogram = undefined;
  }

  private unpack(): BucketCounts {
    const places = new BucketCounts();
    if (this.packed !== undefined) places.putAll(unpackCounts(this.packed)!);
    this.packed = undefined;
    return places;
  }

  private get places(): BucketCounts | undefined {
    return this.packed === undefined ? this.histogram : (this.histogram = this.unpack());
  }

  get count(): number {
    return this.places?.total ?? 0;
  }

  /** Fractions are rounded; a negative value, of what came before it was due, counts as 0. */
  record(us: number): void {
    const value = us <= 0 ? 0 : us >= highestUs ? highestUs : Math.round(us);
    (this.histogram ??= this.unpack()).put(value);
    this.sumUs += value;
    if (value < this.minUs) this.minUs = value;
    if (value > this.maxUs) this.maxUs = value;
  }

  add(counts: HistogramCounts): void {
    const { pairs } = counts;
    if (pairs.length === 0) return;
    (this.histogram ??= this.unpack()).putAll(pairs);
    this.sumUs += counts.sumUs;
    this.minUs = Math.min(this.minUs, counts.minUs);
    this.maxUs = Math.max(this.maxUs, counts.maxUs);
  }

  counts(): HistogramCounts {
    const { places, minUs, maxUs, sumUs } = this;
    return { pairs: places?.pairs(minUs) ?? new Float64Array(), minUs, maxUs, sumUs };
  }

  /** Counts since the last call; undefined when there are none. The memory is kept for the next ones only when `keep` is set. */
  take(keep: boolean): HistogramCounts | undefined {
    const counts = this.count === 0 ? undefined : this.counts();
    if (!keep) this.histogram = undefined;
    else if (counts !== undefined) this.histogram?.clear();
    [this.minUs, this.maxUs, this.sumUs] = [Infinity, 0, 0];
    return counts;
  }

  /** Smallest recorded value, in microseconds, that at least this share (0…1) do not exceed; 0 when there is none. */
  valueAtShare(share: number): number {
    return this.valuesAtShares([share])[0]!;
  }

  private valuesAtShares(shares: readonly number[]): number[] {
    const { places, minUs, maxUs } = this;
    if (places === undefined || places.total === 0) return shares.map(() => 0);
    return places.atShares(shares, minUs).map((us) => Math.max(minUs, Math.min(maxUs, us)));
  }

  /** Values below the first of the rising edges, from each up to the next, and from the last on; one in the place of an edge is below. */
  classCounts(edgesUs: readonly number[]): number[] {
    const counts = [...edgesUs.map(() => 0), 0];
    const { pairs } = this.counts();
    for (let pair = 0, at = 0; pair < pairs.length; pair += 2) {
      while (at < edgesUs.length && pairs[pair]! >= edgesUs[at]!) at++;
      counts[at]! += pairs[pair + 1]!;
    }
    return counts;
  }

  summary(): LatencySummary {
    const { count } = this;
    const mean = count === 0 ? 0 : Math.round((this.sumUs / count) * 10) / 10;
    const found = this.valuesAtShares(latencyMetrics.map((metric) => latencyShare[metric]));
    const quantiles = latencyMetrics.map((metric, at) => [summaryKeys[metric], found[at]] as const);
    const values = Object.fromEntries(quantiles) as Omit<LatencySummary, 'count' | 'min' | 'mean'>;
    return { count, min: count === 0 ? 0 : this.minUs, mean, ...values };
  }

  /** HdrHistogram V2, deflated, base64: readable by every HdrHistogram library. */
  encode(): string {
    const payload = packCounts(this.counts().pairs);
    const data = new Uint8Array(headerBytes + payload.length);
    data.set(payload, headerBytes);
    const head = viewOf(data);
    head.setInt32(0, inflatedCookie | numbersOfAnyWidth);
    head.setInt32(4, payload.length);
    head.setInt32(12, significantDigits);
    head.setUint32(20, lowestUs);
    head.setUint32(28, highestUs);
    head.setFloat64(32, 1);
    const deflated = (deflate as Deflate)(data);
    const whole = new Uint8Array(8 + deflated.length);
    whole.set(deflated, 8);
    viewOf(whole).setInt32(0, deflatedCookie | numbersOfAnyWidth);
    viewOf(whole).setInt32(4, deflated.length);
    return base64Of(whole);
  }
}

/** Reads text from anywhere. @throws ExpectedError `histogram-damaged` */
export function decodeHistogram(text: string): LatencyHistogram {
  const pairs = unpackCounts(payloadIn(text));
  if (pairs === undefined) throw damaged();
  let [sumUs, total] = [0, 0];
  for (let at = 0; at < pairs.length; at += 2) {
    const us = pairs[at]!;
    total += pairs[at + 1]!;
    sumUs += (us + Math.floor((longestOf(us) + 1 - us) / 2)) * pairs[at + 1]!;
  }
  if (total > mostCount) throw damaged();
  const histogram = new LatencyHistogram();
  if (pairs.length > 0) {
    const maxUs = Math.min(highestUs, longestOf(pairs.at(-2)!));
    histogram.add({ pairs, minUs: pairs[0]!, maxUs, sumUs });
  }
  return histogram;
}

const longestOf = (us: number): number => bucketStartUs(bucketOf(us) + 1) - 1;

/** Larger counts than the histogram can hold in one place. */
const mostCount = 2 ** 31 - 1;
/** An encoded histogram of ours is below 100 KB. */
const longestText = 1_000_000;
/** Inflated: at most 9 bytes for each place of a histogram of ours. */
const mostInflatedBytes = (lastBucket + 1) * 9 + 64;
/** First words of the deflated V2 form and of what is in it; bits 4 to 7 are the width of numbers. */
const deflatedCookie = 0x1c849304;
const inflatedCookie = 0x1c849303;
const numbersOfAnyWidth = 0x10;
const headerBytes = 40;

/**
 * Reads HdrHistogram's V2 form without trust. Layout: cookie, payload length, offset, digits (32 bits each), lowest,
 * highest, ratio (64 bits each), then the counts. Source: HdrHistogram, `AbstractHistogram.encodeIntoByteBuffer`.
 */
function payloadIn(text: string): Uint8Array {
  if (text.length > longestText) throw damaged();
  const outer = bytesOfBase64(text);
  if (outer.length < 8 || cookieOf(outer) !== deflatedCookie) throw damaged();
  let data: Uint8Array;
  try {
    data = (inflate as Inflate)(outer.subarray(8), { maxOutputLength: mostInflatedBytes });
  } catch {
    throw damaged();
  }
  if (data.length < headerBytes || cookieOf(data) !== inflatedCookie) throw damaged();
  const view = viewOf(data);
  const wide = (at: number): number => view.getUint32(at) * 2 ** 32 + view.getUint32(at + 4);
  const isOurs = view.getInt32(12) === significantDigits && wide(16) === lowestUs;
  if (!isOurs || wide(24) !== highestUs) throw damaged();
  return data.subarray(headerBytes, headerBytes + view.getUint32(4));
}

type Deflate = (data: Uint8Array) => Uint8Array;
type Inflate = (data: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

function damaged(): ExpectedError {
  return new ExpectedError('histogram-damaged', 'The histogram in the result cannot be read.');
}

const viewOf = (data: Uint8Array): DataView =>
  new DataView(data.buffer, data.byteOffset, data.byteLength);

const cookieOf = (data: Uint8Array): number => viewOf(data).getInt32(0) & ~0xf0;

/** HdrHistogram V2: ZigZag LEB128 numbers, of which a negative one is a run of empty buckets. */
export function packCounts(pairs: Float64Array): Uint8Array {
  const bytes: number[] = [];
  const put = (number: number): void => {
    let rest = number;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
    bytes.push(rest);
  };
  let next = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    const place = bucketOf(pairs[at]!);
    if (place > next) put(2 * (place - next) - 1);
    put(2 * pairs[at + 1]!);
    next = place + 1;
  }
  return Uint8Array.from(bytes);
}

/** Undefined for what {@link packCounts} would not write: the bytes may come from anywhere. */
export function unpackCounts(bytes: Uint8Array): Float64Array | undefined {
  // A number that counts takes a byte at least.
  const pairs = new Float64Array(2 * Math.min(bytes.length, lastBucket + 1));
  let [length, place] = [0, 0];
  for (let at = 0; at < bytes.length;) {
    let number = 0;
    for (let byte = 0; ; byte++) {
      const bits = bytes[at++];
      if (bits === undefined || byte > 8) return undefined;
      number += (bits & 0x7f) * 2 ** (7 * byte);
      if (bits < 0x80) break;
    }
    if (number % 2 === 1) {
      place += (number + 1) / 2;
      continue;
    }
    if (place > lastBucket || number > 2 * mostCount) return undefined;
    if (number > 0) {
      pairs[length++] = bucketStartUs(place);
      pairs[length++] = number / 2;
    }
    place++;
  }
  return pairs.subarray(0, length);
}

// Neither Node's nor a browser's way to base64 is known to a pure folder.

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const bits = (bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    for (const shift of [18, 12, 6, 0]) text += letters[(bits >> shift) & 63];
  }
  const missing = (3 - (bytes.length % 3)) % 3;
  return text.slice(0, text.length - missing) + '='.repeat(missing);
}

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

const pointsPerNine = 10;

/** Latency over the share of the deliveries, from an encoded histogram; empty where it cannot be read. */
export function latencyCurve(text: string): SpectrumPoint[] {
  let histogram: ReturnType<typeof decodeHistogram>;
  try {
    histogram = decodeHistogram(text);
  } catch (error) {
    if (error instanceof ExpectedError) return [];
    throw error;
  }
  if (histogram.count === 0) return [];
  const last = 1 - 1 / Math.max(2, histogram.count);
  const points: SpectrumPoint[] = [];
  for (let at = 0; ; at++) {
    const share = 1 - 10 ** (-at / pointsPerNine);
    const latencyUs = Math.max(1, histogram.valueAtShare(Math.min(share, 1)));
    if (share >= last) break;
    points.push({ share, latencyUs });
  }
  points.push({ share: last, latencyUs: Math.max(1, histogram.valueAtShare(1)) });
  return points;
}
