import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { opcode } from '../../wire/frame';
import { serverFrame } from '../serverFrame';

/** What a socket tells the client it belongs to. */
export interface SocketOwner {
  arrived(socket: ClientSocket, data: Buffer, isBinary: boolean): void;
  /** Anything at all has come. */
  seen(): void;
  /** The socket is no more; told once. @param code of the close frame, 1006 without one */
  gone(socket: ClientSocket, code: number): void;
}

/** A client that leaves more than this unread is closed. */
export const maxUnreadBytes = 1024 * 1024;
/** With more than this unread, what can wait does. */
const flowingBytes = 256 * 1024;
/** Bytes of the reason in a close frame (RFC 6455, 5.5.1), in characters of any width. */
const maxReasonCharacters = 40;

const pingFrame = serverFrame(opcode.ping, Buffer.alloc(0));

/** An accepted WebSocket, to which encoded frames are written directly. */
export class ClientSocket {
  /** @param raw the stream under `socket` */
  constructor(
    private readonly socket: WebSocket,
    private readonly raw: Duplex,
  ) {}

  attach(owner: SocketOwner): void {
    const { socket } = this;
    socket.on('message', (data: Buffer, isBinary: boolean) => owner.arrived(this, data, isBinary));
    // Answered here instead of by `ws`, so that pings without end meet the bound on unread bytes too.
    socket.on('ping', (data: Buffer) => {
      owner.seen();
      if (this.unreadBytes <= maxUnreadBytes) socket.pong(data, false);
      else socket.terminate();
    });
    socket.on('pong', () => owner.seen());
    // A broken frame or a lost socket: `ws` closes by itself, `close` follows.
    socket.on('error', () => undefined);
    socket.on('close', (code) => owner.gone(this, code));
  }

  /** Written, and not read by the client yet. */
  get unreadBytes(): number {
    return this.raw.writableLength;
  }

  /** False while what can wait should. */
  get isFlowing(): boolean {
    return this.raw.writable && this.unreadBytes <= flowingBytes;
  }

  /** Told when all was read that had to wait. */
  onDrain(listener: () => void): void {
    this.raw.on('drain', listener);
  }

  write(frame: Buffer): void {
    if (this.raw.writable) this.raw.write(frame);
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

  /** Ends in order, behind what was written. */
  close(code: number, reason: string): void {
    this.socket.close(code, reason.slice(0, maxReasonCharacters));
    // The answering close frame has to be read.
    this.socket.resume();
  }

  /** Ends at once, without a word. */
  terminate(): void {
    this.socket.terminate();
  }

  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }
}
