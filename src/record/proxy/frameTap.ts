import { mayBeSent, noCloseCode, opcode } from '../../wire/socket/frame';
import { ByteRest } from '../../wire/socket/frameReader';

/** Longest message that is kept; the service takes no longer one from a client either. */
export const maximumMessageBytes = 1024 * 1024;

/** What is found in one direction of a web socket. */
export interface FrameTapListener {
  /** One whole message, fragments joined; the bytes are valid during the call alone. */
  message(payload: Buffer, isText: boolean): void;
  /** A message that is not kept, with its length. */
  tooLong(bytes: number): void;
  closed(code: number, reason: string): void;
  /** These are no frames; nothing more is read. */
  broken(why: string): void;
}

/**
 * Reads the frames of a web socket that somebody else reads too (RFC 6455, 5.2), masked or not. Unlike the
 * reader of a connection it owes the peer nothing: what is too long is passed over, and what is wrong ends
 * the reading and not the connection. The chunks stay as they are.
 */
export class FrameTap {
  private readonly rest = new ByteRest();
  /** Bytes that the frame in {@link rest} has at least. */
  private wanted = 2;
  /** Bytes of a frame that is passed over. */
  private skipping = 0;
  private parts: Buffer[] = [];
  private partsBytes = 0;
  private isText = false;
  private isInside = false;
  private isOver = false;

  constructor(
    private readonly listener: FrameTapListener,
    private readonly maximumBytes = maximumMessageBytes,
  ) {}

  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.isOver) {
      if (this.skipping > 0) {
        const skipped = Math.min(this.skipping, chunk.length - at);
        this.skipping -= skipped;
        at += skipped;
      } else if (this.rest.length === 0 && this.wanted === 2) {
        at = this.readIn(chunk, at);
      } else {
        const piece = Math.min(this.wanted - this.rest.length, chunk.length - at);
        this.rest.append(chunk, at, at + piece);
        at += piece;
        if (this.rest.length === this.wanted) this.readRest();
      }
    }
  }

  /** @returns bytes of a message that did not come to its end */
  over(): number {
    if (this.isOver) return 0;
    return this.rest.length + (this.isInside ? this.partsBytes : 0);
  }

  /** Reads the frame at `at`, or keeps what there is of it; returns what was used up to. */
  private readIn(chunk: Buffer, at: number): number {
    const head = headAt(chunk, at, chunk.length);
    if (typeof head === 'number') {
      this.wanted = head;
    } else if (head.length > this.maximumBytes) {
      this.skip(chunk, at, head);
      return at + head.start;
    } else if (at + head.start + head.length <= chunk.length) {
      const start = at + head.start;
      this.frame(head, chunk.subarray(start, start + head.length));
      return start + head.length;
    } else {
      this.wanted = head.start + head.length;
    }
    this.rest.append(chunk, at);
    return chunk.length;
  }

  private readRest(): void {
    const bytes = this.rest.first(this.wanted);
    const head = headAt(bytes, 0, bytes.length);
    if (typeof head === 'number') {
      this.wanted = head;
    } else if (head.length > this.maximumBytes) {
      this.skip(this.taken(), 0, head);
    } else if (bytes.length < head.start + head.length) {
      this.wanted = head.start + head.length;
    } else {
      this.frame(head, this.taken().subarray(head.start));
    }
  }

  private taken(): Buffer {
    this.wanted = 2;
    return this.rest.take();
  }

  private skip(bytes: Buffer, at: number, head: FrameHead): void {
    this.skipping = head.length;
    if (this.isSound(bytes[at]!, head)) this.part(head, undefined);
  }

  private frame(head: FrameHead, payload: Buffer): void {
    if (!this.isSound(head.first, head)) return;
    const bytes = unmasked(payload, head.mask);
    if (head.code < opcode.close) {
      this.part(head, bytes);
    } else if (head.code === opcode.close) {
      const code = bytes.length < 2 ? noCloseCode : bytes.readUInt16BE(0);
      this.listener.closed(mayBeSent(code) ? code : noCloseCode, bytes.toString('utf8', 2));
    }
  }

  private isSound(first: number, { code, length }: FrameHead): boolean {
    const isControl = code >= opcode.close;
    const problem =
      (first & 0x70) !== 0
        ? 'a frame uses an extension that was not agreed'
        : code > opcode.pong || (code > opcode.binary && !isControl)
          ? `a frame has the unknown opcode ${code}`
          : isControl && (length > 125 || (first & 0x80) === 0)
            ? 'a control frame is too long or fragmented'
            : !isControl && (code === opcode.continuation) !== this.isInside
              ? 'fragments are out of order'
              : undefined;
    if (problem === undefined) return true;
    this.isOver = true;
    this.skipping = 0;
    this.listener.broken(problem);
    return false;
  }

  /** @param bytes undefined when they are passed over */
  private part({ first, code, length }: FrameHead, bytes: Buffer | undefined): void {
    if (code !== opcode.continuation) {
      this.isText = code === opcode.text;
      this.partsBytes = 0;
      this.parts = [];
    }
    this.partsBytes += length;
    if (bytes === undefined || this.partsBytes > this.maximumBytes) this.parts = [];
    else this.parts.push(bytes);
    this.isInside = (first & 0x80) === 0;
    if (this.isInside) return;
    const { parts, partsBytes } = this;
    this.parts = [];
    if (partsBytes > this.maximumBytes) this.listener.tooLong(partsBytes);
    else this.listener.message(parts.length === 1 ? parts[0]! : Buffer.concat(parts), this.isText);
  }
}

interface FrameHead {
  readonly first: number;
  readonly code: number;
  /** Of the payload, and where it begins in the frame. */
  readonly length: number;
  readonly start: number;
  readonly mask: Buffer | undefined;
}

/** The head of the frame at `at`; a number is how many bytes are needed to know more. */
function headAt(bytes: Buffer, at: number, end: number): FrameHead | number {
  if (end - at < 2) return 2;
  const second = bytes[at + 1]!;
  const marker = second & 0x7f;
  const lengthEnd = marker < 126 ? 2 : marker === 126 ? 4 : 10;
  const isMasked = (second & 0x80) !== 0;
  const start = isMasked ? lengthEnd + 4 : lengthEnd;
  if (end - at < start) return start;
  const length =
    marker < 126
      ? marker
      : marker === 126
        ? bytes.readUInt16BE(at + 2)
        : // Low bits beyond 2^53 are lost; that is above every limit.
          bytes.readUInt32BE(at + 2) * 4_294_967_296 + bytes.readUInt32BE(at + 6);
  const first = bytes[at]!;
  const mask = isMasked ? bytes.subarray(at + lengthEnd, at + start) : undefined;
  return { first, code: first & 0x0f, length, start, mask };
}

/** A copy where there is a mask: the bytes themselves are still on their way. */
function unmasked(payload: Buffer, mask: Buffer | undefined): Buffer {
  if (mask === undefined) return payload;
  const copy = Buffer.from(payload);
  // Four bytes at a time; buffers that are made begin at multiples of eight.
  const words = new Int32Array(copy.buffer, copy.byteOffset, copy.length >> 2);
  const [word] = new Int32Array(Uint8Array.from(mask).buffer);
  for (let at = 0; at < words.length; at++) words[at]! ^= word!;
  for (let at = 4 * words.length; at < copy.length; at++) copy[at]! ^= mask[at & 3]!;
  return copy;
}
