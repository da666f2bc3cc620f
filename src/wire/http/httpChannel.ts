import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Endpoint } from '../../base/endpoint';
import { classOfSystemError, ConnectFailure, textOfSystemError, shownUrl } from '../connectFailure';
import type { Negotiated } from '../socket/upgrade';
import type { HubCodec } from '../message/hubCodec';
import { opcode } from '../socket/frame';
import type { ConnectStopwatch } from '../socket/socket';
import { SocketAgents } from '../socket/socketAgents';
import { admissionHeaders } from '../socket/upgrade';

/** A request to the hub of a channel. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With its query. */
  readonly path: string;
  /** Names and values in turn, all of them. */
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

/** Who gets the answers. */
export interface ChannelOwner {
  answerBegan?(head: IncomingMessage): void;
  answerBody(bytes: Buffer): void;
  answerEnded(head: IncomingMessage): void;
  /** The request that was on its way got no whole answer. */
  requestFailed(failure: ConnectFailure): void;
}

/**
 * One request at a time over a socket that is kept open. A request that met a socket closed while idle, and of whose
 * answer nothing has come, is sent once more, as browsers do (RFC 9112, 9.3.1).
 */
export class HttpChannel {
  private readonly agents: SocketAgents;
  private request: ClientRequest | undefined;
  /** The socket that has carried the last request. */
  private socket: Socket | undefined;
  private disposed = false;

  /** @param timeoutMs longest silence, then the request has failed; 0 for no limit */
  constructor(
    private readonly url: URL,
    endpoint: Endpoint,
    private readonly owner: ChannelOwner,
    private readonly timeoutMs: number,
  ) {
    this.agents = new SocketAgents(endpoint, 1);
  }

  get isBusy(): boolean {
    return this.request !== undefined;
  }

  /** Sends a request; the channel must not be busy. */
  send(request: HttpRequest, stopwatch?: ConnectStopwatch): void {
    if (this.disposed) return;
    if (this.isBusy) throw new Error('an HTTP channel carries one request at a time');
    this.begin(request, stopwatch);
  }

  destroy(): void {
    const { request } = this;
    this.disposed = true;
    this.request = undefined;
    request?.destroy();
    this.agents.destroy();
  }

  private begin(asked: HttpRequest, stopwatch?: ConnectStopwatch): void {
    const { url, agents, timeoutMs, owner } = this;
    const { body, ...options } = asked;
    const request = agents.request(url, { ...options, stopwatch });
    let reused = false;
    let head: IncomingMessage | undefined;
    this.request = request;
    request.once('socket', (socket: Socket) => {
      reused = socket === this.socket;
      this.socket = socket;
    });
    request.once('response', (response) => {
      head = response;
      response.on('data', (bytes: Buffer) => {
        if (this.request === request) owner.answerBody(bytes);
      });
      response.once('end', () => {
        if (this.request !== request) return;
        this.request = undefined;
        owner.answerEnded(response);
      });
      response.once('error', (error) => this.broken(request, error, true));
      if (this.request === request) owner.answerBegan?.(response);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isGone = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      if (this.request === request && reused && isGone && head === undefined) this.begin(asked);
      else this.broken(request, error, head !== undefined);
    });
    if (timeoutMs > 0) request.setTimeout(timeoutMs, () => this.silent(request));
    request.end(body);
  }

  private silent(request: ClientRequest): void {
    if (this.request === request)
      this.fail(new ConnectFailure('timeout', `no answer from ${shownUrl(this.url.href)}`));
  }

  private broken(request: ClientRequest, error: Error, hasBegun: boolean): void {
    if (this.request !== request) return;
    if (error instanceof ConnectFailure) this.fail(error);
    else if (error.message === 'socket hang up' || error.message === 'aborted')
      this.fail(new ConnectFailure('closed', endedText(hasBegun)));
    else this.fail(new ConnectFailure(classOfSystemError(error), textOfSystemError(error)));
  }

  private fail(failure: ConnectFailure): void {
    this.destroy();
    this.owner.requestFailed(failure);
  }
}

function endedText(hasBegun: boolean): string {
  return hasBegun
    ? 'the server ended the connection in the middle of an answer'
    : 'the server ended the connection without an answer';
}

/** Builds the requests of one connection over an HTTP transport. */
export class HttpRequests {
  private shared: readonly string[] = [];
  private readonly contentType: string;
  private cookieVersion = -1;
  private renewal: Promise<boolean> | undefined;

  constructor(
    private admission: Negotiated,
    codec: HubCodec,
  ) {
    const isText = codec.opcode === opcode.text;
    this.contentType = isText ? 'text/plain;charset=UTF-8' : 'application/octet-stream';
  }

  /** Where the requests go, and what lets them in. */
  get where(): Negotiated {
    return this.admission;
  }

  /**
   * Fetches a new token, once for all requests that were refused with the same one; false when there is none.
   */
  renewToken(refused: string | undefined): Promise<boolean> {
    const { renew, accessToken: present } = this.admission;
    if (present !== refused) return Promise.resolve(true);
    if (renew === undefined) return Promise.resolve(false);
    this.renewal ??= renew()
      .then(
        (accessToken) => {
          if (accessToken === undefined) return false;
          const admission = { ...this.admission, accessToken };
          // Whether it can be sent at all.
          admissionHeaders(admission);
          this.admission = admission;
          this.cookieVersion = -1;
          return true;
        },
        // What counts is that the old one was refused.
        () => false,
      )
      .finally(() => (this.renewal = undefined));
    return this.renewal;
  }

  /** The request whose answer is the stream of events. */
  stream(): HttpRequest {
    const headers = [...this.headers(), 'Accept', 'text/event-stream', 'Cache-Control', 'no-cache'];
    return { method: 'GET', path: this.path, headers };
  }

  /** A poll; the time in its query keeps caches on the way from answering it, as in the official clients. */
  poll(unixMs: number): HttpRequest {
    return { method: 'GET', path: `${this.path}&_=${unixMs}`, headers: this.headers() };
  }

  /** A send of hub messages. */
  post(body: Buffer): HttpRequest {
    const headers = [...this.headers(), 'Content-Type', this.contentType];
    headers.push('Content-Length', String(body.length));
    return { method: 'POST', path: this.path, headers, body };
  }

  /** The end of a long-polling connection. */
  remove(): HttpRequest {
    return { method: 'DELETE', path: this.path, headers: this.headers() };
  }

  private get path(): string {
    return this.where.url.pathname + this.where.url.search;
  }

  /** What all requests share, again when a server has set a cookie. */
  private headers(): readonly string[] {
    const { where } = this;
    const version = where.cookies?.version ?? 0;
    if (version !== this.cookieVersion) {
      this.cookieVersion = version;
      const own = ['Host', where.url.host, 'X-Requested-With', 'XMLHttpRequest'];
      this.shared = [...own, ...admissionHeaders(where)];
    }
    return this.shared;
  }
}
