import { isUtf8 } from 'node:buffer';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { ByteRest } from './byteRest';
import type { ConnectionStreams } from './connectionStreams';
import { closeFrame, handshakeErrorFrame, pingFrame } from './hubFrames';
import { handshakeProblem, handshakeFailed, handshakeTimedOut } from './hubHandshake';
import { messageType, readHubMessage, type HubMessage } from './hubMessage';

/** What a connection needs from its hub. */
export interface ConnectionHost {
  readonly maxMessageBytes: number;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs: number;
  /** While true, nothing that arrives is looked at. */
  readonly isHeld: boolean;
  /** Milliseconds, as of the hub's last tick: good enough for time-outs, free to read. */
  readonly tickMs: number;
  /** The handshake was accepted. */
  opened(connection: HubConnection): void;
  invoked(connection: HubConnection, message: HubMessage): void;
  /** It takes no further messages. */
  closing(connection: HubConnection): void;
}

const recordSeparator = 0x1e;

/** Text of .NET for every failure it does not explain to the client. */
const closedWithError = 'Connection closed with an error.';

/** One client behind an accepted WebSocket: handshake, splitting into messages, keep-alive, close. */
export class HubConnection {
  /** Names of the groups it is in; undefined until it joins its first. */
  groups: Set<string> | undefined;
  /** undefined until it starts its first stream. */
  streams: ConnectionStreams | undefined;
  invocations = 0;
  private state: 'handshake' | 'open' | 'closing' = 'handshake';
  private rest: ByteRest | undefined;
  private inbox: { data: Buffer; isBinary: boolean }[] | undefined;
  private handshakeDueMs: number;
  private nextPingMs = 0;
  private lastSeenMs: number;
  private hasPinged = false;

