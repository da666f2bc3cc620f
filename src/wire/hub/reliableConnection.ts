import type { ErrorClass } from '../../base/errorClass';
import type { RecoveryTokens, RecoveryProtocol } from '../message/hubCodec';
import type { HubMessage } from '../message/hubMessage';
import type { Negotiated } from '../socket/upgrade';
import type { HubConnection, Opening } from './clientConnection';
import { RecoverableConnection, recoveryAttemptMs } from './recoverableConnection';

/** The service keeps 1000 messages or 16 MB that are not acknowledged, and then closes for good. */
const ackCount = 200;
const ackBytes = 4 * 1024 * 1024;
const ackMs = 1000;
/** The service keeps a lost client at least this long. */
const recoverableMs = 30_000;
const retryMs = 1000;
const policyViolation = 1008;

/**
 * A client of a reliable subprotocol of Azure Web PubSub: it acknowledges messages, and the service repeats those
 * that were not acknowledged. Source: "Azure Web PubSub supported Reliable JSON WebSocket subprotocol" and "Create
 * reliable WebSocket clients".
 */
export class ReliableConnection extends RecoverableConnection {
  private readonly form: RecoveryProtocol;
  readonly hasOwnKeepAlive = false;
  connectionId: string | undefined;
  private reconnectionToken = '';
  private largestId = 0;
  private unackedCount = 0;
  private unackedBytes = 0;
  private ackTimer: NodeJS.Timeout | undefined;
  private constructor(
    private readonly where: Negotiated,
    opening: Opening,
  ) {
    super(opening, retryMs, recoverableMs);
    const { recovery } = this.codec;
    if (recovery === undefined) throw new Error('a protocol without recovery');
    this.form = recovery;
  }

  static open(where: Negotiated, opening: Opening): Promise<ReliableConnection> {
    const connection = new ReliableConnection(where, opening);
    const { signal, stopwatch } = opening;
    return connection.opens(where.url.href, opening, () =>
      connection.openSocket(where, { signal, stopwatch }),
    );
  }

  sendMessage(message: HubMessage): number {
    return this.socket?.sendMessage(message) ?? 0;
  }

  close(): void {
    this.stop();
    this.socket?.close();
  }

  override drop(errorClass: ErrorClass, text: string): void {
    if (this.socket === undefined) super.drop(errorClass, text);
    else this.socket.drop(errorClass, text);
  }

  received(socket: HubConnection, buffer: Buffer, start: number, end: number, bytes: number): void {
    if (this.state === 'closed') return;
    // A WebSocket pong is empty.
    const notice = start < end ? this.form.inspect(buffer, start, end) : 0;
    if (typeof notice === 'object') {
      this.connected(notice);
      return;
    }
    if (notice > 0) {
      const isKnown = notice <= this.largestId;
      this.note(notice, end - start);
      if (isKnown) return;
    }
    this.listener.received(this, buffer, start, end, bytes);
    socket.closeReason = this.closeReason;
  }

  override lost(socket: HubConnection, errorClass: ErrorClass, text: string): void {
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    if (socket.closeCode !== policyViolation) super.lost(socket, errorClass, text);
    else {
      this.socket = undefined;
      super.drop(errorClass, text);
    }
  }

  protected recover(): void {
    const url = new URL(this.where.url);
    url.searchParams.set('awps_connection_id', this.connectionId ?? '');
    url.searchParams.set('awps_reconnection_token', this.reconnectionToken);
    // The recovery token replaces the access token, which may have expired.
    const { headers } = this.where;
    this.openSocket({ url, headers }, { signal: AbortSignal.timeout(recoveryAttemptMs) });
  }

  protected override resume(): void {
    super.resume();
    if (this.unackedCount > 0) this.ack();
  }

  private connected({ connectionId, reconnectionToken }: RecoveryTokens): void {
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

  protected override stop(): void {
    super.stop();
    clearTimeout(this.ackTimer);
  }
}
