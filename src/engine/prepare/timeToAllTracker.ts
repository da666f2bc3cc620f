import type { Stamp } from '../../wire/message/stamp';

type ReachingMessage = Pick<Stamp, 'step' | 'source' | 'sequence'>;

/** Source + 1 (0: free, −1: being written), sequence, missing receivers and step, latest arrival. */
const cells = { source: 0, sequence: 1, missing: 2, latestUs: 3 } as const;
const cellsPerMessage = 4;
/** Messages in flight at once; 16 bytes each. */
const places = 2 ** 18;
/** Slots to probe from that of a message's hash on. */
const reach = 16;
/** Lower bits of `missing` count receivers, higher ones hold the step: no arrival counts for a message of another. */
const receiverBits = 23;
const mostReceivers = 2 ** receiverBits - 1;
const steps = 2 ** (31 - receiverBits);
/** A slot this many steps old is free: its message will reach nobody any more. */
const staleSteps = 2;
const mostUs = 2 ** 31 - 1;

export const createTimeToAllMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(4 * cellsPerMessage * places);

/**
 * When messages have reached their last receiver, across all workers.
 *
 * The sender registers a message before it leaves. Each arrival first raises the latest time and then decrements the
 * missing receivers, so whoever takes the last one reads a complete maximum. A message that finds no free slot counts
 * as one that did not reach all.
 */
export class TimeToAllTracker {
  private readonly table: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.table = new Int32Array(memory);
  }

  /** Call before the message leaves. @param receivers at least 1 */
  sent({ step, source, sequence }: ReachingMessage, receivers: number): void {
    const { table } = this;
    if (receivers > mostReceivers) return;
    for (let probe = 0, at = firstOf(source, sequence); probe < reach; probe++, at = nextOf(at)) {
      const before = Atomics.load(table, at);
      if (before < 0 || (before > 0 && !this.isStale(at, step))) continue;
      if (Atomics.compareExchange(table, at, before, -1) !== before) continue;
      Atomics.store(table, at + cells.sequence, sequence);
      Atomics.store(table, at + cells.latestUs, 0);
      Atomics.store(table, at + cells.missing, ((step % steps) << receiverBits) | receivers);
      Atomics.store(table, at, source + 1);
      return;
    }
  }

  /**
   * First arrival at one receiver, `afterUs` after the message was due. Returns the time the last receiver took if
   * this was the last one, else −1.
   */
  arrived({ step, source, sequence }: ReachingMessage, afterUs: number): number {
    const { table } = this;
    for (let probe = 0, at = firstOf(source, sequence); probe < reach; probe++, at = nextOf(at)) {
      if (Atomics.load(table, at) !== source + 1) continue;
      if (Atomics.load(table, at + cells.sequence) !== sequence) continue;
      return this.count(at, step, Math.max(0, Math.min(mostUs, Math.round(afterUs))));
    }
    return -1;
  }

  private count(at: number, step: number, afterUs: number): number {
    const { table } = this;
    const latest = at + cells.latestUs;
    for (let before = Atomics.load(table, latest); before < afterUs;) {
      const found = Atomics.compareExchange(table, latest, before, afterUs);
      if (found === before) break;
      before = found;
    }
    const missing = at + cells.missing;
    for (;;) {
      const before = Atomics.load(table, missing);
      if (before >>> receiverBits !== step % steps || (before & mostReceivers) === 0) return -1;
      if (Atomics.compareExchange(table, missing, before, before - 1) !== before) continue;
      if ((before & mostReceivers) > 1) return -1;
      const tookUs = Atomics.load(table, latest);
      Atomics.store(table, at, 0);
      return tookUs;
    }
  }

  private isStale(at: number, step: number): boolean {
    const noted = Atomics.load(this.table, at + cells.missing) >>> receiverBits;
    const age = ((step % steps) - noted + steps) % steps;
    // Another worker may already be in the next step.
    return age >= staleSteps && age < steps / 2;
  }
}

function firstOf(source: number, sequence: number): number {
  const mixed = Math.imul(source + 1, 0x9e3779b1) ^ Math.imul(sequence, 0x85ebca6b);
  return ((mixed ^ (mixed >>> 15)) & (places - 1)) * cellsPerMessage;
}

const nextOf = (at: number): number => (at + cellsPerMessage) % (places * cellsPerMessage);
