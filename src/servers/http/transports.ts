import type { ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { opcode } from '../../wire/socket/frame';
import { framePayload, serverFrame } from '../hubProtocol/serverProtocol';
import { receiveSafely, refuse, reply } from './loopbackServer';
import type { Refusal } from './ownRequests';

export interface TransportOwner {
  onData(data: Buffer, isBinary: boolean): void;
  onFault(reason: string): void;
  /** Closes the connection when too much is unread. */
  hasRoom(): boolean;
  onClosed(): void;
}

export interface HubTransport {
  /** Written, but not yet read by the client. */
  readonly unreadBytes: number;
  readonly isWritable: boolean;
  /** The transport notices lost clients itself: no pings. */
  readonly hasOwnKeepAlive: boolean;
  readonly carriesBinary: boolean;
  /** An intermediary accepts nothing more for now. */
  readonly isBlocked?: boolean;
  attach(owner: TransportOwner): void;
  /** Takes a whole WebSocket frame; HTTP transports send its payload. */
  write(frame: Buffer): void;
  close(code: number): void;
  terminate(): void;
  pause(): void;
  resume(): void;
  tick?(nowMs: number): void;
}

export const slowClientReason = (maxBytes: number): string =>
  `Closed: more than ${maxBytes} bytes were waiting for this client to read them.`;

interface SocketOwner extends TransportOwner {
  /** @param code 1006 without a close frame */
  onClosed(code?: number): void;
  onSignOfLife?(): void;
}

/** A close frame has 123 bytes for the reason (RFC 6455, 5.5.1); UTF-8 takes up to 3 bytes per UTF-16 unit. */
const maxReasonCharacters = 40;
const pingFrame = serverFrame(opcode.ping, Buffer.alloc(0));

export class WebSocketTransport implements HubTransport {
  readonly hasOwnKeepAlive = false;
  readonly carriesBinary = true;

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
    socket.on('message', (data: Buffer, isBinary: boolean) => receiveSafely(owner, data, isBinary));
    // Answered here, so that endless pings reach the limit on unread bytes.
    socket.on('ping', (data: Buffer) => {
      owner.onSignOfLife?.();
      if (owner.hasRoom()) socket.pong(data, false);
    });
    socket.on('pong', () => owner.onSignOfLife?.());
    socket.on('error', () => undefined);
    socket.on('close', (code) => owner.onClosed(code));
  }

  onDrain(listener: () => void): void {
    this.raw.on('drain', listener);
  }

  write(frame: Buffer): void {
    if (this.raw.writable) this.raw.write(frame);
  }

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
    // The client's close frame has to be read even while paused.
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
}

export const noConnection: Refusal = { status: 404, text: 'No Connection with that ID' };
const maxWaitingPosts = 16;
const closeTimeoutMs = 5000;
const maxCorkedBytes = 64 * 1024;

interface Post {
  readonly body: Buffer;
  readonly response: ServerResponse;
}

export abstract class HttpTransport implements HubTransport {
  abstract readonly unreadBytes: number;
  abstract readonly hasOwnKeepAlive: boolean;
  abstract readonly carriesBinary: boolean;
  protected owner: TransportOwner | undefined;
  protected isGone = false;
  private paused = false;
  private posts: Post[] = [];

  constructor(private readonly onGone: () => void) {}

  get isWritable(): boolean {
    return !this.isGone;
  }

  attach(owner: TransportOwner): void {
    this.owner = owner;
  }

  /** Takes a send; it is answered once the hub reads on. */
  post(body: Buffer, response: ServerResponse): void {
    if (!this.paused) this.accept({ body, response });
    else if (this.posts.length < maxWaitingPosts) this.posts.push({ body, response });
    else refuse(response, { status: 503, text: 'Too many sends of this connection are waiting.' });
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
    while (!this.isPaused) {
      const post = this.posts.shift();
      if (post === undefined) return;
      this.accept(post);
    }
  }

  abstract write(frame: Buffer): void;
  abstract close(): void;
  abstract terminate(): void;
  abstract tick(nowMs: number): void;

  protected end(): void {
    if (this.isGone) return;
    this.isGone = true;
    for (const { response } of this.posts.splice(0)) refuse(response, noConnection);
    this.onGone();
    this.owner?.onClosed();
  }

