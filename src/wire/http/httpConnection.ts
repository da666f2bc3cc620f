import type { HttpTransport } from '../../base/endpoint';
import { ClientConnection, type Opening } from '../hub/clientConnection';
import type { ConnectFailure } from '../connectFailure';
import { closeTimeoutMs, handshakeEnd } from '../hub/webSocketConnection';
import type { HubMessage } from '../message/hubMessage';
import { Outbox, type OutboxOwner, HttpRequests } from './httpChannel';
import { EventStreamInput, PollInput, type InputOwner } from './httpInput';
import type { Negotiated } from '../socket/upgrade';

/** For one event or response: ASP.NET Core stops at 64 KB and the message beyond. */
export const maximumBatchBytes = 16 * 1024 * 1024;
const reasonWaitMs = 1000;

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

  /** Every poll that ends shows that the server is alive; there are no pings. */
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
        // Hub messages may follow the handshake response.
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
