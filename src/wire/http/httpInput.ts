import type { IncomingMessage } from 'node:http';
import type { Endpoint } from '../../base/endpoint';
import { ConnectFailure, failureFromResponse } from '../connectFailure';
import { HeldBytes, type IncompleteBytesBudget, PendingBytes } from '../socket/frameReader';
import type { ConnectStopwatch } from '../socket/socket';
import { HttpChannel, type ChannelOwner, type HttpRequests } from './httpChannel';

export interface InputOwner {
  onReady(): void;
  /**
   * Whole hub messages; none when a poll came back empty. The buffer is valid only during the call; `wireBytes`
   * includes the transport's overhead without HTTP heads.
   */
  onMessages(buffer: Buffer, start: number, end: number, wireBytes: number): void;
  onServerEnd(): void;
  onFailure(failure: ConnectFailure): void;
  /** Sees the response to a poll before the next one. @returns milliseconds to wait before that; −1: there is none */
  beforePoll?(buffer: Buffer, start: number, end: number): number;
  readonly stopped: boolean;
  readonly unfinished?: IncompleteBytesBudget | undefined;
}

const holdingOf = (owner: InputOwner, ...limit: [what?: string, mostBytes?: number]): HeldBytes =>
  new HeldBytes(owner.unfinished, (failure) => owner.onFailure(failure), ...limit);

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

  open(stopwatch?: ConnectStopwatch): void {
    this.channel.send(() => this.requests.stream(), false, stopwatch);
  }

  destroy(): void {
    this.channel.destroy();
    this.reader.destroy();
  }

  answerBegan(head: IncomingMessage): void {
    if (head.statusCode !== 200)
      this.owner.onFailure(failureFromResponse('event stream', head, this.requests.where.url));
    else if (!/^text\/event-stream\b/i.test(head.headers['content-type'] ?? ''))
      this.owner.onFailure(
        new ConnectFailure('request', 'event stream: the server answered with something else'),
      );
    else this.owner.onReady();
  }

  answerBody(bytes: Buffer): void {
    try {
      this.reader.read(bytes, 0, bytes.length, this.onEvent);
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

export class PollInput implements ChannelOwner {
  private channel: HttpChannel;
  private readonly body: PendingBytes;
  private activated = false;
  private inVain = false;
  private pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly requests: HttpRequests,
    private readonly endpoint: Endpoint,
    private readonly owner: InputOwner,
    maximumBytes: number,
    private readonly timeoutMs?: number,
  ) {
    this.channel = new HttpChannel(requests, endpoint, this, timeoutMs);
    this.body = new PendingBytes(holdingOf(owner, 'the answer to a poll', maximumBytes));
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
      owner.onFailure(failureFromResponse('poll', head, this.requests.where.url));
    } else {
      const isFirst = !this.activated;
      this.activated = true;
      const delayMs = owner.beforePoll?.(whole, 0, whole.length) ?? 0;
      if (delayMs < 0) return;
      // Before the messages are handled, since the server needs a poll for the next ones.
      if (delayMs > 0) this.pause = setTimeout(() => this.open(), delayMs);
      else this.open();
      // The first response comes at once and only says that the connection exists.
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
    // A server may be set to hold polls for longer; the official clients repeat without limit.
    this.inVain = true;
    this.channel = new HttpChannel(this.requests, this.endpoint, this, this.timeoutMs);
    this.open();
  }
}

/** The buffer is valid during the call only, `eventBytes` counts names and line ends too. */
type OnEvent = (buffer: Buffer, start: number, end: number, eventBytes: number) => void;

const unreadable = (why: string): ConnectFailure =>
  new ConnectFailure('protocol', `a server-sent event ${why}`);

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const dataField = Buffer.from('data:', 'latin1');
const lineEnd = Buffer.from('\n', 'latin1');
/** Of one event; a hub message has no line ends but those of indented JSON. */
const maximumLines = 65_536;

/**
 * Reads server-sent events (WHATWG HTML, 9.2.6) as SignalR uses them: only `data` counts, lines end with LF or CR LF.
 * Only what is incomplete is copied.
 */
export class EventReader {
  private readonly line: PendingBytes;
  private lines = 0;
  private dataLines = 0;
  private first: Buffer | undefined;
  private firstStart = 0;
  private firstEnd = 0;
  /** The data lines when there are several, or their buffer belongs to the next read. */
  private readonly data: PendingBytes;
  private eventBytes = 0;

  constructor(
    private readonly maximumBytes: number,
    holding?: HeldBytes,
  ) {
    this.line = new PendingBytes(holding);
    this.data = new PendingBytes(holding);
  }

  destroy(): void {
    this.line.take();
    this.data.take();
  }

  /** @throws ConnectFailure `protocol` when an event is longer than allowed, or has too many lines */
  read(buffer: Buffer, start: number, end: number, onEvent: OnEvent): void {
    // Bytes beyond `end` belong to other reads and are not searched.
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
