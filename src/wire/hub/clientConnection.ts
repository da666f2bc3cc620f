import type { ErrorClass } from '../../base/errorClass';
import { ConnectFailure } from '../connect/connectFailure';
import type { ConnectStopwatch } from '../connect/connectStopwatch';
import { shownUrl } from '../connect/endpoint';
import { jsonCodec, type HubCodec } from './hubCodec';
import type { HubConnection, HubConnectionOptions, HubListener } from './hubConnection';

/** What all client connections have in common: they open once and come to one end, which is told once. */
export abstract class ClientConnection implements HubConnection {
  lastReceivedUs = 0;
  closeReason: string | undefined;
  readonly codec: HubCodec;
  /** Stands in messages. */
  protected state: 'connecting' | 'upgrading' | 'handshaking' | 'open' | 'recovering' | 'closed' =
    'connecting';
  /** Until the connection is open. */
  protected stopwatch: ConnectStopwatch | undefined;
  private settle: ((failure: ConnectFailure | undefined) => void) | undefined;

  protected constructor(
    readonly index: number,
    protected readonly listener: HubListener,
    protected readonly options: HubConnectionOptions,
  ) {
    this.codec = options.codec ?? jsonCodec;
  }

  abstract readonly connectionId: string | undefined;
  abstract readonly hasOwnKeepAlive: boolean;
  abstract send(frame: Buffer): boolean;
  abstract sendMessage(message: Buffer): void;
  abstract close(): void;
  abstract destroy(): void;

  get isOpen(): boolean {
    return this.state === 'open';
  }

  get stopped(): boolean {
    return this.state === 'closed';
  }

  drop(errorClass: ErrorClass, text: string): void {
    this.fail(new ConnectFailure(errorClass, text));
  }

  /**
   * Begins to open.
   *
   * @param url that is asked, for people
   * @returns the connection once {@link becomeOpen} is called
   * @throws ConnectFailure with the class of what went wrong; `timeout` when the signal aborts
   */
  protected opening(
    url: string,
    signal: AbortSignal,
    stopwatch: ConnectStopwatch | undefined,
    begin: () => void,
  ): Promise<this> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.drop('timeout', `no answer from ${shownUrl(url)} in time, while ${this.state}`);
      };
      this.stopwatch = stopwatch;
      this.settle = (failure) => {
        signal.removeEventListener('abort', onAbort);
        if (failure === undefined) resolve(this);
        else reject(failure);
      };
      begin();
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }

  /** The other side has agreed to everything. */
  protected becomeOpen(): void {
    const { settle, stopwatch } = this;
    this.state = 'open';
    this.settle = this.stopwatch = undefined;
    stopwatch?.done('handshake');
    settle?.(undefined);
  }

  /** Lets go of what a connection holds that has come to its end. */
  protected release(): void {
    this.destroy();
  }

  /** Ends the connection, and tells whoever opens it or, once it is open, the listener. */
  protected fail(failure: ConnectFailure): void {
    if (this.state === 'closed') return;
    const { settle } = this;
    this.settle = undefined;
    this.release();
    if (settle !== undefined) settle(failure);
    else this.listener.lost(this, failure.errorClass, failure.message);
  }
}
