import { isValidCloseCode, noCloseCode, opcode } from '../../wire/socket/frame';
import { PendingBytes } from '../../wire/socket/frameReader';

/** Longest message that is recorded; the service takes no longer one from a client either. */
export const maximumMessageBytes = 1024 * 1024;

/** What is found in one direction of a web socket. */
export interface FrameTapListener {
  /** One whole message, fragments joined; the bytes are valid during the call alone. */
  message(payload: Buffer, isText: boolean): void;
  /** A message that is passed over, with its length. */
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
  /** A frame that is not complete, and how many bytes are needed to go on with it. */
  private readonly rest = new PendingBytes();
  private wanted = 0;
  /** Bytes of a frame that are passed over. */
  private skipping = 0;
  /** Fragments of the message at hand. */
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
    let bytes = chunk;
    if (this.rest.length > 0) {
      this.rest.append(chunk);
      if (this.rest.length < this.wanted) return;
      bytes = this.rest.take();
    }
    let at = Math.min(this.skipping, bytes.length);
    this.skipping -= at;
    while (at < bytes.length && !this.isOver) {
      const head = headAt(bytes, at);
      const isKept = typeof head === 'object' && head.length <= this.maximumBytes;
      this.wanted = typeof head === 'number' ? head : head.start + (isKept ? head.length : 0);
      if (typeof head === 'number' || at + this.wanted > bytes.length) {
        this.rest.append(bytes, at);
        return;
      }
      const start = at + head.start;
      at = start + head.length;
      this.frame(head, isKept ? bytes.subarray(start, at) : undefined);
      this.skipping = Math.max(0, at - bytes.length);
    }
  }

  /** @returns bytes of a message that did not come to its end */
  over(): number {
    return this.isOver ? 0 : this.rest.length + (this.isInside ? this.partsBytes : 0);
  }

  /** @param payload undefined when it is passed over */
  private frame(head: FrameHead, payload: Buffer | undefined): void {
    const problem = problemOf(head, this.isInside);
    if (problem !== undefined) {
      this.isOver = true;
      this.listener.broken(problem);
      return;
    }
    const bytes = payload && unmasked(payload, head.mask);
    if (head.code < opcode.close) {
      this.part(head, bytes);
    } else if (head.code === opcode.close && bytes !== undefined) {
      const code = bytes.length < 2 ? noCloseCode : bytes.readUInt16BE(0);
      this.listener.closed(isValidCloseCode(code) ? code : noCloseCode, bytes.toString('utf8', 2));
    }
  }

  private part({ isLast, code, length }: FrameHead, bytes: Buffer | undefined): void {
    if (code !== opcode.continuation) {
      this.isText = code === opcode.text;
      this.partsBytes = 0;
    }
    this.partsBytes += length;
    this.isInside = !isLast;
    if (bytes === undefined || this.partsBytes > this.maximumBytes) this.parts = [];
    else this.parts.push(bytes);
    if (!isLast) return;
    const { parts, partsBytes } = this;
    this.parts = [];
    if (partsBytes > this.maximumBytes) this.listener.tooLong(partsBytes);
    else this.listener.message(parts.length === 1 ? parts[0]! : Buffer.concat(parts), this.isText);
  }
}

interface FrameHead {
  readonly isLast: boolean;
  readonly isExtended: boolean;
  readonly code: number;
  /** Of the payload, and where it begins in the frame. */
  readonly length: number;
  readonly start: number;
  readonly mask: Buffer | undefined;
}

/** The head of the frame at `at`; a number is how many bytes are needed to know more. */
function headAt(bytes: Buffer, at: number): FrameHead | number {
  const there = bytes.length - at;
  if (there < 2) return 2;
  const [first, second] = [bytes[at]!, bytes[at + 1]!];
  const marker = second & 0x7f;
  const maskAt = marker < 126 ? 2 : marker === 126 ? 4 : 10;
  const isMasked = (second & 0x80) !== 0;
  const start = isMasked ? maskAt + 4 : maskAt;
  if (there < start) return start;
  // Low bits of a length beyond 2^53 are lost; that is above every limit.
  const length =
    marker < 126
      ? marker
      : marker === 126
        ? bytes.readUInt16BE(at + 2)
        : Number(bytes.readBigUInt64BE(at + 2));
  return {
    isLast: (first & 0x80) !== 0,
    isExtended: (first & 0x70) !== 0,
    code: first & 0x0f,
    length,
    start,
    mask: isMasked ? bytes.subarray(at + maskAt, at + start) : undefined,
  };
}

function problemOf({ isLast, isExtended, code, length }: FrameHead, isInside: boolean) {
  if (isExtended) return 'a frame uses an extension that was not agreed';
  const isControl = code >= opcode.close;
  if (code > opcode.pong || (code > opcode.binary && !isControl))
    return `a frame has the unknown opcode ${code}`;
  if (isControl)
    return length > 125 || !isLast ? 'a control frame is too long or fragmented' : undefined;
  return (code === opcode.continuation) === isInside ? undefined : 'fragments are out of order';
}

/** A copy where there is a mask: the bytes themselves are still on their way. */
function unmasked(payload: Buffer, mask: Buffer | undefined): Buffer {
  if (mask === undefined) return payload;
  const copy = Buffer.from(payload);
  for (let at = 0; at < copy.length; at++) copy[at]! ^= mask[at & 3]!;
  return copy;
}
