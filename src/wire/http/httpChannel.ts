import * as http from 'node:http';
import type { Socket } from 'node:net';
import { classOfSystemError, ConnectFailure, textOfSystemError } from '../connect/connectFailure';
import type { ConnectStopwatch } from '../connect/connectStopwatch';
import { shownUrl } from '../connect/shownUrl';
import type { Endpoint } from '../../base/endpoint';
import { unsendable } from '../connect/negotiate';
import { socketAgent } from '../socket/socketAgent';

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
  answerBegan?(head: http.IncomingMessage): void;
  answerBody(bytes: Buffer): void;
  answerEnded(head: http.IncomingMessage): void;
  /** The request that was on its way got no whole answer. */
  requestFailed(failure: ConnectFailure): void;
}

/**
 * One request at a time over a socket that is kept open in between. A socket the server has closed
 * while it was idle is replaced: a request that met such a socket, and of whose answer nothing has come, is
 * sent once more, as browsers do (RFC 9112, 9.3.1).
 */
export class HttpChannel {
  private readonly agent: http.Agent;
  private request: http.ClientRequest | undefined;
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
    this.agent = socketAgent(url.protocol, endpoint, { keepAlive: true, maxSockets: 1 });
  }

  get isBusy(): boolean {
    return this.request !== undefined;
  }

  /**
   * Sends a request; the channel must not be busy.
   *
   * @param stopwatch is told the phases of the socket, if a new one is opened
   */
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
    this.agent.destroy();
  }

  private begin(asked: HttpRequest, stopwatch?: ConnectStopwatch): void {
    const { url, agent, timeoutMs, owner } = this;
    const { method, path, headers, body } = asked;
    const options: http.RequestOptions & { stopwatch: ConnectStopwatch | undefined } = {
      ...{ agent, method, path, headers: headers, stopwatch },
      ...{ protocol: url.protocol, port: url.port },
      host: url.hostname.replace(/^\[|\]$/g, ''),
    };
    const request = requestOf(options);
    let reused = false;
    let head: http.IncomingMessage | undefined;
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

  private silent(request: http.ClientRequest): void {
    if (this.request === request)
      this.fail(new ConnectFailure('timeout', `no answer from ${shownUrl(this.url.href)}`));
  }

  private broken(request: http.ClientRequest, error: Error, hasBegun: boolean): void {
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

/** @throws ConnectFailure when a header cannot be sent */
function requestOf(options: http.RequestOptions): http.ClientRequest {
  try {
    return http.request(options);
  } catch (error) {
    throw unsendable(error);
  }
}

function endedText(hasBegun: boolean): string {
  return hasBegun
    ? 'the server ended the connection in the middle of an answer'
    : 'the server ended the connection without an answer';
}
