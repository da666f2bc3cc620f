import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** What a transport tells the connection it carries. */
export interface TransportOwner {
  arrived(data: Buffer, isBinary: boolean): void;
  /** Whether anything more may be written; closes the connection when it may not. */
  hasRoom(): boolean;
  /** The transport is no more; told once. */
  gone(): void;
}

/** How the bytes of one connection travel. */
export interface HubTransport {
  /** Written, and not read by the client yet. */
  readonly unreadBytes: number;
  readonly isWritable: boolean;
  /** The transport itself notices a client that is gone: there are no pings. */
  readonly hasOwnKeepAlive: boolean;
  /** Whether it carries anything but text. */
  readonly carriesBinary: boolean;
  attach(owner: TransportOwner): void;
  /** Writes whole WebSocket frames; transports of another kind send what is in them. */
  write(frames: Buffer): void;
  /** Ends in order, behind what was written. */
  close(code: number): void;
  /** Ends at once, without a word. */
  terminate(): void;
  pause(): void;
  resume(): void;
  /** Time-outs; called about once a second. */
  tick(nowMs: number): void;
}

/** An accepted WebSocket. */
export class WebSocketTransport implements HubTransport {
  readonly hasOwnKeepAlive = false;
  readonly carriesBinary = true;

  /** @param raw the stream under `socket`, for frames that are already encoded */
  constructor(
    private readonly socket: WebSocket,
    private readonly raw: Duplex,
  ) {}

  get unreadBytes(): number {
    return this.raw.writableLength;
  }

  get isWritable(): boolean {
    return this.raw.writable;
  }

  attach(owner: TransportOwner): void {
    const { socket } = this;
    socket.on('message', (data: Buffer, isBinary: boolean) => owner.arrived(data, isBinary));
    // Answered here instead of by `ws`, so that pings without end meet the bound on unread bytes too.
    socket.on('ping', (data: Buffer) => {
      if (owner.hasRoom()) socket.pong(data, false);
    });
    // A broken frame or a lost socket: `ws` closes by itself, `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', () => owner.gone());
  }

  write(frames: Buffer): void {
    this.raw.write(frames);
  }

  close(code: number): void {
    this.socket.close(code);
    // The answering close frame has to be read even while the hub is held.
    this.socket.resume();
  }

  terminate(): void {
    this.socket.terminate();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  tick(): void {
    // `ws` has its own time-out for closing.
  }
}
