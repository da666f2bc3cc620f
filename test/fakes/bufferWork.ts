/** What was done with buffers while something ran. */
export interface BufferWork {
  /** Buffers with bytes of their own that were made. */
  made: number;
  /** Bytes of the longest of them. */
  longest: number;
  /** Bytes that were copied into others. */
  copied: number;
  /** Bytes that were looked at in search of others. */
  searched: number;
}

type Maker = 'from' | 'concat' | 'alloc' | 'allocUnsafe' | 'allocUnsafeSlow';
const makers: readonly Maker[] = ['from', 'concat', 'alloc', 'allocUnsafe', 'allocUnsafeSlow'];

/** Counts the work with buffers of something that takes no time of others: work grows as time does. */
export function bufferWork(run: () => void): BufferWork {
  const work: BufferWork = { made: 0, longest: 0, copied: 0, searched: 0 };
  const statics = Buffer as unknown as Record<Maker, (...args: unknown[]) => Buffer>;
  const prototype = Buffer.prototype as Buffer;
  // eslint-disable-next-line @typescript-eslint/unbound-method -- put back as they were
  const { indexOf, copy } = prototype;
  const before = makers.map((name) => statics[name]);
  makers.forEach((name, at) => {
    statics[name] = (...args) => {
      const made = before[at]!.apply(Buffer, args);
      work.made += 1;
      work.longest = Math.max(work.longest, made.length);
      if (name === 'from' || name === 'concat') work.copied += made.length;
      return made;
    };
  });
  prototype.indexOf = function (this: Buffer, value: string | number | Uint8Array, from?: unknown) {
    const start = typeof from === 'number' ? from : 0;
    const found = (indexOf as (value: unknown, start: number) => number).call(this, value, start);
    work.searched += (found < 0 ? this.length : found + 1) - start;
    return found;
  };
  prototype.copy = function (this: Buffer, ...args: Parameters<typeof copy>) {
    const copied = copy.apply(this, args);
    work.copied += copied;
    return copied;
  };
  try {
    run();
  } finally {
    makers.forEach((name, at) => (statics[name] = before[at]!));
    prototype.indexOf = indexOf;
    prototype.copy = copy;
  }
  return work;
}