  /** @param raw the stream under `socket`, for frames that are already encoded */
  constructor(
    readonly id: string,
    private readonly host: ConnectionHost,
    private readonly socket: WebSocket,
    private readonly raw: Duplex,
    handshakeTimeoutMs: number,
  ) {
    this.lastSeenMs = host.tickMs;
    this.handshakeDueMs = host.tickMs + handshakeTimeoutMs;
    socket.on('message', (data: Buffer, isBinary: boolean) => this.arrived(data, isBinary));
    // Answered here instead of by `ws`, so that pings without end meet the bound on unread bytes too.
    socket.on('ping', (data: Buffer) => {
      if (this.hasRoom()) socket.pong(data, false);
    });
    // A broken frame or a lost socket: `ws` closes by itself, `close` follows.
    socket.on('error', () => undefined);
    if (host.isHeld) this.pauseReading();
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  /** Sends one encoded frame, or closes the connection when the client has left too much unread. */
  write(frame: Buffer): void {
    if (this.state === 'open' && this.hasRoom()) this.raw.write(frame);
  }

  /** Says goodbye with a Close message and ends the WebSocket; what was written before still arrives. */
  close(error?: string, allowReconnect = false, code = 1000): void {
    this.end(closeFrame(error, allowReconnect), code);
  }

  /** Ends at once, without a word. */
  terminate(): void {
    this.state = 'closing';
    this.host.closing(this);
    this.socket.terminate();
  }

  /** Time-outs and keep-alive; called about once a second with the hub's tick. */
  tick(nowMs: number): void {
    if (this.state === 'handshake' && nowMs >= this.handshakeDueMs) {
      this.end(handshakeErrorFrame(handshakeTimedOut), 1000);
    }
    if (this.state !== 'open') return;
    // What is not read is no silence of the client.
    const silentMs = this.isFull ? 0 : nowMs - this.lastSeenMs;
    if (this.hasPinged && silentMs > this.host.clientTimeoutMs) {
      this.close(closedWithError, true);
    } else if (nowMs >= this.nextPingMs) {
      this.nextPingMs = nowMs + this.host.keepAliveMs;
      this.write(pingFrame);
    }
  }

  pauseReading(): void {
    this.socket.pause();
  }

  /** Goes on with what arrived while the hub was held, or while the client's own streams were full. */
  resumeReading(): void {
    this.lastSeenMs = this.host.tickMs;
    while (this.inbox !== undefined && !this.mayNotRead) {
      const next = this.inbox.shift();
      if (next === undefined) this.inbox = undefined;
      else this.read(next.data, next.isBinary);
    }
    if (!this.mayNotRead) this.socket.resume();
  }

  private get isFull(): boolean {
    return this.streams?.isFull === true;
  }

  private get mayNotRead(): boolean {
    return this.host.isHeld || this.isFull;
  }

  private hasRoom(): boolean {
    const unread = this.raw.writableLength;
    if (unread <= this.host.maxUnreadBytes) return true;
    if (this.state !== 'closing') {
      const limit = `${this.host.maxUnreadBytes} bytes`;
      this.close(
        `Closed: more than ${limit} were waiting for this client to read them.`,
        true,
        1008,
      );
    }
    return false;
  }

  private end(lastFrame: Buffer, code: number): void {
    if (this.state === 'closing') return;
    this.state = 'closing';
    this.host.closing(this);
    if (this.raw.writable) this.raw.write(lastFrame);
    this.socket.close(code);
    // The answering close frame has to be read even while the hub is held.
    this.socket.resume();
  }

  private arrived(data: Buffer, isBinary: boolean): void {
    if (this.state === 'closing') return;
    if (this.mayNotRead || this.inbox !== undefined) {
      (this.inbox ??= []).push({ data, isBinary });
      return;
    }
    this.read(data, isBinary);
  }

  private read(data: Buffer, isBinary: boolean): void {
    this.lastSeenMs = this.host.tickMs;
    // Text frames were checked by `ws`; what goes out again must be text too.
    if (isBinary && !isUtf8(data)) {
      this.fail();
      return;
    }
    let start = 0;
    while (start < data.length && this.state !== 'closing') {
      const end = data.indexOf(recordSeparator, start);
      if (end < 0) {
        this.keep(data.subarray(start));
        return;
      }
      if (this.rest === undefined) {
        this.message(data, start, end);
      } else {
        this.keep(data.subarray(start, end + 1));
        const whole = this.rest.take();
        this.rest = undefined;
        this.message(whole, 0, whole.length - 1);
      }
      start = end + 1;
      if (this.isFull) {
        this.pauseReading();
        // The text of what is left is checked already.
        const left = { data: data.subarray(start), isBinary: false };
        if (start < data.length) (this.inbox ??= []).unshift(left);
        return;
      }
    }
  }

  /** Keeps a piece of a message that came in several WebSocket messages. */
  private keep(piece: Buffer): void {
    this.rest ??= new ByteRest();
    this.rest.append(piece);
    if (this.rest.length > this.host.maxMessageBytes) this.fail();
  }

  private message(bytes: Buffer, start: number, end: number): void {
    if (this.state === 'closing') return;
    if (this.state === 'handshake') {
      this.handshake(bytes.toString('utf8', start, end));
      return;
    }
    const message = readHubMessage(bytes, start, end);
    if (message === undefined) {
      this.fail();
      return;
    }
    switch (message.type) {
      case messageType.invocation:
      case messageType.streamInvocation:
        this.invocations++;
        this.host.invoked(this, message);
        break;
      case messageType.streamItem:
      case messageType.completion:
      case messageType.cancelInvocation:
        this.streams?.received(message);
        break;
      case messageType.ping:
        this.hasPinged = true;
        break;
      case messageType.close:
        this.close();
        break;
    }
  }

  private handshake(text: string): void {
    const problem = handshakeProblem(text);
    if (problem !== undefined) {
      this.end(handshakeErrorFrame(problem), 1000);
      return;
    }
    this.state = 'open';
    this.nextPingMs = this.host.tickMs + this.host.keepAliveMs;
    this.host.opened(this);
  }

  private fail(): void {
    if (this.state === 'handshake') this.end(handshakeErrorFrame(handshakeFailed), 1000);
    else this.close(closedWithError, true);
  }
}
