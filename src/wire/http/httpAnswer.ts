import { ByteRest } from '../socket/byteRest';

/** Head of an answer, as far as it matters here. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Bytes of the body; undefined when it is chunked or ends with the connection. */
  readonly length: number | undefined;
  readonly chunked: boolean;
  /** Whether another request may follow on the same connection. */
  readonly keepAlive: boolean;
  readonly contentType: string;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  readonly setCookies: readonly string[];
}

/** Receives what the reader finds. Buffers are valid only during the call. */
export interface AnswerListener {
  onHead(head: AnswerHead): void;
  onBody(buffer: Buffer, start: number, end: number): void;
  onEnd(head: AnswerHead): void;
  /** True once nothing more is wanted; the rest of a chunk is then left alone. */
  readonly stopped: boolean;
}

/** Something that is no valid HTTP/1.1 answer. */
export class HttpAnswerError extends Error {}

const maximumHeadBytes = 16 * 1024;
/** A chunk's size with its extensions, or one trailer line. */
const maximumLineBytes = 4096;
const headEnd = Buffer.from('\r\n\r\n', 'latin1');
const lineFeed = 0x0a;

type State = 'head' | 'sized' | 'untilClose' | 'chunkSize' | 'chunk' | 'chunkEnd' | 'trailer';

/**
 * The head that was read last, for all readers of a thread: answers to sends are the same but for the
 * second in their Date, so most heads need one comparison instead of a parse.
 */
let lastHead: { readonly bytes: Buffer; readonly head: AnswerHead } | undefined;

/** Reads the answers on one HTTP/1.1 connection (RFC 9112), however the pieces are cut. */
export class HttpAnswerReader {
  private state: State = 'head';
  private head: AnswerHead | undefined;
  /** What is left of a sized body or a chunk. */
  private left = 0;
  /** A head or line that is not complete yet. */
  private readonly partial = new ByteRest();

  /** Whether an answer has begun and not ended. */
  get isInside(): boolean {
    return this.head !== undefined || this.partial.length > 0;
  }

  /**
   * Reads a piece.
   *
   * @throws HttpAnswerError when the bytes are no valid answer
   */
  read(buffer: Buffer, start: number, end: number, listener: AnswerListener): void {
    let at = start;
    while (at < end && !listener.stopped) {
      switch (this.state) {
        case 'head':
          at = this.readHead(buffer, at, end, listener);
          break;
        case 'sized':
        case 'chunk':
        case 'untilClose':
          at = this.readBody(buffer, at, end, listener);
          break;
        default:
          at = this.readLine(buffer, at, end, listener);
      }
    }
  }

  /** The connection has ended: true when that is how the answer's body was to end. */
  closed(listener: AnswerListener): boolean {
    if (this.state !== 'untilClose') return false;
    this.finish(listener);
    return true;
  }

  private readHead(buffer: Buffer, start: number, end: number, listener: AnswerListener): number {
    const before = this.partial.length;
    if (before === 0 && lastHead !== undefined) {
      const { bytes, head } = lastHead;
      const behind = start + bytes.length;
      if (behind <= end && bytes.compare(buffer, start, behind) === 0) {
        this.begin(head, listener);
        return behind;
      }
    }
    const limit = Math.min(end, start + maximumHeadBytes - before);
    if (before > 0) this.partial.append(buffer, start, limit);
    const bytes = before > 0 ? this.partial.first(maximumHeadBytes) : buffer.subarray(start, limit);
    // The end may lie across what was there before and what is new.
    const stop = bytes.indexOf(headEnd, Math.max(0, before - headEnd.length + 1));
    if (stop < 0) {
      if (bytes.length >= maximumHeadBytes) throw new HttpAnswerError('an HTTP head has no end');
      if (before === 0) this.partial.append(bytes);
      return limit;
    }
    this.partial.take();
    const head = parseHead(bytes.toString('latin1', 0, stop));
    // An interim answer, such as 103, announces the real one.
    if (head.status >= 200) {
      lastHead = { bytes: Buffer.from(bytes.subarray(0, stop + 4)), head };
      this.begin(head, listener);
    }
    return start + stop + 4 - before;
  }

