// By its JavaScript classes, never by the package's index: that one also loads WebAssembly code.
import Int32Histogram from 'hdr-histogram-js/dist/Int32Histogram';
import { inflate } from 'hdr-histogram-js/dist/JsHistogram.encoding';
import { damaged, readEncodedHistogram } from './readEncodedHistogram';
import type { LatencySummary } from './latencySummary';

/** Longest latency that is kept apart; anything above counts as this. One hour. */
const highestUs = 3_600_000_000;
const significantDigits = 3;

/** Borders of the latency classes of the Azure SignalR benchmark's counter file: 100, 200, … 1,000 ms. */
export const counterEdgesUs: readonly number[] = Array.from(
  { length: 10 },
  (_, index) => (index + 1) * 100_000,
);

/**
 * Counts of a histogram that differ from 0, as pairs (value in microseconds, count). Small, quick to
 * make and to merge, and safe to hand from thread to thread.
 */
export interface HistogramCounts {
  readonly pairs: Float64Array;
  readonly minUs: number;
  readonly maxUs: number;
  readonly sumUs: number;
}

/**
 * Latencies in whole microseconds with three significant digits (HdrHistogram). Minimum, maximum and
 * mean are exact.
 */
export class LatencyHistogram {
  private readonly histogram = new Int32Histogram(1, highestUs, significantDigits);
  private minUs = Infinity;
  private maxUs = 0;
  private sumUs = 0;

  get count(): number {
    return this.histogram.totalCount;
  }

  /** Fractions are rounded; a negative value, of what came before it was due, counts as 0. */
  record(us: number): void {
    const value = us <= 0 ? 0 : us >= highestUs ? highestUs : Math.round(us);
    this.histogram.recordValue(value);
    this.sumUs += value;
    if (value < this.minUs) this.minUs = value;
    if (value > this.maxUs) this.maxUs = value;
  }

  add(counts: HistogramCounts): void {
    const { pairs } = counts;
    for (let at = 0; at < pairs.length; at += 2)
      this.histogram.recordValueWithCount(pairs[at]!, pairs[at + 1]!);
    this.sumUs += counts.sumUs;
    this.minUs = Math.min(this.minUs, counts.minUs);
    this.maxUs = Math.max(this.maxUs, counts.maxUs);
  }

  counts(): HistogramCounts {
    const { histogram } = this;
    const pairs: number[] = [];
    const total = histogram.totalCount;
    for (let index = 0, seen = 0; seen < total; index++) {
      const count = histogram.getCountAtIndex(index);
      if (count > 0) {
        pairs.push(histogram.valueFromIndex(index), count);
        seen += count;
      }
    }
    return {
      pairs: Float64Array.from(pairs),
      minUs: this.minUs,
      maxUs: this.maxUs,
      sumUs: this.sumUs,
    };
  }

  /** Forgets everything recorded. */
  reset(): void {
    this.histogram.reset();
    this.minUs = Infinity;
    this.maxUs = 0;
    this.sumUs = 0;
  }

  /**
   * Smallest recorded value that at least `share` of the values do not exceed, in microseconds; 0 when
   * nothing was recorded.
   *
   * @param share 0…1
   */
  valueAtShare(share: number): number {
    if (this.count === 0) return 0;
    if (share >= 1) return this.maxUs;
    return Math.max(
      this.minUs,
      Math.min(this.maxUs, this.histogram.getValueAtPercentile(share * 100)),
    );
  }

  /**
   * Values below the first edge, from each edge up to the next, and from the last edge on.
   *
   * @param edgesUs rising, in microseconds; a value that shares its place with an edge counts as below
   */
  classCounts(edgesUs: readonly number[]): number[] {
    const counts = [...edgesUs.map(() => 0), 0];
    const { histogram } = this;
    const total = histogram.totalCount;
    for (let index = 0, seen = 0, at = 0; seen < total; index++) {
      const count = histogram.getCountAtIndex(index);
      if (count === 0) continue;
      while (at < edgesUs.length && histogram.valueFromIndex(index) >= edgesUs[at]!) at++;
      counts[at]! += count;
      seen += count;
    }
    return counts;
  }

  summary(): LatencySummary {
    const { count } = this;
    if (count === 0) {
      return { count, min: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, p999: 0, p9999: 0, max: 0 };
    }
    return {
      count,
      min: this.minUs,
      mean: Math.round((this.sumUs / count) * 10) / 10,
      p50: this.valueAtShare(0.5),
      p90: this.valueAtShare(0.9),
      p95: this.valueAtShare(0.95),
      p99: this.valueAtShare(0.99),
      p999: this.valueAtShare(0.999),
      p9999: this.valueAtShare(0.9999),
      max: this.maxUs,
    };
  }

  /** HdrHistogram V2, deflated, base64: readable by every HdrHistogram library. */
  encode(): string {
    return this.histogram.encodeIntoCompressedBase64();
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
  const layout = new Int32Histogram(1, highestUs, significantDigits);
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
