import { inBackground } from '../../base/async';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Endpoint } from '../../base/endpoint';
import {
  ConnectFailure,
  failureFromSocketError,
  shownUrl,
  failureFromResponse,
} from '../connectFailure';
import type { HubCodec } from '../message/hubCodec';
import { opcode } from '../socket/frame';
import { type ConnectStopwatch, wasIdleSocketClosed, SocketAgents } from '../socket/socket';
import { admissionHeaders, type Negotiated } from '../socket/upgrade';
import { HeldBytes, type IncompleteBytesBudget, PendingBytes } from '../socket/frameReader';

interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: readonly string[];
  readonly body?: Buffer;
}

export interface ChannelOwner {
  answerBegan?(head: IncomingMessage): void;
  answerBody(bytes: Buffer): void;
  answerEnded(head: IncomingMessage): void;
  requestFailed(failure: ConnectFailure): void;
}

/** As in the official clients; a poll ends after 90 s by itself. */
const requestTimeoutMs = 100_000;

export class HttpChannel {
  private readonly agents: SocketAgents;
  private request: ClientRequest | undefined;
  private disposed = false;

  /** @param timeoutMs longest silence; 0 for no limit */
  constructor(
    private readonly requests: HttpRequests,
    endpoint: Endpoint,
    private readonly owner: ChannelOwner,
    private readonly timeoutMs = requestTimeoutMs,
  ) {
    this.agents = new SocketAgents(endpoint, 1);
  }

  get isBusy(): boolean {
    return this.request !== undefined;
  }

  /** The channel must not be busy. @param renews whether to repeat it after a 401 with a new token */
  send(make: () => HttpRequest, renews = false, stopwatch?: ConnectStopwatch): void {
    if (this.disposed) return;
    if (this.isBusy) throw new Error('an HTTP channel carries one request at a time');
    this.begin(make, renews, stopwatch);
  }

  destroy(): void {
    const { request } = this;
    this.disposed = true;
    this.request = undefined;
    request?.destroy();
    this.agents.destroy();
  }

  private begin(make: () => HttpRequest, renews: boolean, stopwatch?: ConnectStopwatch): void {
    const { agents, timeoutMs, owner } = this;
    const { url, cookies, accessToken } = this.requests.where;
    const { body, ...options } = make();
    const request = agents.request(url, { ...options, stopwatch });
    let head: IncomingMessage | undefined;
    this.request = request;
    request.once('response', (response) => {
      head = response;
      cookies?.take(response.headers['set-cookie'] ?? [], url);
      const hasExpired = renews && response.statusCode === 401;
      response.on('data', (bytes: Buffer) => {
        if (this.request === request && !hasExpired) owner.answerBody(bytes);
      });
      response.once('end', () => {
        if (this.request !== request) return;
        if (hasExpired) inBackground(this.renew(request, response, make, accessToken));
        else this.ended(response);
      });
      response.once('error', (error) => this.broken(request, error));
      if (this.request === request) owner.answerBegan?.(response);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isInVain =
        head === undefined && wasIdleSocketClosed(request, error, body !== undefined);
      if (this.request === request && isInVain) this.begin(make, renews);
      else this.broken(request, error);
    });
    if (timeoutMs > 0)
      request.setTimeout(timeoutMs, () => {
        const failure = new ConnectFailure('timeout', `no answer from ${shownUrl(url.href)}`);
        if (this.request === request) this.fail(failure);
      });
    request.end(body);
  }

  private async renew(
    request: ClientRequest,
    head: IncomingMessage,
    make: () => HttpRequest,
    refused: string | undefined,
  ): Promise<void> {
    const renewed = await this.requests.renewToken(refused);
    if (this.request !== request) return;
    if (renewed) this.begin(make, false);
    else this.ended(head);
  }

  private ended(head: IncomingMessage): void {
    this.request = undefined;
    this.owner.answerEnded(head);
  }

  private broken(request: ClientRequest, error: Error): void {
    if (this.request !== request) return;
    if (error.message === 'socket hang up')
      this.fail(new ConnectFailure('closed', 'the server ended the connection without an answer'));
    else this.fail(failureFromSocketError(error));
  }

