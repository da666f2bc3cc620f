import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { opcode } from '../../wire/socket/frame';
import { serverFrame } from '../hubProtocol/serverFrame';

/** What a WebSocket reports besides; a transport of another kind cannot. */
export interface SocketOwner extends TransportOwner {
  /** @param code of the close frame, 1006 without one */
  gone(code?: number): void;
  seen?(): void;
}

/** Bytes of the reason in a close frame (RFC 6455, 5.5.1), in characters of any width. */
const maxReasonCharacters = 40;
const pingFrame = serverFrame(opcode.ping, Buffer.alloc(0));

/** An accepted WebSocket, to which encoded frames are written directly. */
export class WebSocketTransport implements HubTransport {
  readonly hasOwnKeepAlive = false;
  readonly carriesBinary = true;

  /** @param raw the stream under `socket` */
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

  attach(owner: SocketOwner): void {
    const { socket } = this;
    socket.on('message', (data: Buffer, isBinary: boolean) => owner.arrived(data, isBinary));
    // Answered here instead of by `ws`, so that pings without end meet the bound on unread bytes too.
    socket.on('ping', (data: Buffer) => {
      owner.seen?.();
      if (owner.hasRoom()) socket.pong(data, false);
    });
    socket.on('pong', () => owner.seen?.());
    // A broken frame or a lost socket: `ws` closes by itself, `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', (code) => owner.gone(code));
  }

  onDrain(listener: () => void): void {
    this.raw.on('drain', listener);
  }

  write(frames: Buffer): void {
    if (this.raw.writable) this.raw.write(frames);
  }

  /** Writes a frame that lies in two pieces, in one system call. */
  writeTwo(head: Buffer, tail: Buffer): void {
    if (!this.raw.writable) return;
    this.raw.cork();
    this.raw.write(head);
    this.raw.write(tail);
    this.raw.uncork();
  }

  ping(): void {
    this.write(pingFrame);
  }

  close(code: number, reason = ''): void {
    this.socket.close(code, reason.slice(0, maxReasonCharacters));
    // The answering close frame has to be read, even while nothing else is.
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

export interface TransportOwner {
  arrived(data: Buffer, isBinary: boolean): void;
  /** Whether anything more may be written; closes the connection when it may not. */
  hasRoom(): boolean;
  /** The transport is no more; reported once. */
  gone(): void;
}

export interface HubTransport {
  /** Written, and not read by the client yet. */
  readonly unreadBytes: number;
  readonly isWritable: boolean;
  /** The transport itself notices a client that is gone: there are no pings. */
  readonly hasOwnKeepAlive: boolean;
  readonly carriesBinary: boolean;
  attach(owner: TransportOwner): void;
  /** Writes whole WebSocket frames; transports of another kind send what is in them. */
  write(frames: Buffer): void;
  /** Ends in order, behind what was written. */
  close(code: number): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  /** Time-outs; called about once a second. */
  tick(nowMs: number): void;
}
