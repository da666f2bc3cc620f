import { inBackground } from '../../base/background';
import type { ErrorClass } from '../../base/errorClass';
import {
  ClientConnection,
  lostForGood,
  type HubConnection,
  type HubListener,
  type Opening,
} from './clientConnection';
import { ConnectFailure } from '../connectFailure';
import type { Endpoint } from '../../base/endpoint';
import type { Recoverable, RecoveryForm } from '../message/hubCodec';
import { WebSocketConnection } from './webSocketConnection';
import type { HubMessage } from '../message/hubMessage';
import type { Negotiated } from '../socket/upgrade';

/** The service keeps 1000 messages or 16 MB that nobody has acknowledged, and then closes for good. */
const ackCount = 200;
const ackBytes = 4 * 1024 * 1024;
const ackMs = 1000;
/** The service keeps a lost client so long at least. */
const recoverableMs = 30_000;
const attemptMs = 10_000;
const retryMs = 1000;
/** Close code of a service that has given the client up. */
const policyViolation = 1008;

/**
 * A client of a reliable subprotocol of Azure Web PubSub: it acknowledges what it receives, and takes
 * another socket when it loses one. The service sends again what was not acknowledged, and what is sent
 * meanwhile waits here, so that the owner sees one connection and each message once. Source: "Azure Web PubSub supported Reliable
 * JSON WebSocket subprotocol" and "Create reliable WebSocket clients".
 */
