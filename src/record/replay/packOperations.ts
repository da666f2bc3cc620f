import { replayFlag, type ReplayTracks } from '../../plan/plan';

export type Form = 'call' | 'stream' | 'send' | 'cancel' | 'item' | 'end';

export interface Operation {
  readonly t: number;
  readonly form: Form;
  readonly method: string;
  /** Offset of its bytes. */
  readonly at: number;
  readonly length: number;
  readonly payloadBytes: number;
  readonly stampAt: number;
  /** Of a cancellation: its stream. Of an item: its call. */
  readonly of?: Operation;
  answer?: 'result' | 'error';
  /** Of a call with streams from the client: the end of the last one. */
  endedBy?: Operation;
  isCancelled?: true;
  number?: number;
}

const blockBytes = 256 * 1024;

type Kind<Numbers> = {
  new (memory: SharedArrayBuffer): Numbers;
  readonly BYTES_PER_ELEMENT: number;
};

export function sharedNumbers<Numbers extends { [at: number]: number }, Value>(
  kind: Kind<Numbers>,
  values: readonly Value[],
  numberOf: (value: Value) => number,
): Numbers {
  const numbers = new kind(new SharedArrayBuffer(values.length * kind.BYTES_PER_ELEMENT));
  for (const [at, value] of values.entries()) numbers[at] = numberOf(value);
  return numbers;
}

export class ByteList {
  length = 0;
  private readonly blocks: Buffer[] = [];
  private used = 0;

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

export function packOperations(
  all: readonly Operation[],
  numberOf: (operation: Operation) => number,
  startUs: number,
): Omit<ReplayTracks, 'spreadUs' | 'clients' | 'first' | 'itemsOf' | 'bytes'> {
  const waitsFor = ({ form, of, endedBy, number }: Operation): number =>
    form === 'cancel' ? of!.number! : (endedBy?.number ?? number!);
  return {
    dueUs: sharedNumbers(Float64Array, all, ({ t }) => t - startUs),
    call: sharedNumbers(Uint16Array, all, numberOf),
    flags: sharedNumbers(Uint8Array, all, flagsOf),
    at: sharedNumbers(Uint32Array, all, ({ at }) => at),
    length: sharedNumbers(Uint32Array, all, ({ length }) => length),
    payloadBytes: sharedNumbers(Uint32Array, all, ({ payloadBytes }) => payloadBytes),
    stampAt: sharedNumbers(Uint32Array, all, ({ stampAt }) => stampAt),
    of: sharedNumbers(Uint32Array, all, waitsFor),
  };
}

const flagsOf = ({ form, answer, isCancelled }: Operation): number =>
  (answer === undefined ? 0 : replayFlag.answered) |
  (answer === 'error' ? replayFlag.refused : 0) |
  (form === 'cancel' ? replayFlag.cancels : 0) |
  (form === 'end' ? replayFlag.ends : 0) |
  (isCancelled ? replayFlag.isCancelled : 0);
