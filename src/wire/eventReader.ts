/** A stream of events that breaks a bound. */
export class EventStreamError extends Error {}

/**
 * Called with the data of one event. The buffer is valid only during the call; `eventBytes` is the
 * event's length in the stream, field names and line ends included.
 */
export type OnEvent = (buffer: Buffer, start: number, end: number, eventBytes: number) => void;

interface Piece {
  readonly buffer: Buffer;
  readonly start: number;
  readonly end: number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const dataField = Buffer.from('data:', 'latin1');
const lineEnd = Buffer.from('\n', 'latin1');

/**
 * Reads server-sent events (WHATWG HTML, 9.2.6) as SignalR uses them: only `data` counts; comments and
 * other fields are passed over. Lines end with LF or CR LF. Pieces may share one buffer between all
 * connections: only what is incomplete is copied.
 */
export class EventReader {
  /** A line whose end has not come yet. */
  private line: Buffer[] = [];
  private lineLength = 0;
  /** Data lines of the event at hand. */
  private data: Piece[] = [];
  private eventBytes = 0;

  /** @param maximumBytes longest event accepted */
  constructor(private readonly maximumBytes: number) {}

  /**
   * Reads a piece of the stream.
   *
   * @throws EventStreamError when an event is longer than allowed
   */
  read(buffer: Buffer, start: number, end: number, onEvent: OnEvent): void {
    for (let at = start; at < end;) {
      const found = buffer.indexOf(lineFeed, at);
      const complete = found >= 0 && found < end;
      const stop = complete ? found + 1 : end;
      this.eventBytes += stop - at;
      if (this.eventBytes > this.maximumBytes) {
        throw new EventStreamError(
          `a server-sent event is above the limit of ${this.maximumBytes} bytes`,
        );
      }
      if (!complete || this.lineLength > 0) {
        this.line.push(Buffer.from(buffer.subarray(at, stop)));
        this.lineLength += stop - at;
      }
      if (complete) this.endLine(buffer, at, found, onEvent);
      at = stop;
    }
    // The buffer belongs to the next read.
    this.data = this.data.map((piece) => (piece.buffer === buffer ? copyOf(piece) : piece));
  }

  /** A line is complete: `start`…`end` of the buffer, or what was kept of it. */
  private endLine(buffer: Buffer, start: number, end: number, onEvent: OnEvent): void {
    if (this.lineLength === 0) {
      this.takeLine(buffer, start, end, onEvent);
      return;
    }
    const whole = Buffer.concat(this.line, this.lineLength);
    this.line = [];
    this.lineLength = 0;
    this.takeLine(whole, 0, whole.length - 1, onEvent);
  }

  private takeLine(buffer: Buffer, start: number, lineFeedAt: number, onEvent: OnEvent): void {
    const end =
      lineFeedAt > start && buffer[lineFeedAt - 1] === carriageReturn ? lineFeedAt - 1 : lineFeedAt;
    if (end === start) {
      this.dispatch(onEvent);
      return;
    }
    const dataAt = start + dataField.length;
    if (dataAt > end || dataField.compare(buffer, start, dataAt) !== 0) return;
    this.data.push({ buffer, start: dataAt + (buffer[dataAt] === space ? 1 : 0), end });
  }

  private dispatch(onEvent: OnEvent): void {
    const { data, eventBytes } = this;
    this.eventBytes = 0;
    const [first] = data;
    if (first === undefined) return;
    this.data = [];
    if (data.length === 1) {
      onEvent(first.buffer, first.start, first.end, eventBytes);
      return;
    }
    const pieces = data.flatMap((piece, at) => [
      ...(at === 0 ? [] : [lineEnd]),
      piece.buffer.subarray(piece.start, piece.end),
    ]);
    const whole = Buffer.concat(pieces);
    onEvent(whole, 0, whole.length, eventBytes);
  }
}

function copyOf({ buffer, start, end }: Piece): Piece {
  const copy = Buffer.from(buffer.subarray(start, end));
  return { buffer: copy, start: 0, end: copy.length };
}
