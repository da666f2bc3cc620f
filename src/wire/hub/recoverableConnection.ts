import { inBackground } from '../../base/async';
import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { ConnectFailure } from '../connectFailure';
import type { Negotiated } from '../socket/upgrade';
import {
  ClientConnection,
  type Attempt,
  type HubConnection,
  type HubListener,
  type Opening,
} from './clientConnection';
import { WebSocketConnection } from './webSocketConnection';

/** One attempt, as in the official clients. */
export const recoveryAttemptMs = 10_000;

const lostForGood: ReadonlySet<ErrorClass> = new Set<ErrorClass>([
  'protocol',
  'unauthorized',
  'notFound',
]);

/** Replaces a lost socket or request. Messages wait meanwhile, so that the owner sees one connection. */
export abstract class RecoverableConnection extends ClientConnection implements HubListener {
  protected readonly endpoint: Endpoint;
  protected socket: WebSocketConnection | undefined;
  protected timer: NodeJS.Timeout | undefined;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private lostMs = 0;
  private recoveredMs = -Infinity;

  /** @param retryMs pause between two tries @param recoverableMs how long the server waits for a lost client */
  protected constructor(
    opening: Opening,
    private readonly retryMs: number,
    private readonly recoverableMs: number,
  ) {
    super(opening);
    this.endpoint = opening.endpoint;
  }

  protected abstract recover(): void;
  abstract received(
    socket: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void;

  send(frame: Buffer): boolean {
    if (this.socket !== undefined) return this.socket.send(frame);
    this.waiting.push(frame);
    this.limitUnsent((this.waitingBytes += frame.length), 'another socket');
    return false;
  }

  destroy(): void {
    this.stop();
    this.socket?.destroy();
  }

  lost(socket: HubConnection, errorClass: ErrorClass, text: string): void {
    if (this.socket !== undefined && this.socket !== socket) return;
    this.socket = undefined;
    this.pipeLost(new ConnectFailure(errorClass, text));
  }

  protected stop(): void {
    this.state = 'closed';
    this.waiting = [];
    clearTimeout(this.timer);
  }

  protected openSocket(where: Negotiated, attempt: Pick<Attempt, 'signal' | 'stopwatch'>): void {
    inBackground(this.opensSocket(where, attempt));
  }

  private async opensSocket(
    where: Negotiated,
    attempt: Pick<Attempt, 'signal' | 'stopwatch'>,
  ): Promise<void> {
    try {
      const { index, endpoint, options } = this;
      const opening = { index, endpoint, listener: this, options, ...attempt };
      const socket = await WebSocketConnection.open(where, opening);
      if (this.stopped) socket.destroy();
      else if (socket.isOpen) {
        this.socket = socket;
        if (this.state === 'recovering') this.resume();
      }
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      this.pipeLost(error);
    }
  }

  protected pipeLost(failure: ConnectFailure): void {
    if (this.stopped) return;
    const isOver = performance.now() - this.lostMs > this.recoverableMs;
    if (!this.isOpen || lostForGood.has(failure.errorClass)) this.fail(failure);
    else if (this.state === 'open') {
      this.state = 'recovering';
      this.lostMs = performance.now();
      this.listener.interrupted?.(this, failure.errorClass, failure.message);
      // A server that ends each socket at once gets pauses, too.
      if (this.lostMs - this.recoveredMs > this.retryMs) this.recover();
      else this.recoverLater();
    } else if (isOver) this.fail(failure);
    else this.recoverLater();
  }

  private recoverLater(): void {
    clearTimeout(this.timer);
    // Spread, so that connections lost together do not come back together.
    this.timer = setTimeout(() => this.recover(), this.retryMs * (0.5 + Math.random()));
  }

  protected resume(): void {
    clearTimeout(this.timer);
    this.state = 'open';
    this.closeReason = undefined;
    this.recoveredMs = performance.now();
    this.listener.recovered?.(this, this.recoveredMs - this.lostMs);
    const frames = this.waiting;
    this.waiting = [];
    this.waitingBytes = 0;
    for (const frame of frames) if (this.socket?.isOpen === true) this.socket.send(frame);
  }
}
