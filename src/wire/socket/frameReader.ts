import { isUtf8 } from 'node:buffer';
import {
  closeCode as closeCodes,
  FrameError,
  isValidCloseCode,
  noCloseCode,
  opcode,
  serverHeaderLength,
} from './frame';
import { ConnectFailure } from '../connectFailure';

/** Buffers are valid only during the call. */
export interface FrameListener {
  /** A whole message, fragments joined. `frameBytes` is its length on the wire. */
  onMessage(buffer: Buffer, start: number, end: number, frameBytes: number): void;
  /** The newest ping of a read: its pong answers those before it too (RFC 6455, 5.5.3). */
  onPing(payload: Buffer): void;
  onPong?(payload: Buffer): void;
  /** @param code 1005 without one */
  onClose(code: number, reason: string): void;
  /** True once the rest of a chunk is to be ignored. */
  readonly stopped: boolean;
}

/**
 * Of unfragmented text messages the first few, and then one of so many, are checked to be UTF-8: a check costs a
 * thirtieth of a round trip. Fragmented ones, and what is parsed as a whole, are always checked.
 */
const checkedFirst = 8;
const checkedEvery = 16;
/** A frame's own claim of its length reserves this much; beyond, at most twice what has come. */
export const trustedBytes = 65_536;
/** Of one message; empty ones would never meet the limit on bytes. */
const maximumFragments = 65_536;

/** Reads the frames of one server, however the chunks are cut; only what is incomplete is copied. */
export class FrameReader {
  private partial: Buffer | undefined;
  private partialLength = 0;
  private fragments: PendingBytes | undefined;
  private fragmentCount = 0;
  private fragmentsAreText = false;
  private fragmentsFrameBytes = 0;
  private texts = 0;
  private pingBuffer: Buffer | undefined;
  private pingStart = 0;
  private pingEnd = 0;

  constructor(
    private readonly maximumBytes: number,
    private readonly holding?: HeldBytes,
  ) {}

  destroy(): void {
    this.partial = this.fragments = undefined;
    this.holding?.set(0);
  }

  /** @throws FrameError when the bytes are not valid WebSocket traffic */
  read(chunk: Buffer, start: number, end: number, listener: FrameListener): void {
    let at = start;
    if (this.partial !== undefined) at = this.complete(chunk, start, end, listener);
    while (at < end && !listener.stopped) {
      const frameEnd = this.frameEnd(chunk, at, end);
      if (frameEnd === undefined || frameEnd > end) {
        this.keep(chunk, at, end, frameEnd);
        break;
      }
      this.frame(chunk, at, frameEnd, listener);
      at = frameEnd;
    }
    if (this.pingBuffer !== undefined) this.reportPing(this.pingBuffer, listener);
    const partialBytes = this.partial === undefined ? 0 : this.partialLength;
    this.holding?.set(partialBytes + (this.fragments?.length ?? 0));
  }

  private reportPing(buffer: Buffer, listener: FrameListener): void {
    this.pingBuffer = undefined;
    if (!listener.stopped) listener.onPing(buffer.subarray(this.pingStart, this.pingEnd));
  }

  private frameEnd(buffer: Buffer, at: number, end: number): number | undefined {
    if (end - at < 2) return undefined;
    const first = buffer[at]!;
    const second = buffer[at + 1]!;
    if ((first & 0x70) !== 0)
      throw new FrameError('a frame uses reserved bits although no extension was agreed');
    if ((second & 0x80) !== 0) throw new FrameError('a server frame is masked');
    let length = second & 0x7f;
    let header = 2;
    if (length === 126) {
      if (end - at < 4) return undefined;
      length = buffer.readUInt16BE(at + 2);
      header = 4;
    } else if (length === 127) {
      if (end - at < 10) return undefined;
      // Above 2^53 it is beyond every limit, so lost low bits do not matter.
      length = buffer.readUInt32BE(at + 2) * 4_294_967_296 + buffer.readUInt32BE(at + 6);
      header = 10;
    }
    if (length > this.maximumBytes) {
      throw new FrameError(
        `a message of ${length} bytes is above the limit of ${this.maximumBytes}`,
        closeCodes.tooLarge,
      );
    }
    // RFC 6455, 5.5.
    if ((first & 0x08) !== 0 && ((second & 0x7f) > 125 || (first & 0x80) === 0)) {
      throw new FrameError('a control frame is too long or fragmented');
    }
    return at + header + length;
  }