  private fail(failure: ConnectFailure): void {
    this.destroy();
    this.owner.requestFailed(failure);
  }
}

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

  get where(): Negotiated {
    return this.admission;
  }

  /** Fetches a new token, once for all requests that were refused with the same one; false when there is none. */
  renewToken(refused: string | undefined): Promise<boolean> {
    const { renew, accessToken: present } = this.admission;
    if (present !== refused) return Promise.resolve(true);
    if (renew === undefined) return Promise.resolve(false);
    this.renewal ??= renew()
      .then(({ accessToken, renewAtMs }) => {
        if (accessToken === undefined) return false;
        const admission = { ...this.admission, accessToken, renewAtMs };
        admissionHeaders(admission);
        this.admission = admission;
        this.cookieVersion = -1;
        return true;
      })
      .catch(() => false)
      .finally(() => (this.renewal = undefined));
    return this.renewal;
  }

  stream(): HttpRequest {
    const headers = [...this.headers(), 'Accept', 'text/event-stream', 'Cache-Control', 'no-cache'];
    return { method: 'GET', path: this.path, headers };
  }

  /** The time in the query keeps caches from answering, as in the official clients. */
  poll(): HttpRequest {
    return { method: 'GET', path: `${this.path}&_=${Date.now()}`, headers: this.headers() };
  }

  post(body: Buffer): HttpRequest {
    const headers = [...this.headers(), 'Content-Type', this.contentType];
    headers.push('Content-Length', String(body.length));
    return { method: 'POST', path: this.path, headers, body };
  }

  next(waiting: Buffer[]): Buffer {
    return Buffer.concat(waiting.splice(0));
  }

  remove(): HttpRequest {
    return { method: 'DELETE', path: this.path, headers: this.headers() };
  }

  private get path(): string {
    return this.where.url.pathname + this.where.url.search;
  }

  protected headers(): readonly string[] {
    const { where } = this;
    const { renewAtMs = Infinity } = where;
    // This request still uses the old token, which is valid for a while.
    if (Date.now() >= renewAtMs) inBackground(this.renewToken(where.accessToken));
    const version = where.cookies?.version ?? 0;
    if (version !== this.cookieVersion) {
      this.cookieVersion = version;
      const own = ['Host', where.url.host, 'X-Requested-With', 'XMLHttpRequest'];
      this.shared = [...own, ...admissionHeaders(where)];
    }
    return this.shared;
  }
}

export interface OutboxOwner {
  readonly unfinished: IncompleteBytesBudget | undefined;
  /** The response to a POST; absent: only its status matters. */
  onAnswer?(answer: Buffer): void;
  onSendFailed(failure: ConnectFailure): void;
}

/** Sends one POST at a time, so that order is kept; messages that come meanwhile wait for the next. */
export class Outbox implements ChannelOwner {
  private readonly channel: HttpChannel;
  private readonly waiting: Buffer[] = [];
  private waitingBytes = 0;
  private readonly answer: PendingBytes;
  private state: 'open' | 'ending' | 'removing' = 'open';

  /** @param maximumBytes of a response that the owner gets */
  constructor(
    private readonly requests: HttpRequests,
    endpoint: Endpoint,
    private readonly owner: OutboxOwner,
    maximumBytes = 0,
  ) {
    this.channel = new HttpChannel(requests, endpoint, this);
    const giveUp = (failure: ConnectFailure): void => {
      this.destroy();
      owner.onSendFailed(failure);
    };
    const what = 'the answer to a call';
    this.answer = new PendingBytes(new HeldBytes(owner.unfinished, giveUp, what, maximumBytes));
  }

  /** Sends a copy, now or later. @returns bytes that wait */
  send(message: Buffer): number {
    const copy = Buffer.from(message);
    if (this.channel.isBusy) {
      this.waiting.push(copy);
      this.waitingBytes += copy.length;
    } else {
      this.post(copy);
    }
    return this.waitingBytes;
  }

  end(): void {
    this.state = 'ending';
    this.waiting.length = 0;
    if (!this.channel.isBusy) this.remove();
  }

  destroy(): void {
    this.waiting.length = 0;
    this.answer.take();
    this.channel.destroy();
  }

  answerBody(bytes: Buffer): void {
    if (this.owner.onAnswer !== undefined) this.answer.append(bytes);
  }

  answerEnded(head: IncomingMessage): void {
    const { statusCode: status = 0 } = head;
    const whole = this.answer.take();
    if (this.state !== 'open') {
      if (this.state === 'ending') this.remove();
      else this.destroy();
      return;
    }
    if (status < 200 || status > 299) {
      this.destroy();
      this.owner.onSendFailed(failureFromResponse('send', head, this.requests.where.url));
      return;
    }
    // The next POST leaves before the response is handled.
    if (this.waiting.length > 0) {
      const next = this.requests.next(this.waiting);
      this.waitingBytes -= next.length;
      this.post(next);
    }
    if (whole.length > 0) this.owner.onAnswer?.(whole);
  }

  requestFailed(failure: ConnectFailure): void {
    if (this.state === 'open')
      this.owner.onSendFailed(new ConnectFailure(failure.errorClass, `send: ${failure.message}`));
  }

  private post(body: Buffer): void {
    this.channel.send(() => this.requests.post(body), true);
  }

  private remove(): void {
    this.state = 'removing';
    this.channel.send(() => this.requests.remove());
  }
}
