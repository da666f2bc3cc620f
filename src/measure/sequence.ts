export type Arrival = 'first' | 'outOfOrder' | 'duplicate';

/** Skipped numbers kept at most; a target that loses more than that is no longer checked for late ones. */
const maximumGaps = 1_000_000;
/** Sources are below this, so that receiver and source fit in one exact number. */
const sourceSpan = 2 ** 26;

/**
 * Finds, for each pair of receiver and source, whether a sequence number is new, came late or came
 * twice. A source's numbers for one receiver rise by one over the whole run, from 0. Everything in
 * order costs one look-up; only gaps cost memory, until they are filled.
 */
export class SequenceTracker {
  private readonly next: PairTable;
  private readonly gaps = new Map<number, Set<number>>();
  private gapCount = 0;

  constructor(capacity?: number) {
    this.next = new PairTable(capacity);
  }

  classify(receiver: number, source: number, sequence: number): Arrival {
    const slot = this.next.slot(receiver, source);
    const expected = this.next.values[slot]!;
    if (sequence >= expected) {
      if (sequence > expected) this.remember(receiver * sourceSpan + source, expected, sequence);
      this.next.values[slot] = sequence + 1;
      return 'first';
    }
    return this.gaps.size > 0 && this.fill(receiver * sourceSpan + source, sequence)
      ? 'outOfOrder'
      : 'duplicate';
  }

  private remember(key: number, from: number, to: number): void {
    let missing = this.gaps.get(key);
    for (let sequence = from; sequence < to && this.gapCount < maximumGaps; sequence++) {
      missing ??= new Set();
      missing.add(sequence);
      this.gapCount += 1;
    }
    if (missing !== undefined) this.gaps.set(key, missing);
  }

  private fill(key: number, sequence: number): boolean {
    const missing = this.gaps.get(key);
    if (missing?.delete(sequence) !== true) return false;
    this.gapCount -= 1;
    if (missing.size === 0) this.gaps.delete(key);
    return true;
  }
}

/** By pairs of whole numbers (open addressing, 12 bytes an entry at most twice over), a tenth of a `Map` of maps. */
export class PairTable {
  private firsts: Int32Array;
  private seconds: Int32Array;
  /** Value of each slot, 0 when new. Read and written by slot. */
  values: Int32Array;
  private used = 0;
  private mask: number;

  constructor(capacity = 1024) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, capacity * 2)));
    this.firsts = new Int32Array(size).fill(-1);
    this.seconds = new Int32Array(size);
    this.values = new Int32Array(size);
    this.mask = size - 1;
  }

  /** Valid until the next call. Both must be ≥ 0. Take the slot before `values`: a new pair may replace that array. */
  slot(first: number, second: number): number {
    const found = this.find(first, second);
    if (this.firsts[found] === first) return found;
    if (this.used * 2 >= this.firsts.length) {
      this.grow();
      return this.slot(first, second);
    }
    this.used += 1;
    this.firsts[found] = first;
    this.seconds[found] = second;
    return found;
  }

  private find(first: number, second: number): number {
    const { firsts, seconds, mask } = this;
    const mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
    let slot = (mixed ^ (mixed >>> 15)) & mask;
    while (firsts[slot] !== -1 && (firsts[slot] !== first || seconds[slot] !== second))
      slot = (slot + 1) & mask;
    return slot;
  }

  private grow(): void {
    const { firsts, seconds, values } = this;
    this.firsts = new Int32Array(firsts.length * 2).fill(-1);
    this.seconds = new Int32Array(firsts.length * 2);
    this.values = new Int32Array(firsts.length * 2);
    this.mask = firsts.length * 2 - 1;
    for (let from = 0; from < firsts.length; from++) {
      if (firsts[from] === -1) continue;
      const to = this.find(firsts[from]!, seconds[from]!);
      this.firsts[to] = firsts[from]!;
      this.seconds[to] = seconds[from]!;
      this.values[to] = values[from]!;
    }
  }
}
