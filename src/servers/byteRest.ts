/** The beginning of a message whose end has not arrived yet; grows by doubling, so small pieces stay cheap. */
export class ByteRest {
  private bytes: Buffer = Buffer.alloc(0);
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** What came first, `count` bytes at most; valid until the next call that changes something. */
  first(count: number): Buffer {
    return this.bytes.subarray(0, Math.min(count, this.used));
  }

  append(piece: Buffer): void {
    const wanted = this.used + piece.length;
    if (wanted > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(wanted, this.bytes.length * 2, 1024));
      this.bytes.copy(larger, 0, 0, this.used);
      this.bytes = larger;
    }
    piece.copy(this.bytes, this.used);
    this.used = wanted;
  }

  /** Everything so far; the rest is empty afterwards. */
  take(): Buffer {
    const all = this.bytes.subarray(0, this.used);
    this.bytes = Buffer.alloc(0);
    this.used = 0;
    return all;
  }
}
