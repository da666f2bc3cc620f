import type { BenchCaller, OpenStreams } from './hubConnection';
import type { Deliveries } from './hubDeliveries';
import type { ServerProtocol } from '../hubProtocol/serverProtocol';
import { type Envelope, hubMessageType } from '../../wire/message/hubMessage';
import { performance } from 'node:perf_hooks';

/** An open `StreamingEcho` or `StreamingUpload` call. */
class UpStream {
  readonly waiting: Buffer[] = [];
  timer: NodeJS.Timeout | undefined;
  isDue = false;
  ending: Buffer | undefined;

  /** @param counted of `StreamingUpload`; undefined for `StreamingEcho` */
  constructor(
    readonly id: string,
    readonly streamId: string,
    readonly delayMs: number,
    public counted: number | undefined,
  ) {}
}

const maxErrorChars = 4096;
const repeatable = (error = ''): string | undefined =>
  error.length > maxErrorChars ? 'The error text is too long to be repeated.' : error || undefined;

const maxStreams = 1000;
/** `StreamBufferCapacity` of ASP.NET Core, 10, and the first item. */
const maxWaitingItems = 11;
/** Per connection, or one larger item. */
const maxWaitingBytes = 256 * 1024;

const streamingFailed = 'An error occurred on the server while streaming results. HubException:';
const uploadFailed = "An unexpected error occurred invoking 'StreamingUpload' on the server.";

/** Streams of one connection; while {@link pausesReading}, nothing more is read from it. */
export class ConnectionStreams implements OpenStreams {
  private readonly calls = new Map<string, UpStream>();
  private readonly uploads = new Map<string, UpStream>();
  private readonly downloads = new Map<string, DownloadStream>();
  private fullStreams = 0;
  private waitingBytes = 0;

  constructor(
    private readonly connection: BenchCaller,
    private readonly deliveries: Deliveries,
  ) {}

  get pausesReading(): boolean {
    return this.fullStreams > 0 || this.waitingBytes > maxWaitingBytes;
  }

  /** @returns the error that refuses the call */
  start(message: Envelope, delayMs: number, counted?: number): string | undefined {
    const { invocationId: id = '', streamIds: [streamId = ''] = [] } = message;
    if (counted !== undefined && message.invocationId === undefined) return undefined;
    const refusal = this.refusal(id);
    if (refusal !== undefined) return refusal;
    // In ASP.NET Core the earlier call would never end.
    if (this.uploads.has(streamId)) return `Stream ID '${streamId}' is already in use.`;
    const stream = new UpStream(id, streamId, delayMs, counted);
    this.calls.set(id, stream);
    this.uploads.set(streamId, stream);
    return undefined;
  }

  /** @returns the error that refuses the call */
  startDownload(asked: Download): string | undefined {
    const { id } = asked;
    const refusal = this.refusal(id);
    if (refusal !== undefined) return refusal;
    const { connection, deliveries } = this;
    const ended = (): boolean => this.downloads.delete(id);
    const download = new DownloadStream(connection, deliveries, asked, ended);
    this.downloads.set(id, download);
    deliveries.startStallClock();
    download.send();
    return undefined;
  }

  receive(message: Envelope): void {
    const id = message.invocationId ?? '';
    if (message.type === hubMessageType.cancelInvocation) {
      const call = this.calls.get(id);
      if (call !== undefined) this.finish(call, this.protocol.streamEndFrame(call.id));
      this.downloads.get(id)?.finish();
      return;
    }
    const stream = this.uploads.get(id);
    if (stream === undefined) return;
    if (message.type === hubMessageType.streamItem) this.item(stream, message.item!);
    else this.endUpload(stream, repeatable(message.error));
  }

  private get protocol(): ServerProtocol {
    return this.connection.protocol;
  }

  private refusal(id: string): string | undefined {
    if (this.calls.has(id) || this.downloads.has(id))
      return `Invocation ID '${id}' is already in use.`;
    const isFull = this.calls.size + this.downloads.size >= maxStreams;
    return isFull ? `No more than ${maxStreams} streams may be open.` : undefined;
  }

  resumeSending(): void {
    for (const stream of this.calls.values()) if (stream.isDue) this.sendFirst(stream);
    for (const download of this.downloads.values()) download.resume();
  }

  dispose(): void {
    for (const { timer } of this.calls.values()) clearTimeout(timer);
    for (const download of this.downloads.values()) download.dispose();
    this.calls.clear();
    this.uploads.clear();
    this.downloads.clear();
    this.fullStreams = 0;
    this.waitingBytes = 0;
  }