  private begin(head: AnswerHead, listener: AnswerListener): void {
    this.head = head;
    this.left = head.length ?? 0;
    const empty = head.status === 204 || head.status === 304 || head.length === 0;
    this.state = head.chunked
      ? 'chunkSize'
      : head.length === undefined && !empty
        ? 'untilClose'
        : 'sized';
    listener.onHead(head);
    if (empty && !head.chunked) this.finish(listener);
  }

  private readBody(buffer: Buffer, start: number, end: number, listener: AnswerListener): number {
    const stop = this.state === 'untilClose' ? end : Math.min(end, start + this.left);
    this.left -= stop - start;
    listener.onBody(buffer, start, stop);
    if (this.left === 0 && this.state === 'sized') this.finish(listener);
    else if (this.left === 0 && this.state === 'chunk') this.state = 'chunkEnd';
    return stop;
  }

  /** Size of a chunk, the end of one, or a trailer line. */
  private readLine(buffer: Buffer, start: number, end: number, listener: AnswerListener): number {
    // What lies behind is of other reads and may be long: it is not searched.
    const piece = buffer.subarray(start, Math.min(end, start + maximumLineBytes + 1));
    const found = piece.indexOf(lineFeed);
    const used = found < 0 ? piece.length : found + 1;
    if (used + this.partial.length > maximumLineBytes)
      throw new HttpAnswerError('a chunk of an HTTP answer has no valid size');
    if (found < 0) {
      this.partial.append(piece);
      return start + used;
    }
    const before = this.partial.length === 0 ? '' : this.partial.take().toString('latin1');
    const line = (before + piece.toString('latin1', 0, used)).replace(/\r?\n$/, '');
    if (this.state === 'trailer') {
      if (line === '') this.finish(listener);
    } else if (this.state === 'chunkEnd') {
      if (line !== '') throw new HttpAnswerError('a chunk of an HTTP answer is longer than said');
      this.state = 'chunkSize';
    } else {
      const digits = /^([0-9a-fA-F]{1,8})[ \t]*(;.*)?$/.exec(line)?.[1];
      if (digits === undefined)
        throw new HttpAnswerError('a chunk of an HTTP answer has no valid size');
      this.left = parseInt(digits, 16);
      this.state = this.left === 0 ? 'trailer' : 'chunk';
    }
    return start + used;
  }

  private finish(listener: AnswerListener): void {
    const head = this.head!;
    this.head = undefined;
    this.state = 'head';
    listener.onEnd(head);
  }
}

function parseHead(text: string): AnswerHead {
  const [statusLine = '', ...lines] = text.split('\r\n');
  const [, minor, digits = '', reason = ''] =
    /^HTTP\/1\.([01]) (\d{3})(?: (.*))?$/.exec(statusLine) ?? [];
  if (minor === undefined) throw new HttpAnswerError('the server does not speak HTTP/1.1');
  const headers = new Map<string, string>();
  const setCookies: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'set-cookie') setCookies.push(value);
    else headers.set(name, value);
  }
  const length = headers.get('content-length');
  if (length !== undefined && !/^\d{1,15}$/.test(length))
    throw new HttpAnswerError('an HTTP answer has no valid length');
  const chunked = /\bchunked\s*$/i.test(headers.get('transfer-encoding') ?? '');
  const connection = headers.get('connection') ?? '';
  return {
    status: Number(digits),
    reason,
    length: length === undefined || chunked ? undefined : Number(length),
    chunked,
    keepAlive: minor === '1' ? !/\bclose\b/i.test(connection) : /\bkeep-alive\b/i.test(connection),
    contentType: headers.get('content-type') ?? '',
    retryAfter: headers.get('retry-after'),
    location: headers.get('location'),
    setCookies,
  };
}
