import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../../base/endpoint';
import { ConnectFailure, failureOfAnswer } from '../connectFailure';
import { ByteRest } from '../socket/frameReader';
import type { ConnectStopwatch } from '../socket/socket';
import { Holding, type UnfinishedBudget } from '../socket/unfinished';
import { HttpChannel, type ChannelOwner, type HttpRequests } from './httpChannel';

export interface InputOwner {
  /** The server knows the connection now: messages may be sent. */
  onReady(): void;
  /**
   * Whole hub messages; none when a poll came back empty. The buffer is valid only during the call;
   * `wireBytes` is their length with what the transport puts around them, HTTP heads excluded.
   */
  onMessages(buffer: Buffer, start: number, end: number, wireBytes: number): void;
  onServerEnd(): void;
  onFailure(failure: ConnectFailure): void;
  /** Looks at the answer to a poll before the next one. @returns for how many milliseconds that waits; −1: there is none */
  beforePoll?(buffer: Buffer, start: number, end: number): number;
  readonly stopped: boolean;
  readonly unfinished?: UnfinishedBudget | undefined;
}

const holdingOf = (owner: InputOwner, ...limit: [what?: string, mostBytes?: number]): Holding =>
  new Holding(owner.unfinished, (failure) => owner.onFailure(failure), ...limit);

/** One answer that does not end and brings an event for every flush of the server. */
export class EventStreamInput implements ChannelOwner {
  private readonly channel: HttpChannel;
  private readonly reader: EventReader;
  private readonly onEvent: OnEvent = (buffer, start, end, eventBytes) => {
    if (!this.owner.stopped) this.owner.onMessages(buffer, start, end, eventBytes);
  };

  constructor(
    private readonly requests: HttpRequests,
    endpoint: Endpoint,
    private readonly owner: InputOwner,
    maximumBytes: number,
  ) {
    this.reader = new EventReader(maximumBytes, holdingOf(owner));
    // The server pings over the stream; the owner judges its silence.
    this.channel = new HttpChannel(requests, endpoint, this, 0);
  }

  /** @param stopwatch gets the phases of its socket */
  open(stopwatch?: ConnectStopwatch): void {
    this.channel.send(() => this.requests.stream(), false, stopwatch);
  }

  destroy(): void {
    this.channel.destroy();
    this.reader.destroy();
  }

  answerBegan(head: IncomingMessage): void {
    if (head.statusCode !== 200)
      this.owner.onFailure(failureOfAnswer('event stream', head, this.requests.where.url));
    else if (!/^text\/event-stream\b/i.test(head.headers['content-type'] ?? ''))
      this.owner.onFailure(
        new ConnectFailure('request', 'event stream: the server answered with something else'),
      );
    else this.owner.onReady();
  }

  answerBody(bytes: Buffer): void {
    try {
      this.reader.read(bytes, 0, bytes.length, this.onEvent);
      // It may have been let go of meanwhile.
      if (this.owner.stopped) this.reader.destroy();
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      this.owner.onFailure(error);
    }
  }

  answerEnded(): void {
    this.owner.onServerEnd();
  }

  requestFailed(failure: ConnectFailure): void {
    this.owner.onFailure(failure);
  }
}

/** One request after the other, each answered as soon as the server has something. */
export class PollInput implements ChannelOwner {
  private channel: HttpChannel;
  private readonly body: ByteRest;
  private activated = false;
  /** The last poll was given up without an answer. */
  private inVain = false;
  private pause: NodeJS.Timeout | undefined;

  /** @param timeoutMs longest silence of the server; absent: as in the clients of ASP.NET Core */
  constructor(
    private readonly requests: HttpRequests,
    private readonly endpoint: Endpoint,
    private readonly owner: InputOwner,
    maximumBytes: number,
    private readonly timeoutMs?: number,
  ) {
    this.channel = new HttpChannel(requests, endpoint, this, timeoutMs);
    this.body = new ByteRest(holdingOf(owner, 'the answer to a poll', maximumBytes));
  }

