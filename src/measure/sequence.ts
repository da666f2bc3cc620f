import { PairTable } from './pairTable';

/** What the arrival of one sequence number means. */
export type Arrival = 'first' | 'outOfOrder' | 'duplicate';

/** Skipped numbers kept at most; a target that loses more than that is no longer checked for late ones. */
const maximumGaps = 1_000_000;
/** Sources are below this, so that receiver and source fit in one exact number. */
const sourceSpan = 2 ** 26;

/**
 * Tells, for each pair of receiver and source, whether a sequence number is new, came late or came
 * twice. A source's numbers for one receiver rise by one over the whole run, from 0. Everything in
 * order costs one look-up; only gaps cost memory, until they are filled.
 */
export class SequenceTracker {
  private readonly next: PairTable;
  /** Numbers that were skipped and may still come. */
  private readonly gaps = new Map<number, Set<number>>();
  private gapCount = 0;

  constructor(capacity?: number) {
    this.next = new PairTable(capacity);
  }

  arrived(receiver: number, source: number, sequence: number): Arrival {
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

  /** Whether the number was missing, which it then is no more. */
  private fill(key: number, sequence: number): boolean {
    const missing = this.gaps.get(key);
    if (missing?.delete(sequence) !== true) return false;
    this.gapCount -= 1;
    if (missing.size === 0) this.gaps.delete(key);
    return true;
  }
}