  private keep(chunk: Buffer, at: number, end: number, frameEnd: number | undefined): void {
    const length = end - at;
    this.partial = Buffer.allocUnsafe(frameEnd === undefined ? 10 : roomFor(length, frameEnd - at));
    chunk.copy(this.partial, 0, at, end);
    this.partialLength = length;
  }

  private complete(chunk: Buffer, start: number, end: number, listener: FrameListener): number {
    let at = start;
    let partial = this.partial!;
    let frameEnd = this.frameEnd(partial, 0, this.partialLength);
    while (frameEnd === undefined && at < end) {
      partial[this.partialLength++] = chunk[at++]!;
      frameEnd = this.frameEnd(partial, 0, this.partialLength);
    }
    if (frameEnd === undefined) return at;
    const used = Math.min(frameEnd - this.partialLength, end - at);
    const wanted = this.partialLength + used;
    if (partial.length < wanted) {
      const larger = Buffer.allocUnsafe(roomFor(wanted, frameEnd));
      partial.copy(larger, 0, 0, this.partialLength);
      this.partial = partial = larger;
    }
    chunk.copy(partial, this.partialLength, at, at + used);
    this.partialLength += used;
    if (this.partialLength === frameEnd) {
      this.partial = undefined;
      this.frame(partial, 0, frameEnd, listener);
    }
    return at + used;
  }

  private frame(buffer: Buffer, at: number, end: number, listener: FrameListener): void {
    const code = buffer[at]! & 0x0f;
    const last = (buffer[at]! & 0x80) !== 0;
    const marker = buffer[at + 1]! & 0x7f;
    const start = at + (marker < 126 ? 2 : marker === 126 ? 4 : 10);
    if (code === opcode.text || code === opcode.binary) {
      if (this.fragments !== undefined)
        throw new FrameError('a new message began inside a fragmented one');
      if (!last) {
        this.beginFragments(code, buffer, start, end);
        return;
      }
      if (code === opcode.text) this.checkSample(buffer, start, end);
      listener.onMessage(buffer, start, end, end - at);
    } else if (code === opcode.continuation) {
      this.continueFragments(buffer, start, end, last, listener);
    } else if (code === opcode.ping) {
      this.pingBuffer = buffer;
      this.pingStart = start;
      this.pingEnd = end;
    } else if (code === opcode.close) {
      // The ping came first, so it is answered (RFC 6455, 5.5.2).
      if (this.pingBuffer !== undefined) this.reportPing(this.pingBuffer, listener);
      readClose(buffer, start, end, listener);
    } else if (code === opcode.pong) {
      listener.onPong?.(buffer.subarray(start, end));
    } else {
      throw new FrameError(`a frame has the unknown opcode ${code}`);
    }
  }

  private checkSample(buffer: Buffer, start: number, end: number): void {
    const number = this.texts++;
    if (number < checkedFirst || number % checkedEvery === 0) checkText(buffer, start, end);
  }

  private beginFragments(code: number, buffer: Buffer, start: number, end: number): void {
    this.fragments = new PendingBytes();
    this.fragments.append(buffer, start, end);
    this.fragmentCount = 1;
    this.fragmentsAreText = code === opcode.text;
    this.fragmentsFrameBytes = serverHeaderLength(end - start) + end - start;
  }

