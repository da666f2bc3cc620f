import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { ConnectFailure, failureFromClose, shownUrl } from '../connectFailure';
import type { ConnectStopwatch } from '../socket/socket';
import type { IncompleteBytesBudget } from '../socket/frameReader';
import { type HubMessage, hubMessageType, type Completion } from '../message/hubMessage';
import { type HubCodec, jsonCodec } from '../message/hubCodec';
import { FrameError } from '../socket/frame';

/** One listener serves all connections of a worker. */
export interface HubListener {
  /**
   * One WebSocket message, event or response to a poll: hub messages with their end marks, none when a poll came back
   * empty. The buffer is valid only during the call; `frameBytes` includes the transport's overhead without HTTP
   * heads.
   */
  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void;
  /**
   * A hub message read by an official client. `bodyBytes` is its length with our id and without its end mark,
   * `wireBytes` its length on the wire; NaN where the client does not show them.
   */
  message?(
    connection: HubConnection,
    message: HubMessage,
    bodyBytes: number,
    wireBytes: number,
  ): void;
  pinged?(connection: HubConnection): void;
  /** The connection was dropped; reported once. */
  lost(connection: HubConnection, errorClass: ErrorClass, text: string): void;
  /** A recoverable connection has lost its socket; `recovered` or `lost` follows. */
  interrupted?(connection: HubConnection, errorClass: ErrorClass, text: string): void;
  recovered?(connection: HubConnection, tookMs: number): void;
}

interface HubConnectionOptions {
  readonly maximumMessageBytes: number;
  readonly maximumUnsentBytes: number;
  readonly codec?: HubCodec;
  readonly unfinished?: IncompleteBytesBudget;
}

export interface ConnectionContext {
  readonly endpoint: Endpoint;
  readonly listener: HubListener;
  readonly options: HubConnectionOptions;
}

export interface Attempt {
  readonly index: number;
  /** Ends the attempt, which then fails as `timeout`. */
  readonly signal: AbortSignal;
  readonly stopwatch?: ConnectStopwatch | undefined;
}

export type Opening = Attempt & ConnectionContext;

export interface HubConnection {
  readonly index: number;
  /** The id the hub uses, if negotiation told it. */
  readonly connectionId: string | undefined;
  /** When something last came from the server, in the owner's clock; set by the owner. */
  lastReceivedUs: number;
  /** The reason that the server gave before the connection ends. */
  closeReason: string | undefined;
  /** Whether the client may reconnect: the hub can forbid it. */
  readonly mayReconnect: boolean;
  readonly closeCode?: number | undefined;
  readonly codec: HubCodec;
  readonly isOpen: boolean;
  readonly stopped: boolean;
  /** It detects a dead server by itself: nobody else sends pings. */
  readonly hasOwnKeepAlive: boolean;
  /**
   * Sends a whole frame, or a bare hub message where the transport has none. @returns whether the bytes were taken at
   * once; otherwise they must not be changed any more
   */
  send(frame: Buffer): boolean;
  /** Called every second; absent where others judge silence. */
  silentFor?(ms: number): void;
  /** For rare messages; does nothing on a closed connection. @returns bytes on the wire, NaN when unknown */
  sendMessage(message: HubMessage): number;
  /** Closes gracefully; the listener is not notified. */
  close(): void;
  /** Closes the sockets at once; the listener is not notified. */
  destroy(): void;
  /** The server has sent a close message; it may leave its socket open. */
  closedByServer(said: string, mayReturn: boolean): void;
  /** Closes with an error, which the listener or the opener gets. */
  drop(errorClass: ErrorClass, text: string): void;
}

export abstract class ClientConnection implements HubConnection {
  lastReceivedUs = 0;
  closeReason: string | undefined;
  mayReconnect = true;
  readonly index: number;
  readonly codec: HubCodec;
  readonly unfinished: IncompleteBytesBudget | undefined;
  protected readonly listener: HubListener;
  protected readonly options: HubConnectionOptions;
  protected state: 'connecting' | 'upgrading' | 'handshaking' | 'open' | 'recovering' | 'closed' =
    'connecting';
  protected stopwatch: ConnectStopwatch | undefined;
  private settle: ((failure: ConnectFailure | undefined) => void) | undefined;

  protected constructor({ index, listener, options }: Opening) {
    this.index = index;
    this.listener = listener;
    this.options = options;
    this.codec = options.codec ?? jsonCodec;
    this.unfinished = options.unfinished;
  }

  abstract readonly connectionId: string | undefined;
  abstract readonly hasOwnKeepAlive: boolean;
  abstract send(frame: Buffer): boolean;
  abstract sendMessage(message: HubMessage): number;
  abstract close(): void;
  abstract destroy(): void;

