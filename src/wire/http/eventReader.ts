import { ByteRest } from '../socket/byteRest';

/** A stream of events that breaks a bound. */
export class EventStreamError extends Error {}

/**
 * Called with the data of one event. The buffer is valid only during the call; `eventBytes` is the
 * event's length in the stream, field names and line ends included.
 */
export type OnEvent = (buffer: Buffer, start: number, end: number, eventBytes: number) => void;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const dataField = Buffer.from('data:', 'latin1');
const lineEnd = Buffer.from('\n', 'latin1');
/** Lines of one event; a hub message has no line ends but those of indented JSON. */
const maximumLines = 65_536;

/**
 * Reads server-sent events (WHATWG HTML, 9.2.6) as SignalR uses them: only `data` counts; comments and
 * other fields are passed over. Lines end with LF or CR LF. Pieces may share one buffer between all
 * connections: only what is incomplete is copied, and nothing more than twice.
 */
export class EventReader {
  /** A line whose end has not come yet. */
  private readonly line = new ByteRest();
  /** Lines of the event at hand, and those of them that are data. */
  private lines = 0;
  private dataLines = 0;
  /** The only data line so far, where it came. */
  private first: Buffer | undefined;
  private firstStart = 0;
  private firstEnd = 0;
  /** The data lines so far, when there are several or their buffer belongs to the next read. */
  private readonly data = new ByteRest();
  private eventBytes = 0;

  /** @param maximumBytes longest event accepted */
  constructor(private readonly maximumBytes: number) {}

  /**
   * Reads a piece of the stream.
   *
   * @throws EventStreamError when an event is longer than allowed, or has too many lines
   */
  read(buffer: Buffer, start: number, end: number, onEvent: OnEvent): void {
    // What lies behind is of other reads and may be long: it is not searched.
    const piece = buffer.subarray(0, end);
    for (let at = start; at < end;) {
      const found = piece.indexOf(lineFeed, at);
      const stop = found < 0 ? end : found + 1;
      this.eventBytes += stop - at;
      if (this.eventBytes > this.maximumBytes) {
        throw new EventStreamError(
          `a server-sent event is above the limit of ${this.maximumBytes} bytes`,
        );
      }
      if (found < 0) {
        this.line.append(buffer, at, end);
      } else if (this.line.length > 0) {
        this.line.append(buffer, at, stop);
        const whole = this.line.take();
        this.takeLine(whole, 0, whole.length - 1, onEvent);
      } else {
        this.takeLine(buffer, at, found, onEvent);
      }
      at = stop;
    }
    // The buffer belongs to the next read.
    if (this.first === buffer) this.keepFirst(buffer);
  }

  private takeLine(buffer: Buffer, start: number, lineFeedAt: number, onEvent: OnEvent): void {
    const end =
      lineFeedAt > start && buffer[lineFeedAt - 1] === carriageReturn ? lineFeedAt - 1 : lineFeedAt;
    if (end === start) {
      this.dispatch(onEvent);
      return;
    }
    if ((this.lines += 1) > maximumLines)
      throw new EventStreamError(`a server-sent event has more than ${maximumLines} lines`);
    const dataAt = start + dataField.length;
    if (dataAt > end || dataField.compare(buffer, start, dataAt) !== 0) return;
    const from = dataAt + (buffer[dataAt] === space ? 1 : 0);
    if ((this.dataLines += 1) === 1) {
      this.first = buffer;
      this.firstStart = from;
      this.firstEnd = end;
      return;
    }
    if (this.first !== undefined) this.keepFirst(this.first);
    this.data.append(lineEnd);
    this.data.append(buffer, from, end);
  }

  private keepFirst(buffer: Buffer): void {
    this.data.append(buffer, this.firstStart, this.firstEnd);
    this.first = undefined;
  }

  private dispatch(onEvent: OnEvent): void {
    const { first, firstStart, firstEnd, dataLines, eventBytes } = this;
    this.first = undefined;
    this.lines = this.dataLines = this.eventBytes = 0;
    if (first !== undefined) {
      onEvent(first, firstStart, firstEnd, eventBytes);
    } else if (dataLines > 0) {
      const whole = this.data.take();
      onEvent(whole, 0, whole.length, eventBytes);
    }
  }
}