  private item(stream: UpStream, item: Buffer): void {
    if (!this.protocol.isDictionary(item)) {
      this.endUpload(stream, 'Failed to bind Stream message.');
      return;
    }
    this.deliveries.startStallClock();
    if (stream.counted !== undefined) {
      stream.counted += 1;
      return;
    }
    if (stream.delayMs <= 0) {
      this.deliveries.deliver(this.connection, this.protocol.streamItemFrame(stream.id, item));
      return;
    }
    stream.waiting.push(Buffer.from(item));
    this.waitingBytes += item.length;
    if (stream.waiting.length === 1) this.delay(stream);
    if (stream.waiting.length === maxWaitingItems + 1) this.fullStreams++;
  }

  private delay(stream: UpStream): void {
    stream.timer = setTimeout(() => this.sendFirst(stream), stream.delayMs);
  }

  private sendFirst(stream: UpStream): void {
    stream.isDue = this.deliveries.isHeld;
    const item = stream.waiting[0];
    if (stream.isDue || item === undefined) return;
    const wasFull = this.pausesReading;
    stream.waiting.shift();
    this.waitingBytes -= item.length;
    if (stream.waiting.length === maxWaitingItems) this.fullStreams--;
    this.deliveries.deliver(this.connection, this.protocol.streamItemFrame(stream.id, item));
    if (!this.calls.has(stream.id)) return;
    if (stream.waiting.length > 0) this.delay(stream);
    else if (stream.ending !== undefined) this.finish(stream, stream.ending);
    if (wasFull) this.connection.resumeReading();
  }

  private endUpload(stream: UpStream, error: string | undefined): void {
    this.uploads.delete(stream.streamId);
    stream.ending = this.endingOf(stream, error);
    if (stream.waiting.length === 0) this.finish(stream, stream.ending);
  }

  private endingOf({ id, counted }: UpStream, error: string | undefined): Buffer {
    const { protocol } = this;
    if (counted !== undefined)
      return error === undefined
        ? protocol.resultFrame(id, counted)
        : protocol.errorFrame(id, uploadFailed);
    return error === undefined
      ? protocol.streamEndFrame(id)
      : protocol.errorFrame(id, `${streamingFailed} ${error}`);
  }

  private finish(stream: UpStream, completion: Buffer): void {
    clearTimeout(stream.timer);
    this.calls.delete(stream.id);
    // The id of an ended upload may be in use again.
    if (stream.ending === undefined) this.uploads.delete(stream.streamId);
    for (const item of stream.waiting) this.waitingBytes -= item.length;
    stream.waiting.length = 0;
    if (stream.counted === undefined) this.deliveries.send(this.connection, completion);
    else this.deliveries.deliver(this.connection, completion);
  }
}

interface Download {
  readonly id: string;
  readonly item: Buffer;
  readonly items: number;
  readonly delayMs: number;
}

const burst = 64;
const retryMs = 2;

/** A `StreamingDownload` call: item k is due k × delay after the call, and waits while the client does not read. */
class DownloadStream {
  private readonly startMs = performance.now();
  private sent = 0;
  private timer: NodeJS.Timeout | undefined;
  private isDue = false;
  private isOver = false;

  constructor(
    private readonly connection: BenchCaller,
    private readonly deliveries: Deliveries,
    private readonly download: Download,
    private readonly ended: () => void,
  ) {}

  resume(): void {
    if (this.isDue) this.send();
  }

  dispose(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  finish(): void {
    if (this.isOver) return;
    this.dispose();
    this.ended();
    const { connection, download } = this;
    this.deliveries.send(connection, connection.protocol.streamEndFrame(download.id));
  }

  readonly send = (): void => {
    const { connection, deliveries } = this;
    const { id, item, items, delayMs } = this.download;
    this.isDue = deliveries.isHeld;
    if (this.isDue) return;
    for (let count = 0; this.sent < items; count++) {
      const waitMs = this.startMs + this.sent * Math.max(0, delayMs) - performance.now();
      if (waitMs > 0) {
        // Timers may be early by a fraction of a millisecond.
        this.timer = setTimeout(this.send, Math.ceil(waitMs));
        return;
      }
      if (count === burst || connection.isBehind) {
        this.timer = setTimeout(this.send, connection.isBehind ? retryMs : 0);
        return;
      }
      const numbered = connection.protocol.numberedItem(item, this.sent);
      this.sent += 1;
      deliveries.deliver(connection, connection.protocol.streamItemFrame(id, numbered));
      if (this.isOver) return;
    }
    this.finish();
  };
}