  private continueFragments(
    buffer: Buffer,
    start: number,
    end: number,
    last: boolean,
    listener: FrameListener,
  ): void {
    const { fragments } = this;
    if (fragments === undefined) throw new FrameError('a continuation frame without a beginning');
    this.fragmentsFrameBytes += serverHeaderLength(end - start) + end - start;
    const length = fragments.length + end - start;
    if (length > this.maximumBytes || (this.fragmentCount += 1) > maximumFragments) {
      throw new FrameError(
        `a fragmented message is above the limit of ${this.maximumBytes} bytes`,
        closeCodes.tooLarge,
      );
    }
    fragments.append(buffer, start, end);
    if (!last) return;
    const whole = fragments.take();
    this.fragments = undefined;
    if (this.fragmentsAreText) checkText(whole, 0, whole.length);
    listener.onMessage(whole, 0, whole.length, this.fragmentsFrameBytes);
  }
}

const roomFor = (length: number, claimed: number): number =>
  Math.min(claimed, Math.max(trustedBytes, 2 * length));

function checkText(buffer: Buffer, start: number, end: number): void {
  if (!isUtf8(buffer.subarray(start, end)))
    throw new FrameError('a text message is not UTF-8', closeCodes.invalidText);
}

/** Code and reason: RFC 6455, 5.5.1. */
function readClose(buffer: Buffer, start: number, end: number, listener: FrameListener): void {
  if (end === start) {
    listener.onClose(noCloseCode, '');
    return;
  }
  const code = end - start === 1 ? 0 : buffer.readUInt16BE(start);
  if (!isValidCloseCode(code)) throw new FrameError('a close frame has no valid code');
  checkText(buffer, start + 2, end);
  listener.onClose(code, buffer.toString('utf8', start + 2, end));
}

const nothing = Buffer.alloc(0);

/** Bytes whose end has not arrived yet; grows by doubling, so small pieces stay cheap. */
export class PendingBytes {
  private bytes: Buffer = nothing;
  private used = 0;

  constructor(private readonly holding?: HeldBytes) {}

  get length(): number {
    return this.used;
  }

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
    this.count(wanted);
  }

  take(): Buffer {
    const all = this.bytes.subarray(0, this.used);
    this.bytes = nothing;
    this.count(0);
    return all;
  }

  private count(used: number): void {
    this.holding?.set(this.holding.bytes + used - this.used);
    this.used = used;
  }
}

/** Limits the incomplete messages of all connections of a worker together. */
export class IncompleteBytesBudget {
  private readonly holdings = new Set<HeldBytes>();
  bytes = 0;

  constructor(private readonly mostBytes: number) {}

  change(holding: HeldBytes, more: number): void {
    this.bytes += more;
    if (holding.bytes > 0) this.holdings.add(holding);
    else this.holdings.delete(holding);
    // Later, since the reader of this chunk may be the largest.
    if (this.bytes > this.mostBytes) queueMicrotask(() => this.shrink());
  }

  private shrink(): void {
    while (this.bytes > this.mostBytes) {
      const largest = [...this.holdings].reduce((a, b) => (b.bytes > a.bytes ? b : a));
      const text = `its message had no end after ${largest.bytes} bytes, the most of all connections, which had ${this.bytes} together`;
      largest.giveUp(new ConnectFailure('protocol', text));
      largest.set(0);
    }
  }
}

/** The incomplete bytes of one reader. `giveUp` must release them. */
export class HeldBytes {
  bytes = 0;

  constructor(
    private readonly budget: IncompleteBytesBudget | undefined,
    readonly giveUp: (failure: ConnectFailure) => void,
    private readonly what = '',
    private readonly mostBytes = Infinity,
  ) {}

  set(wanted: number): void {
    // May be called again after `giveUp` has released them.
    const bytes = Math.max(0, wanted);
    const more = bytes - this.bytes;
    this.bytes = bytes;
    if (more !== 0) this.budget?.change(this, more);
    if (bytes <= this.mostBytes) return;
    const text = `${this.what} is above the limit of ${this.mostBytes} bytes`;
    this.giveUp(new ConnectFailure('protocol', text));
  }
}