  get isOpen(): boolean {
    return this.state === 'open' || this.state === 'recovering';
  }

  get stopped(): boolean {
    return this.state === 'closed';
  }

  closedByServer(said: string, mayReturn: boolean): void {
    // The official client of Web PubSub recovers as after any loss, unless the socket then closes with 1008.
    if (this.codec.recovery !== undefined) {
      this.closeReason = said;
      return;
    }
    this.mayReconnect = mayReturn;
    const how = `the server closed the connection${mayReturn ? '' : ' and allows no reconnect'}`;
    this.fail(failureFromClose(how, said), () => this.close());
  }

  drop(errorClass: ErrorClass, text: string): void {
    this.fail(new ConnectFailure(errorClass, text));
  }

  /**
   * @returns the connection once {@link becomeOpen} is called @throws ConnectFailure; `timeout` when the signal
   * aborts
   */
  protected opens(url: string, { signal, stopwatch }: Opening, begin: () => void): Promise<this> {
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

  protected becomeOpen(): void {
    const { settle, stopwatch } = this;
    this.state = 'open';
    this.settle = this.stopwatch = undefined;
    stopwatch?.done('handshake');
    settle?.(undefined);
  }

  protected release(): void {
    this.destroy();
  }

  protected unreadable(error: unknown): void {
    if (error instanceof ConnectFailure) this.fail(error);
    else if (error instanceof FrameError) this.drop('protocol', error.message);
    else throw error;
  }

  protected limitUnsent(bytes: number, what = 'the server to read them'): void {
    if (bytes > this.options.maximumUnsentBytes)
      this.fail(new ConnectFailure('blocked', `${bytes} bytes were waiting for ${what}`));
  }

  protected fail(failure: ConnectFailure, end = (): void => this.release()): void {
    if (this.state === 'closed') return;
    const { settle } = this;
    this.settle = undefined;
    end();
    if (settle !== undefined) settle(failure);
    else this.listener.lost(this, failure.errorClass, failure.message);
  }
}

export abstract class OfficialConnection extends ClientConnection {
  readonly hasOwnKeepAlive = true;

  send(): never {
    throw new Error('the official client takes messages, not frames');
  }

  protected read(message: HubMessage, bodyBytes = NaN, wireBytes = NaN): void {
    if (this.state === 'closed') return;
    // The client would take a defect of ours for a broken connection, or only log it.
    try {
      this.listener.message?.(this, message, bodyBytes, wireBytes);
    } catch (error) {
      queueMicrotask(() => throwError(error));
    }
  }
}

export function throwError(error: unknown): never {
  throw error;
}

export type InvocationOutcome =
  | { readonly ok: true; readonly result: unknown }
  | {
      readonly ok: false;
      readonly errorClass: 'invocation' | 'timeout' | 'closed';
      readonly text: string;
    };

const lost = { ok: false, errorClass: 'closed', text: 'the connection was lost' } as const;

/** Invocations that wait for a completion: for preparation only, never messages of a step. */
export class Invocations {
  private readonly pending = new Map<number, Map<string, (outcome: InvocationOutcome) => void>>();
  private lastId = 0;

  invoke(
    connection: HubConnection,
    target: string,
    args: readonly unknown[],
    timeoutMs: number,
  ): Promise<InvocationOutcome> {
    if (!connection.isOpen) return Promise.resolve(lost);
    return new Promise((resolve) => {
      const invocationId = String((this.lastId += 1));
      const late = `${target}: no completion within ${timeoutMs / 1000} s`;
      const timer = setTimeout(
        () => settle({ ok: false, errorClass: 'timeout', text: late }),
        timeoutMs,
      );
      const settle = (outcome: InvocationOutcome): void => {
        clearTimeout(timer);
        resolve(outcome);
      };
      const own = this.pending.get(connection.index) ?? new Map<string, typeof settle>();
      this.pending.set(connection.index, own.set(invocationId, settle));
      const { invocation: type } = hubMessageType;
      connection.sendMessage({ type, invocationId, target, arguments: args });
    });
  }

  completed(connection: HubConnection, message: Completion): boolean {
    const own = this.pending.get(connection.index);
    const settle = own?.get(message.invocationId);
    if (own === undefined || settle === undefined) return false;
    own.delete(message.invocationId);
    if (own.size === 0) this.pending.delete(connection.index);
    if (typeof message.error === 'string')
      settle({ ok: false, errorClass: 'invocation', text: message.error });
    else settle({ ok: true, result: message.result });
    return true;
  }

  lost({ index }: HubConnection): void {
    const own = this.pending.get(index);
    this.pending.delete(index);
    for (const settle of own?.values() ?? []) settle(lost);
  }
}
