import Int32Histogram from 'hdr-histogram-js/dist/Int32Histogram';
import { inflate } from 'hdr-histogram-js/dist/JsHistogram.encoding';
import { ExpectedError } from '../base/expectedError';
import { latencyMetrics, latencyShare, summaryKeys } from '../base/objectives/percentile';
import type { LatencySummary } from './latencySummary';

/** One hour; anything above counts as this. */
const highestUs = 3_600_000_000;
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

/**
 * Place of a latency of whole microseconds, an hour at most, in the counts of a {@link LatencyHistogram}.
 * Source: HdrHistogram, `AbstractHistogram.countsArrayIndex`, with a lowest value of 1 and three significant digits.
 */
export function latencyPlaceOf(us: number): number {
  if (us < finePlaces) return us;
  const wider = 32 - fineBits - Math.clz32(us);
  return (wider << halfBits) + (us >>> wider);
}

/** Smallest latency of a place, microseconds. Source: HdrHistogram, `AbstractHistogram.valueFromIndex`. */
export function latencyOfPlace(place: number): number {
  if (place < finePlaces) return place;
  const wider = (place >>> halfBits) - 1;
  // The longest has 32 bits.
  return ((place - (wider << halfBits)) << wider) >>> 0;
}

/** Of the longest latency. */
export const lastLatencyPlace = latencyPlaceOf(highestUs);

/** The library's own way to a place takes a logarithm and two powers. */
class Places extends Int32Histogram {
  constructor() {
    super(1, highestUs, significantDigits);
  }

  /** @param us whole microseconds, an hour at most */
  put(us: number): void {
    this._counts[latencyPlaceOf(us)]! += 1;
    this._totalCount += 1;
    this.updateMinAndMax(us);
  }

  /**
   * Largest latency in the place of each of the rising shares (0…1), in one pass over the places from that of `minUs` on.
   * Source: HdrHistogram, `AbstractHistogram.getValueAtPercentile`.
   */
  atShares(shares: readonly number[], minUs: number): number[] {
    const counts = this._counts;
    const values: number[] = [];
    let place = latencyPlaceOf(minUs);
    let reached = counts[place]!;
    for (const share of shares) {
      // Binary crumbs make 0.07 × 100 a rank more.
      const rank = Math.max(1, Math.ceil(share * this._totalCount * (1 - Number.EPSILON)));
      while (reached < rank && place < lastLatencyPlace) reached += counts[++place]!;
      values.push(latencyOfPlace(place + 1) - 1);
    }
    return values;
  }

  /** @param pairs latency and count of each place, rising, as {@link HistogramCounts} has them */
  putAll(pairs: Float64Array): void {
    const counts = this._counts;
    let total = 0;
    for (let at = 0; at < pairs.length; at += 2) {
      const count = pairs[at + 1]!;
      counts[latencyPlaceOf(pairs[at]!)]! += count;
      total += count;
    }
    this._totalCount += total;
    // The first may be 0, which is no least value.
    for (const at of [0, 2, pairs.length - 2])
      if (at < pairs.length) this.updateMinAndMax(pairs[at]!);
  }
}

/** The counts of HdrHistogram's V2 form, without its head: an eighth of the pairs. See {@link countsOf}. */
function packedPairs(pairs: Float64Array): Uint8Array {
  const bytes: number[] = [];
  const put = (number: number): void => {
    let rest = number;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
    bytes.push(rest);
  };
  let next = 0;
  for (let at = 0; at < pairs.length; at += 2) {
    const place = latencyPlaceOf(pairs[at]!);
    if (place > next) put(2 * (place - next) - 1);
    put(2 * pairs[at + 1]!);
    next = place + 1;
  }
  return Uint8Array.from(bytes);
}

const unpackedPairs = (bytes: Uint8Array): Float64Array =>
  Float64Array.from(countsOf(bytes).flatMap(([place, count]) => [latencyOfPlace(place), count]));