  private get isPaused(): boolean {
    return this.paused;
  }

  private accept({ body, response }: Post): void {
    if (this.isGone) {
      refuse(response, noConnection);
      return;
    }
    if (this.owner !== undefined) receiveSafely(this.owner, body, true);
    reply(response, 200, '', { 'Content-Type': 'text/plain' });
  }
}

export class EventStreamTransport extends HttpTransport {
  readonly hasOwnKeepAlive = false;
  readonly carriesBinary = false;
  private closedMs: number | undefined;

  constructor(
    private readonly response: ServerResponse,
    onGone: () => void,
  ) {
    super(onGone);
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache,no-store',
      Pragma: 'no-cache',
      'Content-Encoding': 'identity',
    });
    // A comment, so that headers reach the client before the first event.
    response.write(':\r\n');
    response.on('error', () => undefined);
    response.on('close', () => this.end());
  }

  get unreadBytes(): number {
    return this.response.writableLength;
  }

  write(frame: Buffer): void {
    // Line ends in JSON are white space; the client joins `data:` lines with LF.
    const lines = framePayload(frame)
      .toString('utf8')
      .split(/\r\n|\n|\r/);
    this.response.write(`${lines.map((line) => `data: ${line}\r\n`).join('')}\r\n`);
    // Node sends the writes of one turn at its end; until then they would count as unread.
    if (this.unreadBytes > maxCorkedBytes) this.response.socket?.uncork();
  }

  close(): void {
    this.closedMs = performance.now();
    this.response.end();
  }

  terminate(): void {
    this.response.destroy();
  }

  tick(nowMs: number): void {
    if (this.closedMs !== undefined && nowMs - this.closedMs > closeTimeoutMs) this.terminate();
  }
}

export interface PollLimits {
  readonly pollTimeoutMs: number;
  readonly disconnectTimeoutMs: number;
}

export class PollTransport extends HttpTransport {
  readonly hasOwnKeepAlive = true;
  readonly carriesBinary = true;
  private waiting: ServerResponse | undefined;
  private unread: Buffer[] = [];
  private unreadLength = 0;
  private isBinary = false;
  private activated = false;
  private isClosed = false;
  private sinceMs = performance.now();

  constructor(
    private readonly limits: PollLimits,
    onGone: () => void,
  ) {
    super(onGone);
  }

  get unreadBytes(): number {
    return this.unreadLength;
  }

  poll(response: ServerResponse): void {
    this.waiting?.writeHead(204).end();
    this.waiting = response;
    this.sinceMs = performance.now();
    response.on('error', () => undefined);
    response.on('close', () => {
      if (this.waiting === response) this.endPoll();
    });
    if (!this.activated) {
      this.activated = true;
      this.flush();
    } else if (this.unreadLength > 0) {
      this.flush();
    } else if (this.isClosed) {
      this.finish();
    }
  }

  write(frame: Buffer): void {
    if (this.isGone) return;
    this.isBinary = (frame[0]! & 0x0f) === opcode.binary;
    const payload = framePayload(frame);
    this.unread.push(payload);
    this.unreadLength += payload.length;
    if (this.waiting !== undefined) this.flush();
  }

  close(): void {
    this.isClosed = true;
    if (this.waiting !== undefined) this.finish();
  }

  terminate(): void {
    this.waiting?.destroy();
    this.endPoll();
    this.end();
  }

  tick(nowMs: number): void {
    const waitedMs = nowMs - this.sinceMs;
    if (this.waiting !== undefined) {
      if (waitedMs >= this.limits.pollTimeoutMs) this.flush();
    } else if (waitedMs >= this.limits.disconnectTimeoutMs) {
      this.terminate();
    }
  }

  finish(): void {
    this.waiting?.writeHead(204).end();
    this.endPoll();
    this.end();
  }

  private flush(): void {
    const { waiting, unread, unreadLength, isBinary } = this;
    this.unread = [];
    this.unreadLength = 0;
    this.endPoll();
    waiting?.writeHead(200, {
      'Content-Type': isBinary || unreadLength === 0 ? 'application/octet-stream' : 'text/plain',
      'Content-Length': unreadLength,
    });
    waiting?.end(Buffer.concat(unread, unreadLength));
  }

  private endPoll(): void {
    this.waiting = undefined;
    this.sinceMs = performance.now();
  }
}
