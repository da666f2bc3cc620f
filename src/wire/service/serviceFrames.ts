import { HubMessageError } from '../hub/hubMessage';
import { bodyLengthAt, maximumPrefixBytes, prefixBytes } from '../message/messagePackFraming';

/** Takes the body of one message; the bytes are not used again by anybody else. */
export type BodyListener = (bytes: Buffer, start: number, end: number) => void;

/**
 * Puts service messages together from the pieces in which they arrive: a WebSocket message may hold
 * several of them, or a part of one. Holds at most one message and the piece that came last.
 */
export class ServiceFrames {
  private rest = Buffer.alloc(0);
  private used = 0;

  /** @param maxBodyBytes longest body that is accepted */
  constructor(
    private readonly maxBodyBytes: number,
    private readonly listener: BodyListener,
  ) {}

  /** Bytes that wait for more. */
  get waitingBytes(): number {
    return this.used;
  }

  /**
   * @param piece not to be written to afterwards
   * @throws HubMessageError for a length that is none, is 0, or is beyond the bound: the stream cannot be
   * read any further
   */
  push(piece: Buffer): void {
    if (this.used > 0) this.keep(piece);
    const bytes = this.used > 0 ? this.rest.subarray(0, this.used) : piece;
    const done = this.read(bytes, bytes.length);
    if (this.used > 0 && done === 0) return;
    this.rest = Buffer.alloc(0);
    this.used = 0;
    if (done < bytes.length) this.keep(bytes.subarray(done));
  }

  /** Hands on all whole bodies before `end`; returns where the first incomplete one begins. */
  private read(bytes: Buffer, end: number): number {
    let at = 0;
    while (at < end) {
      const prefix = prefixBytes(bytes, at, end);
      if (prefix === 'incomplete') return at;
      const length = prefix === 'invalid' ? 0 : bodyLengthAt(bytes, at, prefix);
      if (prefix === 'invalid' || length === 0)
        throw new HubMessageError('a service message has a length that is none');
      if (length > this.maxBodyBytes)
        throw new HubMessageError(`a service message is longer than ${this.maxBodyBytes} bytes`);
      const start = at + prefix;
      if (start + length > end) return at;
      at = start + length;
      this.listener(bytes, start, at);
    }
    return at;
  }

  private keep(piece: Buffer): void {
    const wanted = this.used + piece.length;
    if (wanted > this.rest.length) {
      const most = this.maxBodyBytes + maximumPrefixBytes + piece.length;
      const larger = Buffer.allocUnsafeSlow(Math.max(wanted, Math.min(2 * this.rest.length, most)));
      this.rest.copy(larger, 0, 0, this.used);
      this.rest = larger;
    }
    piece.copy(this.rest, this.used);
    this.used = wanted;
  }
}
