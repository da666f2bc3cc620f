const nothing = Buffer.alloc(0);

/** The beginning of something whose end has not arrived yet; grows by doubling, so small pieces stay cheap. */
export class ByteRest {
  private bytes: Buffer = nothing;
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** What came first, `count` bytes at most; valid until the next call that changes something. */
  first(count: number): Buffer {
    return this.bytes.subarray(0, Math.min(count, this.used));
  }

  append(piece: Buffer, start = 0, end = piece.length): void {
    const wanted = this.used + end - start;
    if (wanted > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(wanted, this.bytes.length * 2, 1024));
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    piece.copy(this.bytes, this.used, start, end);
    this.used = wanted;
  }

  /** Everything so far; the rest is empty afterwards. */
  take(): Buffer {
    const all = this.bytes.subarray(0, this.used);
    this.bytes = nothing;
    this.used = 0;
    return all;
  }
}
