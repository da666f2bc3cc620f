import type { ServerResponse, IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { opcode } from '../../wire/socket/frame';
import { payloadsIn } from '../hubProtocol/serverFrame';
import { readBody, refuse } from './loopbackServer';
import { noConnection, takenId, type ConnectionTokens } from './negotiate';
import type { HubTransport, TransportOwner } from './webSocketTransport';

const maxWaitingPosts = 16;
/** Time a client gets to read what is left once its connection is closing. */
const closeTimeoutMs = 5000;
/** Above this, what was written within one turn does not wait for its end. */
const maxCorkedBytes = 64 * 1024;

interface Post {
  readonly body: Buffer;
  readonly response: ServerResponse;
}

/** A transport of plain HTTP requests: what both kinds have in common are the sends. */
export abstract class HttpTransport implements HubTransport {
  abstract readonly unreadBytes: number;
  abstract readonly hasOwnKeepAlive: boolean;
  abstract readonly carriesBinary: boolean;
  protected owner: TransportOwner | undefined;
  protected isGone = false;
  private paused = false;
  private posts: Post[] = [];

  /** @param onGone called once, when the id is free again */
  constructor(private readonly onGone: () => void) {}

  get isWritable(): boolean {
    return !this.isGone;
  }

  attach(owner: TransportOwner): void {
    this.owner = owner;
  }

  /** Takes a send; its answer waits while the hub does not read. */
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

  abstract write(frames: Buffer): void;
  abstract close(): void;
  abstract terminate(): void;
  abstract tick(nowMs: number): void;

  protected end(): void {
    if (this.isGone) return;
    this.isGone = true;
    for (const { response } of this.posts.splice(0)) refuse(response, noConnection);
    this.onGone();
    this.owner?.gone();
  }

  /** Reading a send may pause the next one. */
  private get isPaused(): boolean {
    return this.paused;
  }

  private accept({ body, response }: Post): void {
    if (this.isGone) {
      refuse(response, noConnection);
      return;
    }
    this.owner?.arrived(body, true);
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 0 });
    response.end();
  }
}

/** Server-sent events: one answer without end. */
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
    // A comment, so that the client sees the answer before the first event.
    response.write(':\r\n');
    response.on('error', () => undefined);
    response.on('close', () => this.end());
  }

  get unreadBytes(): number {
    return this.response.writableLength;
  }

  write(frames: Buffer): void {
    for (const payload of payloadsIn(frames)) {
      // White space is all that line ends can be in JSON; the client puts LF between the lines.
      const lines = payload.toString('utf8').split(/\r\n|\n|\r/);
      this.response.write(`${lines.map((line) => `data: ${line}\r\n`).join('')}\r\n`);
    }
    // Node keeps the writes of one turn together and offers them to the system at its end; until then even a
    // client that reads everything would have them unread.
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
  /** A poll without messages is answered after this. */
  readonly pollTimeoutMs: number;
  /** A client that does not poll for so long is gone. */
  readonly disconnectTimeoutMs: number;
}

/** Long polling: each request is answered as soon as there is something. */
class PollTransport extends HttpTransport {
  readonly hasOwnKeepAlive = true;
  readonly carriesBinary = true;
  private waiting: ServerResponse | undefined;
  private unread: Buffer[] = [];
  private unreadLength = 0;
  private isBinary = false;
  private activated = false;
  private isClosed = false;
  /** Since when a poll has been waiting, or none has been there. */
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

