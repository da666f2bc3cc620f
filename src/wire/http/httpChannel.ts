import type * as net from 'node:net';
import { ConnectFailure, failureOfSocket } from '../connect/connectFailure';
import type { ConnectStopwatch } from '../connect/connectStopwatch';
import { shownUrl, type Endpoint } from '../connect/endpoint';
import {
  HttpAnswerError,
  HttpAnswerReader,
  type AnswerHead,
  type AnswerListener,
} from './httpAnswer';
import { connectSocket, type SocketOwner } from '../socket/socket';

/** Who gets the answers. Buffers are valid only during the call. */
export interface ChannelOwner {
  answerBegan?(head: AnswerHead): void;
  answerBody(buffer: Buffer, start: number, end: number): void;
  answerEnded(head: AnswerHead): void;
  /** The request that was on its way got no whole answer. */
  requestFailed(failure: ConnectFailure): void;
}

/**
 * One request at a time over a socket that is kept open in between. A socket the server has closed
 * while it was idle is replaced: a request that met such a socket, and of whose answer nothing has come, is
 * sent once more, as browsers do (RFC 9112, 9.3.1).
 */
export class HttpChannel implements SocketOwner, AnswerListener {
  private socket: net.Socket | undefined;
  private reader = new HttpAnswerReader();
  /** Waiting for an answer; kept for a second try until the answer begins. */
  private request: Buffer | undefined;
  private busy = false;
  /** The socket has carried a request before this one. */
  private reused = false;
  private error: Error | undefined;
  private disposed = false;

  /** @param timeoutMs longest silence, then the request has failed; 0 for no limit */
  constructor(
    private readonly url: URL,
    private readonly endpoint: Endpoint,
    private readonly owner: ChannelOwner,
    private readonly timeoutMs: number,
  ) {}

  get isBusy(): boolean {
    return this.busy;
  }

  get stopped(): boolean {
    return this.disposed;
  }

  /**
   * Sends a request, whole with its head; the channel must not be busy.
   *
   * @param stopwatch is told the phases of the socket, if a new one is opened
   */
  send(request: Buffer, stopwatch?: ConnectStopwatch): void {
    if (this.disposed) return;
    if (this.busy) throw new Error('an HTTP channel carries one request at a time');
    this.busy = true;
    this.request = request;
    if (this.socket === undefined) {
      this.connect(stopwatch);
      return;
    }
    this.reused = true;
    // The end of a socket that is about to be gone opens another one.
    if (!this.socket.destroyed) this.socket.write(request);
  }

  destroy(): void {
    this.disposed = true;
    this.busy = false;
    this.request = undefined;
    this.socket?.destroy();
  }

  onBytes(buffer: Buffer, length: number): void {
    if (!this.busy) {
      // Some servers say why they end an idle connection.
      this.socket?.destroy();
      return;
    }
    try {
      this.reader.read(buffer, 0, length, this);
    } catch (error) {
      if (error instanceof HttpAnswerError)
        this.fail(new ConnectFailure('protocol', error.message));
      else throw error;
    }
  }

  onHead(head: AnswerHead): void {
    this.request = undefined;
    this.owner.answerBegan?.(head);
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    this.owner.answerBody(buffer, start, end);
  }

  onEnd(head: AnswerHead): void {
    this.busy = false;
    if (!head.keepAlive) this.socket?.destroy();
    this.owner.answerEnded(head);
  }

  onSocketError(error: Error): void {
    // The end of the socket follows.
    this.error = error;
  }

  onSocketClose(): void {
    const { error, reused } = this;
    this.socket = undefined;
    this.error = undefined;
    if (this.disposed || this.reader.closed(this)) return;
    const untouched = this.request !== undefined && !this.reader.isInside;
    this.reader = new HttpAnswerReader();
    if (!this.busy) return;
    if (untouched && reused) this.connect();
    else if (error === undefined) this.fail(new ConnectFailure('closed', endedText(untouched)));
    else this.fail(failureOfSocket(error));
  }

  private connect(stopwatch?: ConnectStopwatch): void {
    this.reused = false;
    const connected = (): void => {
      if (this.request !== undefined) socket.write(this.request);
    };
    const socket = connectSocket(this.url, this.endpoint, this, connected, stopwatch);
    this.socket = socket;
    if (this.timeoutMs > 0) socket.setTimeout(this.timeoutMs, () => this.silent());
  }

  private silent(): void {
    if (!this.busy) this.socket?.destroy();
    else this.fail(new ConnectFailure('timeout', `no answer from ${shownUrl(this.url.href)}`));
  }

  private fail(failure: ConnectFailure): void {
    if (this.disposed) return;
    this.destroy();
    this.owner.requestFailed(failure);
  }
}

function endedText(untouched: boolean): string {
  return untouched
    ? 'the server ended the connection without an answer'
    : 'the server ended the connection in the middle of an answer';
}
