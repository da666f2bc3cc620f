import type { HttpTransport } from '../base/endpoint';
import type { ErrorClass } from '../base/errorClass';
import { classOfClosing, ConnectFailure, shownText } from './connectFailure';
import type { ConnectStopwatch } from './connectStopwatch';
import { shownUrl, type Endpoint } from './endpoint';
import {
  handshakeEnd,
  type HubConnection,
  type HubConnectionOptions,
  type HubListener,
} from './hubConnection';
import { jsonCodec, type HubCodec } from './hubCodec';
import { HubMessageError } from './hubMessage';
import { EventStreamInput, PollInput, type HttpInput, type InputOwner } from './httpInput';
import { HttpOutbox } from './httpOutbox';
import { HttpRequests } from './httpRequests';
import type { Negotiated } from './negotiate';

/** What a server may put into one event or one answer: ASP.NET Core stops at 64 KB and the message beyond. */
const maximumBatchBytes = 16 * 1024 * 1024;
/** After a failed send the input may still be bringing the reason. */
const reasonWaitMs = 1000;
const closeTimeoutMs = 2000;

/**
 * One client connection over server-sent events or long polling: messages come in over one socket, and
 * leave as POSTs over another.
 */
export class HttpConnection implements HubConnection, InputOwner {
  lastReceivedUs = 0;
  closeReason: string | undefined;
  readonly codec: HubCodec;
  private state: 'connecting' | 'handshaking' | 'open' | 'closed' = 'connecting';
  private settle: ((failure: ConnectFailure | undefined) => void) | undefined;
  /** Until the connection is open. */
  private stopwatch: ConnectStopwatch | undefined;
  readonly connectionId: string | undefined;
  private readonly input: HttpInput;
  private readonly outbox: HttpOutbox;
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    readonly index: number,
    private readonly transport: HttpTransport,
    where: Negotiated,
    endpoint: Endpoint,
    private readonly listener: HubListener,
    private readonly options: HubConnectionOptions,
  ) {
    this.codec = options.codec ?? jsonCodec;
    this.connectionId = where.connectionId;
    const requests = new HttpRequests(where, this.codec);
    const Input = transport === 'LongPolling' ? PollInput : EventStreamInput;
    const maximumBytes = Math.max(maximumBatchBytes, options.maximumMessageBytes);
    this.input = new Input(requests, endpoint, this, maximumBytes);
    this.outbox = new HttpOutbox(requests, endpoint, (failure) => this.sendFailed(failure));
  }

  /**
   * Opens the input, then shakes hands.
   *
   * @param stopwatch is told the end of each phase; `upgrade` ends when the server knows the connection
   *
   * @throws ConnectFailure with the class of what went wrong; `timeout` when the signal aborts
   */
  static open(
    index: number,
    where: Negotiated,
    endpoint: Endpoint,
    listener: HubListener,
    options: HubConnectionOptions,
    signal: AbortSignal,
    stopwatch?: ConnectStopwatch,
  ): Promise<HttpConnection> {
    const { transport } = endpoint;
    if (transport === undefined) throw new Error('an HTTP connection needs its transport');
    return new Promise((resolve, reject) => {
      const connection = new HttpConnection(index, transport, where, endpoint, listener, options);
      const onAbort = (): void => {
        const url = shownUrl(where.url.href);
        connection.drop('timeout', `no answer from ${url} in time, while ${connection.state}`);
      };
      connection.settle = (failure) => {
        signal.removeEventListener('abort', onAbort);
        if (failure === undefined) resolve(connection);
        else reject(failure);
      };
      connection.stopwatch = stopwatch;
      connection.input.open(stopwatch);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }

  get isOpen(): boolean {
    return this.state === 'open';
  }

  get stopped(): boolean {
    return this.state === 'closed';
  }

  /** Every poll that ends shows that the server is there; it sends no pings. */
  get hasOwnKeepAlive(): boolean {
    return this.transport === 'LongPolling';
  }

  send(message: Buffer): boolean {
    this.outbox.send(message);
    const { unsentBytes } = this.outbox;
    if (unsentBytes > this.options.maximumUnsentBytes)
      this.drop('blocked', `${unsentBytes} bytes were waiting for the server to read them`);
    return true;
  }

  sendMessage(message: Buffer): void {
    if (this.state === 'open') this.send(message);
  }

  close(): void {
    const wasOpen = this.state === 'open';
    if (!wasOpen || this.transport !== 'LongPolling') {
      this.destroy();
      return;
    }
    this.state = 'closed';
    clearTimeout(this.timer);
    this.input.destroy();
    this.outbox.end();
    // Nobody waits for it: the process may end before.
    this.timer = setTimeout(() => this.outbox.destroy(), closeTimeoutMs);
    this.timer.unref();
  }

  destroy(): void {
    this.state = 'closed';
    clearTimeout(this.timer);
    this.input.destroy();
    this.outbox.destroy();
  }

  drop(errorClass: ErrorClass, text: string): void {
    this.onFailure(new ConnectFailure(errorClass, text));
  }

  onReady(): void {
    this.state = 'handshaking';
    this.stopwatch?.done('upgrade');
    this.outbox.send(this.codec.handshake);
  }

  onMessages(buffer: Buffer, start: number, end: number, wireBytes: number): void {
    try {
      if (this.state === 'open') this.listener.received(this, buffer, start, end, wireBytes);
      else if (this.state === 'handshaking' && start < end)
        this.shakeHands(buffer, start, end, wireBytes);
    } catch (error) {
      if (error instanceof ConnectFailure) this.onFailure(error);
      else if (error instanceof HubMessageError) this.drop('protocol', error.message);
      else throw error;
    }
  }

  onServerEnd(): void {
    const text = shownText(this.closeReason ?? '');
    this.drop(
      classOfClosing(text),
      `the server ended the connection${text === '' ? '' : `: ${text}`}`,
    );
  }

  onFailure(failure: ConnectFailure): void {
    if (this.state === 'closed') return;
    const { settle } = this;
    this.settle = undefined;
    this.destroy();
    if (settle !== undefined) settle(failure);
    else this.listener.lost(this, failure.errorClass, failure.message);
  }

  private shakeHands(buffer: Buffer, start: number, end: number, wireBytes: number): void {
    const behind = handshakeEnd(buffer, start, end);
    const { settle } = this;
    this.state = 'open';
    this.stopwatch?.done('handshake');
    this.stopwatch = undefined;
    this.settle = undefined;
    settle?.(undefined);
    // The server may put hub messages right behind its answer.
    if (behind < end) this.listener.received(this, buffer, behind, end, wireBytes);
  }

  private sendFailed(failure: ConnectFailure): void {
    if (this.state !== 'open') {
      this.onFailure(failure);
      return;
    }
    this.timer ??= setTimeout(() => this.onFailure(failure), reasonWaitMs);
  }
}