  open(stopwatch?: ConnectStopwatch): void {
    this.channel.send(() => this.requests.poll(), this.activated, stopwatch);
  }

  destroy(): void {
    clearTimeout(this.pause);
    this.body.take();
    this.channel.destroy();
  }

  answerBody(bytes: Buffer): void {
    this.body.append(bytes);
  }

  answerEnded(head: IncomingMessage): void {
    const { owner } = this;
    if (owner.stopped) return;
    const whole = this.body.take();
    this.inVain = false;
    if (head.statusCode === 204) {
      owner.onServerEnd();
    } else if (head.statusCode !== 200) {
      owner.onFailure(failureOfAnswer('poll', head, this.requests.where.url));
    } else {
      const isFirst = !this.activated;
      this.activated = true;
      const delayMs = owner.beforePoll?.(whole, 0, whole.length) ?? 0;
      if (delayMs < 0) return;
      // Before the messages are looked at: what the server sends next waits for a poll.
      if (delayMs > 0) this.pause = setTimeout(() => this.open(), delayMs);
      else this.open();
      // The first answer comes at once and only says that the connection is there.
      if (isFirst) owner.onReady();
      owner.onMessages(whole, 0, whole.length, whole.length);
    }
  }

  requestFailed(failure: ConnectFailure): void {
    if (failure.errorClass !== 'timeout' || !this.activated || this.inVain) {
      this.owner.onFailure(failure);
      return;
    }
    this.body.take();
    // A server may be set to hold polls for longer; the official clients ask again without end.
    this.inVain = true;
    this.channel = new HttpChannel(this.requests, this.endpoint, this, this.timeoutMs);
    this.open();
  }
}

/** Gets one event; the buffer is valid during the call only, `eventBytes` counts names and line ends too. */
type OnEvent = (buffer: Buffer, start: number, end: number, eventBytes: number) => void;

const unreadable = (why: string): ConnectFailure =>
  new ConnectFailure('protocol', `a server-sent event ${why}`);

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const dataField = Buffer.from('data:', 'latin1');
const lineEnd = Buffer.from('\n', 'latin1');
/** Lines of one event; a hub message has no line ends but those of indented JSON. */
const maximumLines = 65_536;

/**
 * Reads server-sent events (WHATWG HTML, 9.2.6) as SignalR uses them: only `data` counts, lines end with LF or CR LF.
 * Pieces may share one buffer: only what is incomplete is copied, and nothing more than twice.
 */
export class EventReader {
  /** A line whose end has not come yet. */
  private readonly line: ByteRest;
  /** Lines of the event at hand, and those of them that are data. */
  private lines = 0;
  private dataLines = 0;
  /** The only data line so far, where it came. */
  private first: Buffer | undefined;
  private firstStart = 0;
  private firstEnd = 0;
  /** The data lines so far, when there are several or their buffer belongs to the next read. */
  private readonly data: ByteRest;
  private eventBytes = 0;

  constructor(
    private readonly maximumBytes: number,
    holding?: Holding,
  ) {
    this.line = new ByteRest(holding);
    this.data = new ByteRest(holding);
  }

  /** Lets go of the event at hand. */
  destroy(): void {
    this.line.take();
    this.data.take();
  }

  /** @throws ConnectFailure `protocol` when an event is longer than allowed, or has too many lines */
  read(buffer: Buffer, start: number, end: number, onEvent: OnEvent): void {
    // What lies behind is of other reads and may be long: it is not searched.
    const piece = buffer.subarray(0, end);
    for (let at = start; at < end;) {
      const found = piece.indexOf(lineFeed, at);
      const stop = found < 0 ? end : found + 1;
      this.eventBytes += stop - at;
      if (this.eventBytes > this.maximumBytes)
        throw unreadable(`is above the limit of ${this.maximumBytes} bytes`);
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
    if ((this.lines += 1) > maximumLines) throw unreadable(`has more than ${maximumLines} lines`);
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