  /** Takes a poll; one that is still waiting is over, for the newer one has come in its place. */
  poll(response: ServerResponse): void {
    this.waiting?.writeHead(204).end();
    this.waiting = response;
    this.sinceMs = performance.now();
    response.on('error', () => undefined);
    response.on('close', () => {
      if (this.waiting === response) this.polled();
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

  write(frames: Buffer): void {
    if (this.isGone) return;
    this.isBinary = (frames[0]! & 0x0f) === opcode.binary;
    for (const payload of payloadsIn(frames)) {
      this.unread.push(payload);
      this.unreadLength += payload.length;
    }
    if (this.waiting !== undefined) this.flush();
  }

  close(): void {
    this.isClosed = true;
    // What is left, and then the end, go out with the next polls.
    if (this.waiting !== undefined) this.finish();
  }

  terminate(): void {
    this.waiting?.destroy();
    this.polled();
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

  /** Nothing is left to send, or the client has ended the connection. */
  finish(): void {
    this.waiting?.writeHead(204).end();
    this.polled();
    this.end();
  }

  private flush(): void {
    const { waiting, unread, unreadLength, isBinary } = this;
    this.unread = [];
    this.unreadLength = 0;
    this.polled();
    waiting?.writeHead(200, {
      'Content-Type': isBinary || unreadLength === 0 ? 'application/octet-stream' : 'text/plain',
      'Content-Length': unreadLength,
    });
    waiting?.end(Buffer.concat(unread, unreadLength));
  }

  private polled(): void {
    this.waiting = undefined;
    this.sinceMs = performance.now();
  }
}

export interface HttpClientsHost {
  readonly tokens: ConnectionTokens;
  readonly maxPostBytes: number;
  pollLimits(request: IncomingMessage): PollLimits;
  connected(connectionId: string, transport: HttpTransport, request: IncomingMessage): void;
}

const noId = { status: 400, text: 'Connection ID required' };
const otherTransport = { status: 400, text: 'Cannot change transports mid-connection' };

/** The clients of server-sent events and long polling, by their tokens, and their requests. */
export class HttpClients {
  private readonly transports = new Map<string, HttpTransport>();

  constructor(private readonly host: HttpClientsHost) {}

  answer(request: IncomingMessage, response: ServerResponse, token: string | null): void {
    const { method = '' } = request;
    if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') {
      const headers = { Allow: 'GET, POST, DELETE' };
      refuse(response, { status: 405, text: 'This method is not served here.', headers });
    } else if (token === null || token === '') {
      refuse(response, noId);
    } else if (method === 'GET') {
      this.get(request, response, token);
    } else {
      const transport = this.transports.get(token);
      if (transport === undefined) this.refuseOther(response, token, method);
      else if (method === 'POST') this.post(request, response, transport);
      else remove(response, transport);
    }
  }

  private get(request: IncomingMessage, response: ServerResponse, token: string): void {
    const { host, transports } = this;
    const wantsEvents = /\btext\/event-stream\b/i.test(request.headers.accept ?? '');
    const known = transports.get(token);
    if (known !== undefined) {
      if (wantsEvents !== known instanceof EventStreamTransport) refuse(response, otherTransport);
      else if (known instanceof PollTransport) known.poll(response);
      else refuse(response, takenId);
      return;
    }
    const taken = host.tokens.take(token);
    if (typeof taken !== 'string') {
      refuse(response, taken === takenId ? otherTransport : taken);
      return;
    }
    const onGone = (): void => {
      transports.delete(token);
      host.tokens.release(token);
    };
    const transport = wantsEvents
      ? new EventStreamTransport(response, onGone)
      : new PollTransport(host.pollLimits(request), onGone);
    transports.set(token, transport);
    host.connected(taken, transport, request);
    if (transport instanceof PollTransport) transport.poll(response);
  }

  private post(request: IncomingMessage, response: ServerResponse, transport: HttpTransport): void {
    const { maxPostBytes } = this.host;
    const tooLong = (): void => {
      const headers = { Connection: 'close' };
      refuse(response, { status: 413, text: `A send has at most ${maxPostBytes} bytes.`, headers });
    };
    const take = (body: Buffer): void => transport.post(body, response);
    readBody(request, response, maxPostBytes, take, tooLong);
  }

  /** A send or an end for an id without such a transport. */
  private refuseOther(response: ServerResponse, token: string, method: string): void {
    if (!this.host.tokens.isUsed(token)) refuse(response, noConnection);
    else if (method === 'DELETE') refuse(response, onlyPolling);
    else refuse(response, { status: 405, text: 'A WebSocket takes no POST requests.' });
  }
}

const onlyPolling = { status: 400, text: 'Only long polling ends by DELETE.' };

function remove(response: ServerResponse, transport: HttpTransport): void {
  if (!(transport instanceof PollTransport)) {
    refuse(response, onlyPolling);
    return;
  }
  transport.finish();
  response.writeHead(202, { 'Content-Length': 0 });
  response.end();
}