/** Whole microseconds with three significant digits (HdrHistogram). Minimum, maximum and mean are exact. */
export class LatencyHistogram {
  /** Made for the first value: it has a place for each of 23,552 values. */
  private histogram: Places | undefined;
  /** In place of it, see {@link pack}. */
  private packed: Uint8Array | undefined;
  private minUs = Infinity;
  private maxUs = 0;
  private sumUs = 0;

  /** Keeps the counts that differ from 0 alone, until it is used again. */
  pack(): void {
    if (this.histogram === undefined) return;
    this.packed = packedPairs(this.counts().pairs);
    this.histogram = undefined;
  }

  private unpack(): Places {
    const places = new Places();
    if (this.packed !== undefined) places.putAll(unpackedPairs(this.packed));
    this.packed = undefined;
    return places;
  }

  /** Undefined where there are no values. */
  private get places(): Places | undefined {
    return this.packed === undefined ? this.histogram : (this.histogram = this.unpack());
  }

  get count(): number {
    return this.places?.totalCount ?? 0;
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
    const { minUs, maxUs, sumUs } = this;
    const { places, count } = this;
    const pairs: number[] = [];
    const last = places === undefined ? -1 : lastLatencyPlace;
    const first = last < 0 ? 0 : latencyPlaceOf(minUs);
    for (let place = first, seen = 0; place <= last && seen < count; place++) {
      const own = places!.getCountAtIndex(place);
      if (own > 0) pairs.push(latencyOfPlace(place), own);
      seen += own;
    }
    return { pairs: Float64Array.from(pairs), minUs, maxUs, sumUs };
  }

  /** Counts since the last call; undefined when there are none. The memory is kept for the next ones only when `keep` is set. */
  take(keep: boolean): HistogramCounts | undefined {
    const counts = this.count === 0 ? undefined : this.counts();
    if (!keep) this.histogram = undefined;
    else if (counts !== undefined) this.histogram?.reset();
    [this.minUs, this.maxUs, this.sumUs] = [Infinity, 0, 0];
    return counts;
  }

  /** Smallest recorded value, in microseconds, that at least this share (0…1) do not exceed; 0 when there is none. */
  valueAtShare(share: number): number {
    return this.valuesAtShares([share])[0]!;
  }

  /** The same of rising shares. */
  private valuesAtShares(shares: readonly number[]): number[] {
    const { places, minUs, maxUs } = this;
    if (places === undefined || places.totalCount === 0) return shares.map(() => 0);
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
    return (this.places ?? new Places()).encodeIntoCompressedBase64();
  }
}

/** Larger counts than the histogram can hold in one place. */
const mostPerPlace = 2 ** 31 - 1;

/**
 * A histogram as {@link LatencyHistogram.encode} wrote it, from a text that may come from anywhere.
 * Minimum, maximum and mean are as exact as its places are.
 *
 * @throws ExpectedError `histogram-damaged` when it is no histogram of ours
 */
export function decodeHistogram(text: string): LatencyHistogram {
  const encoded = readEncodedHistogram(text, inflate as Parameters<typeof readEncodedHistogram>[1]);
  const ours = encoded.significantDigits === significantDigits && encoded.lowest === 1;
  if (!ours || encoded.highest !== highestUs) throw damaged();
  const layout = new Places();
  const pairs: number[] = [];
  let [sumUs, total] = [0, 0];
  for (const [place, count] of encoded.counts) {
    const value = layout.valueFromIndex(place);
    total += count;
    if (total > mostPerPlace || value > highestUs) throw damaged();
    pairs.push(value, count);
    sumUs += layout.medianEquivalentValue(value) * count;
  }
  const histogram = new LatencyHistogram();
  if (pairs.length > 0) {
    const maxUs = Math.min(highestUs, layout.highestEquivalentValue(pairs.at(-2)!));
    histogram.add({ pairs: Float64Array.from(pairs), minUs: pairs[0]!, maxUs, sumUs });
  }
  return histogram;
}

interface EncodedCounts {
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
/** First words of the deflated V2 form and of what is in it; bits 4 to 7 are the width of numbers. */
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
function readEncodedHistogram(
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

function damaged(): ExpectedError {
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