export class ReliableConnection extends ClientConnection implements HubListener {
  private readonly endpoint: Endpoint;
  private readonly form: RecoveryForm;
  readonly hasOwnKeepAlive = false;
  connectionId: string | undefined;
  private socket: WebSocketConnection | undefined;
  private reconnectionToken = '';
  /** Largest sequence id so far, and what has come since the last acknowledgement. */
  private largestId = 0;
  private unackedCount = 0;
  private unackedBytes = 0;
  private ackTimer: NodeJS.Timeout | undefined;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private lostMs = 0;
  /** When it came back last. */
  private backMs = -Infinity;
  private retryTimer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly where: Negotiated,
    opening: Opening,
  ) {
    super(opening);
    this.endpoint = opening.endpoint;
    const { recovery } = this.codec;
    if (recovery === undefined) throw new Error('nobody comes back in that protocol');
    this.form = recovery;
  }

  static open(where: Negotiated, opening: Opening): Promise<ReliableConnection> {
    const connection = new ReliableConnection(where, opening);
    return connection.opens(where.url.href, opening, () => {
      inBackground(connection.openSocket(where, opening));
    });
  }

  override get isOpen(): boolean {
    return this.state === 'open' || this.state === 'recovering';
  }

  send(frame: Buffer): boolean {
    if (this.socket !== undefined) return this.socket.send(frame);
    this.waiting.push(frame);
    this.waitingBytes += frame.length;
    if (this.waitingBytes > this.options.maximumUnsentBytes)
      super.drop('blocked', `${this.waitingBytes} bytes were waiting for another socket`);
    return false;
  }

  sendMessage(message: HubMessage): number {
    // Pings are not worth keeping for the next socket.
    return this.socket?.sendMessage(message) ?? 0;
  }

  close(): void {
    this.stop();
    this.socket?.close();
  }

  destroy(): void {
    this.stop();
    this.socket?.destroy();
  }

  override drop(errorClass: ErrorClass, text: string): void {
    if (this.socket === undefined) super.drop(errorClass, text);
    else this.socket.drop(errorClass, text);
  }

  received(socket: HubConnection, buffer: Buffer, start: number, end: number, bytes: number): void {
    if (this.state === 'closed') return;
    // A pong of WebSockets is empty.
    const noted = start < end ? this.form.noted(buffer, start, end) : 0;
    if (typeof noted === 'object') {
      this.connected(noted);
      return;
    }
    if (noted > 0) {
      // Sent again after a recovery: no application gets that twice.
      const isKnown = noted <= this.largestId;
      this.note(noted, end - start);
      if (isKnown) return;
    }
    this.listener.received(this, buffer, start, end, bytes);
    // The socket reports its end in the words the service has given us.
    socket.closeReason = this.closeReason;
  }

  lost(socket: HubConnection, errorClass: ErrorClass, text: string): void {
    this.socket = undefined;
    if (socket.closeCode === policyViolation) {
      super.drop(errorClass, text);
      return;
    }
    // Its end may come in one read with what opens it: before it is ours, nobody is back.
    if (this.state !== 'open' || lostForGood.has(errorClass)) {
      this.failed(new ConnectFailure(errorClass, text));
      return;
    }
    this.state = 'recovering';
    this.lostMs = performance.now();
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    this.listener.interrupted?.(this, errorClass, text);
    // A service that ends each socket at once is not asked without end.
    if (this.lostMs - this.backMs > retryMs) this.recover();
    else this.recoverLater();
  }

  private recoverLater(): void {
    // Spread, so that those who were lost together do not come back together.
    this.retryTimer = setTimeout(() => this.recover(), retryMs * (0.5 + Math.random()));
  }

  private recover(): void {
    const url = new URL(this.where.url);
    url.searchParams.set('awps_connection_id', this.connectionId ?? '');
    url.searchParams.set('awps_reconnection_token', this.reconnectionToken);
    // The token of recovery stands for the access token, which may have expired.
    const { headers } = this.where;
    inBackground(this.openSocket({ url, headers }, { signal: AbortSignal.timeout(attemptMs) }));
  }

  private async openSocket(
    where: Negotiated,
    { signal, stopwatch }: Pick<Opening, 'signal' | 'stopwatch'>,
  ): Promise<void> {
    try {
      const { index, endpoint, options } = this;
      const opening = { index, endpoint, listener: this, options, signal, stopwatch };
      const socket = await WebSocketConnection.open(where, opening);
      if (this.stopped) socket.destroy();
      else if (socket.isOpen) this.opened(socket);
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      this.failed(error);
    }
  }

  /** A new client is connected when the service says so, one that comes back as soon as its socket is open. */
  private opened(socket: WebSocketConnection): void {
    this.socket = socket;
    if (this.state !== 'recovering') return;
    this.state = 'open';
    this.closeReason = undefined;
    this.backMs = performance.now();
    this.listener.recovered?.(this, this.backMs - this.lostMs);
    const frames = this.waiting;
    this.waiting = [];
    this.waitingBytes = 0;
    for (const frame of frames) if (socket.isOpen) socket.send(frame);
    if (this.unackedCount > 0) this.ack();
  }

  private failed(failure: ConnectFailure): void {
    if (this.stopped) return;
    const isOver = performance.now() - this.lostMs > recoverableMs;
    if (this.state === 'connecting' || isOver || lostForGood.has(failure.errorClass)) {
      this.fail(failure);
      return;
    }
    this.recoverLater();
  }

  private connected({ connectionId, reconnectionToken }: Recoverable): void {
    this.connectionId = connectionId ?? this.connectionId;
    this.reconnectionToken = reconnectionToken ?? this.reconnectionToken;
    if (this.state === 'connecting') this.becomeOpen();
  }

  private note(sequenceId: number, bytes: number): void {
    this.largestId = Math.max(this.largestId, sequenceId);
    this.unackedCount += 1;
    this.unackedBytes += bytes;
    if (this.unackedCount >= ackCount || this.unackedBytes >= ackBytes) this.ack();
    else this.ackTimer ??= setTimeout(() => this.ack(), ackMs);
  }

  private ack(): void {
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    this.unackedCount = 0;
    this.unackedBytes = 0;
    this.socket?.sendBytes(this.form.sequenceAck(this.largestId));
  }

  private stop(): void {
    this.state = 'closed';
    this.waiting = [];
    clearTimeout(this.ackTimer);
    clearTimeout(this.retryTimer);
  }
}
