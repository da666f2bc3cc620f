const blockBytes = 256 * 1024;

type Kind<Numbers> = {
  new (memory: SharedArrayBuffer): Numbers;
  readonly BYTES_PER_ELEMENT: number;
};

/** A number of each value, in memory that threads share. */
export function sharedNumbers<Numbers extends { [at: number]: number }, Value>(
  kind: Kind<Numbers>,
  values: readonly Value[],
  numberOf: (value: Value) => number,
): Numbers {
  const numbers = new kind(new SharedArrayBuffer(values.length * kind.BYTES_PER_ELEMENT));
  for (const [at, value] of values.entries()) numbers[at] = numberOf(value);
  return numbers;
}

/** Bytes one behind the other, in blocks until they are all there. */
export class ByteList {
  length = 0;
  private readonly blocks: Buffer[] = [];
  private used = 0;

  /** @returns where they begin */
  add(bytes: Buffer): number {
    let block = this.blocks.at(-1);
    if (block === undefined || block.length - this.used < bytes.length) {
      if (block !== undefined) this.blocks[this.blocks.length - 1] = block.subarray(0, this.used);
      block = Buffer.allocUnsafe(Math.max(blockBytes, bytes.length));
      this.blocks.push(block);
      this.used = 0;
    }
    bytes.copy(block, this.used);
    this.used += bytes.length;
    this.length += bytes.length;
    return this.length - bytes.length;
  }

  shared(): Uint8Array {
    const all = new Uint8Array(new SharedArrayBuffer(this.length));
    let at = 0;
    for (const block of this.blocks) {
      const part = block.subarray(0, this.length - at);
      all.set(part, at);
      at += part.length;
    }
    return all;
  }
}
