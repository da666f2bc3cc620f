import { ExpectedError } from '../base/expectedError';
import type { HistogramCounts } from './histogram';

/** As stored with a step: equal times in their order. A place is a range of latencies, see {@link coarseBucketOf}. */
export interface StoredBlocks {
  /** Measured seconds of each block; the last may be shorter. */
  readonly seconds: number;
  /**
   * The deliveries that arrived in each block: runs of places that follow each other, parted by blanks, each the
   * number of its first place, a colon, and the counts from there on, separated by commas; an empty one is 0. All
   * numbers have base 36. Example: `9c:1,4,,5 b0:2`.
   */
  readonly counts: readonly string[];
}

/** Places to each doubling of the latency: none is wider than 1/32 of what is in it, about 3 %. */
const perDoubling = 32;
const perDoublingBits = 5;
export const coarseBucketCount = 896;
/** Between them there are always at least half as many: two neighbours become one when there are more. */
export const maximumBlocks = 100;

/** Whole microseconds below 64 have a place each; above, each doubling has 32 of equal width. */
export function coarseBucketOf(us: number): number {
  const value = Math.max(0, Math.round(us));
  if (value < perDoubling) return value;
  const wider = 31 - Math.clz32(value) - perDoublingBits;
  return (wider + 1) * perDoubling + ((value >>> wider) - perDoubling);
}

export function coarseBucketStartUs(place: number): number {
  if (place < perDoubling) return place;
  // Multiplied, since the end of the last place has 33 bits.
  return (perDoubling + (place % perDoubling)) * (1 << ((place >>> perDoublingBits) - 1));
}

/** Collects the deliveries of a step by the second they arrived in, in bounded memory however long it is. */
export class LatencyBlocks {
  /** Each as it is stored: as numbers, those of a long run would be most of what its lead keeps. */
  private readonly blocks: string[] = [];
  private seconds = 1;
  private firstTick: number | undefined;
  /** What was added to one of the blocks and is not in its text yet, by place: samples of many workers have one second. */
  private open: Float64Array | undefined;
  private openAt = 0;

  /** @param lastSecond later ticks, of the drain, belong to this one, counted from 0 */
  add(tick: number, counts: HistogramCounts | undefined, lastSecond = Infinity): void {
    this.firstTick ??= tick;
    const second = Math.max(0, Math.min(tick - this.firstTick, lastSecond));
    while (second >= this.seconds * maximumBlocks) this.halve();
    const at = Math.floor(second / this.seconds);
    while (this.blocks.length <= at) this.blocks.push('');
    if (counts === undefined) return;
    if (at !== this.openAt) this.settle();
    this.openAt = at;
    const open = (this.open ??= new Float64Array(coarseBucketCount));
    const { pairs } = counts;
    let [place, fromUs, nextUs] = [0, 0, 0];
    for (let pair = 0; pair < pairs.length; pair += 2) {
      const us = pairs[pair]!;
      if (us >= nextUs || us < fromUs) {
        place = coarseBucketOf(us);
        fromUs = coarseBucketStartUs(place);
        nextUs = coarseBucketStartUs(place + 1);
      }
      open[place]! += pairs[pair + 1]!;
    }
  }

  settle(): void {
    if (this.open !== undefined) this.addTo(this.openAt, this.open);
    this.open = undefined;
  }

  private addTo(at: number, counts: Float64Array): void {
    const text = this.blocks[at];
    if (text === undefined) return;
    const sum = decodeBlock(text);
    for (const [place, count] of counts.entries()) if (count > 0) sum[place]! += count;
    this.blocks[at] = encoded(sum);
  }

  private halve(): void {
    this.settle();
    this.seconds *= 2;
    const before = this.blocks.splice(0);
    for (const [at, text] of before.entries()) {
      if (at % 2 === 0) this.blocks.push(text);
      else this.addTo(this.blocks.length - 1, decodeBlock(text));
    }
  }

  stored(): StoredBlocks | undefined {
    if (this.blocks.length === 0) return undefined;
    this.settle();
    return { seconds: this.seconds, counts: [...this.blocks] };
  }
}

const shortGap = 3;

function encoded(counts: Float64Array): string {
  // Joined: a text that is added to is kept in pieces, each larger than what is in it.
  const parts: string[] = [];
  let next = 0;
  for (const [place, count] of counts.entries()) {
    if (count === 0) continue;
    if (parts.length > 0 && place - next <= shortGap) parts.push(','.repeat(place - next + 1));
    else parts.push(`${parts.length === 0 ? '' : ' '}${place.toString(36)}:`);
    parts.push(count.toString(36));
    next = place + 1;
  }
  return parts.join('');
}

/** A block of ours has at most 896 counts of at most 10 digits. */
const longestText = 16_000;
const comma = 44;
const blank = 32;
const colon = 58;

/** Deliveries by place, from a text that may come from anywhere. @throws ExpectedError `blocks-damaged` */
export function decodeBlock(text: string): Float64Array {
  const counts = new Float64Array(coarseBucketCount);
  if (text.length > longestText) throw damaged();
  // Of the run that is being read: the place of its next count, once its first one is known.
  let place: number | undefined;
  let lowest = 0;
  let [number, digits] = [0, 0];
  for (let at = 0; at <= text.length; at++) {
    const code = at < text.length ? text.charCodeAt(at) : blank;
    const digit = digitOf(code);
    if (digit >= 0) {
      number = number * 36 + digit;
      if (++digits > 10) throw damaged();
      continue;
    }
    if (code === colon && place === undefined && digits > 0) {
      place = number;
      if (place < lowest) throw damaged();
    } else if ((code === comma || code === blank) && place !== undefined) {
      if (digits > 0) {
        if (place >= coarseBucketCount) throw damaged();
        counts[place] = number;
      }
      lowest = place + 1;
      place = code === comma ? lowest : undefined;
      // Nothing ends with an empty count.
      if (code === blank && digits === 0) throw damaged();
    } else if (text !== '') throw damaged();
    [number, digits] = [0, 0];
  }
  return counts;
}

function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 122 ? code - 87 : -1;
}

const damaged = (): ExpectedError =>
  new ExpectedError('blocks-damaged', 'The latency over time in the result cannot be read.');
