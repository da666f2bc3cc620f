/** Hub connections over server-sent events and long polling: one way in, one way out. */
import type { HttpTransport } from '../../base/endpoint';
import { ClientConnection, type Opening } from '../hub/clientConnection';
import type { ConnectFailure } from '../connectFailure';
import { closeTimeoutMs, handshakeEnd } from '../hub/webSocketConnection';
import type { HubMessage } from '../message/hubMessage';
import { HttpRequests } from './httpChannel';
import { EventStreamInput, PollInput, type InputOwner } from './httpInput';
import { Outbox, type OutboxOwner } from './outbox';
import type { Negotiated } from '../socket/upgrade';

/** What a server may put into one event or one answer: ASP.NET Core stops at 64 KB and the message beyond. */
export const maximumBatchBytes = 16 * 1024 * 1024;
/** After a failed send the input may still be bringing the reason. */
const reasonWaitMs = 1000;

/** A connection over server-sent events or long polling: what is sent leaves as POSTs over a second socket. */
export class HttpConnection extends ClientConnection implements InputOwner, OutboxOwner {
  readonly connectionId: string | undefined;
  private readonly input: EventStreamInput | PollInput;
  private readonly outbox: Outbox;
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly transport: HttpTransport,
    where: Negotiated,
    opening: Opening,
  ) {
    super(opening);
    const { endpoint, options } = opening;
    this.connectionId = where.connectionId;
    const requests = new HttpRequests(where, this.codec);
    const Input = transport === 'LongPolling' ? PollInput : EventStreamInput;
    const maximumBytes = Math.max(maximumBatchBytes, options.maximumMessageBytes);
    this.input = new Input(requests, endpoint, this, maximumBytes);
    this.outbox = new Outbox(requests, endpoint, this);
  }

  static open(where: Negotiated, opening: Opening): Promise<HttpConnection> {
    const { transport } = opening.endpoint;
    if (transport === undefined) throw new Error('an HTTP connection needs its transport');
    const connection = new HttpConnection(transport, where, opening);
    return connection.opens(where.url.href, opening, () =>
      connection.input.open(opening.stopwatch),
    );
  }

  /** Every poll that ends shows that the server is there; it sends no pings. */
  get hasOwnKeepAlive(): boolean {
    return this.transport === 'LongPolling';
  }

  send(message: Buffer): boolean {
    this.limitUnsent(this.outbox.send(message));
    return true;
  }

  sendMessage(message: HubMessage): number {
    if (this.state !== 'open') return 0;
    const bytes = this.codec.encode(message);
    this.send(bytes);
    return bytes.length;
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

  onReady(): void {
    this.state = 'handshaking';
    this.stopwatch?.done('upgrade');
    this.outbox.send(this.codec.handshake);
  }

  onMessages(buffer: Buffer, start: number, end: number, wireBytes: number): void {
    try {
      if (this.state === 'open') this.listener.received(this, buffer, start, end, wireBytes);
      else if (this.state === 'handshaking' && start < end) {
        const behind = handshakeEnd(buffer, start, end);
        this.becomeOpen();
        // The server may put hub messages right behind its answer.
        if (behind < end) this.listener.received(this, buffer, behind, end, wireBytes);
      }
    } catch (error) {
      this.unreadable(error);
    }
  }

  onServerEnd(): void {
    this.drop('closed', 'the server ended the connection');
  }

  onFailure(failure: ConnectFailure): void {
    this.fail(failure);
  }

  onSendFailed(failure: ConnectFailure): void {
    if (this.state !== 'open') {
      this.fail(failure);
      return;
    }
    this.timer ??= setTimeout(() => this.fail(failure), reasonWaitMs);
  }
}
