import type { HubConnection } from './hubConnection';
import { errorFrame, streamEndFrame, streamItemFrame } from './hubFrames';
import { isDictionaryAt, messageType, type HubMessage } from './hubMessage';

/** What streams need from their hub. */
export interface StreamHost {
  /** While true, nothing may be written. */
  readonly isHeld: boolean;
  /** A message to deliver has come in. */
  messageArrived(): void;
  deliver(connection: HubConnection, frame: Buffer): void;
  /** Sends behind everything that was delivered before. */
  sendBehind(connection: HubConnection, frame: Buffer): void;
}

/** One `StreamingEcho` call that has not completed. */
interface EchoStream {
  readonly id: string;
  /** The id as JSON text. */
  readonly idJson: string;
  readonly streamId: string;
  readonly delayMs: number;
  /** Copies of the items to give back; the first one is waiting its delay, the others their turn. */
  readonly waiting: Buffer[];
  timer: NodeJS.Timeout | undefined;
  /** The delay of the first item ended while the hub was held. */
  isDue: boolean;
  /** The completion to send behind the last item; present once the client has ended its upload. */
  ending: Buffer | undefined;
}

/** Open streams of one connection; the next one is refused. */
const maxStreams = 1000;
/** `StreamBufferCapacity` of ASP.NET Core, 10, and the item whose delay is running. */
const maxWaitingItems = 11;
/** Of all streams of a connection together, or one larger item. */
const maxWaitingBytes = 256 * 1024;

function streamError(invocationId: string, error: string): Buffer {
  const text = `An error occurred on the server while streaming results. HubException: ${error}`;
  return errorFrame(invocationId, text);
}

/**
 * The `StreamingEcho` calls of one connection: each item goes back after the call's delay, one after the
 * other. When too much waits, {@link isFull} asks the connection to read nothing more, and the
 * connection is told to go on once there is room.
 */
export class ConnectionStreams {
  private readonly calls = new Map<string, EchoStream>();
  /** Streams the client has not ended, by stream id. */
  private readonly uploads = new Map<string, EchoStream>();
  private fullStreams = 0;
  private waitingBytes = 0;

  constructor(
    private readonly connection: HubConnection,
    private readonly host: StreamHost,
  ) {}

  get isFull(): boolean {
    return this.fullStreams > 0 || this.waitingBytes > maxWaitingBytes;
  }

  /**
   * Begins a call.
   * @param delayMs wait before each item goes back; none from 0 down
   * @returns the error that refuses it
   */
  start({ id, streamId }: HubMessage, delayMs: number): string | undefined {
    if (this.calls.has(id)) return `Invocation ID '${id}' is already in use.`;
    // ASP.NET Core hands the id to the later call, and the earlier one never ends.
    if (this.uploads.has(streamId)) return `Stream ID '${streamId}' is already in use.`;
    if (this.calls.size >= maxStreams) return `No more than ${maxStreams} streams may be open.`;
    const stream: EchoStream = {
      id,
      idJson: JSON.stringify(id),
      streamId,
      delayMs,
      waiting: [],
      timer: undefined,
      isDue: false,
      ending: undefined,
    };
    this.calls.set(id, stream);
    this.uploads.set(streamId, stream);
    return undefined;
  }

  /** Takes a stream item, the completion of an upload, or a cancellation; unknown ids are ignored. */
  received(message: HubMessage): void {
    if (message.type === messageType.cancelInvocation) {
      const call = this.calls.get(message.id);
      if (call !== undefined) this.finish(call, streamEndFrame(call.idJson));
      return;
    }
    const stream = this.uploads.get(message.id);
    if (stream === undefined) return;
    if (message.type === messageType.streamItem) this.item(stream, message);
    else this.endUpload(stream, message.error);
  }

  /** Sends what became due while the hub was held. */
  resume(): void {
    for (const stream of this.calls.values()) if (stream.isDue) this.sendFirst(stream);
  }

  /** Ends all streams without a word. */
  dispose(): void {
    for (const { timer } of this.calls.values()) clearTimeout(timer);
    this.calls.clear();
    this.uploads.clear();
    this.fullStreams = 0;
    this.waitingBytes = 0;
  }

  private item(stream: EchoStream, { bytes, itemStart, itemEnd }: HubMessage): void {
    if (!isDictionaryAt(bytes, itemStart)) {
      this.endUpload(stream, 'Failed to bind Stream message.');
      return;
    }
    this.host.messageArrived();
    if (stream.delayMs <= 0) {
      const frame = streamItemFrame(stream.idJson, bytes, itemStart, itemEnd);
      this.host.deliver(this.connection, frame);
      return;
    }
    stream.waiting.push(Buffer.from(bytes.subarray(itemStart, itemEnd)));
    this.waitingBytes += itemEnd - itemStart;
    if (stream.waiting.length === 1) this.delay(stream);
    if (stream.waiting.length === maxWaitingItems + 1) this.fullStreams++;
  }

  private delay(stream: EchoStream): void {
    stream.timer = setTimeout(() => this.sendFirst(stream), stream.delayMs);
  }

  private sendFirst(stream: EchoStream): void {
    stream.isDue = this.host.isHeld;
    const item = stream.waiting[0];
    if (stream.isDue || item === undefined) return;
    const wasFull = this.isFull;
    stream.waiting.shift();
    this.waitingBytes -= item.length;
    if (stream.waiting.length === maxWaitingItems) this.fullStreams--;
    const frame = streamItemFrame(stream.idJson, item, 0, item.length);
    this.host.deliver(this.connection, frame);
    // A client that does not read may have been closed by this.
    if (!this.calls.has(stream.id)) return;
    if (stream.waiting.length > 0) this.delay(stream);
    else if (stream.ending !== undefined) this.finish(stream, stream.ending);
    if (wasFull) this.connection.resumeReading();
  }

  /** No further items: the call completes behind those that are waiting. */
  private endUpload(stream: EchoStream, error: string | undefined): void {
    const { idJson } = stream;
    this.uploads.delete(stream.streamId);
    stream.ending = error === undefined ? streamEndFrame(idJson) : streamError(idJson, error);
    if (stream.waiting.length === 0) this.finish(stream, stream.ending);
  }

  private finish(stream: EchoStream, completion: Buffer): void {
    clearTimeout(stream.timer);
    this.calls.delete(stream.id);
    // After its end an upload's id may belong to another call.
    if (stream.ending === undefined) this.uploads.delete(stream.streamId);
    for (const item of stream.waiting) this.waitingBytes -= item.length;
    stream.waiting.length = 0;
    this.host.sendBehind(this.connection, completion);
  }
}
