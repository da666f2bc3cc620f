/** Open connections to a hub over WebSockets, what every connection has in common, and the choice of codec. */
import type { Endpoint } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { ConnectFailure, failureOfClosing, shownUrl } from '../connectFailure';
import type { ConnectStopwatch } from '../socket/socket';
import type { UnfinishedBudget } from '../socket/unfinished';
import { type HubMessage, hubMessageType, type Completion } from '../message/hubMessage';
import { type HubCodec, jsonCodec } from '../message/hubCodec';
import { FrameError } from '../socket/frame';

/** What an open connection reports. One listener serves all connections of a worker. */
export interface HubListener {
  /**
   * One WebSocket message, event or answer to a poll: hub messages with what marks their ends, none when a poll
   * came back empty. The buffer is valid only during the call; `frameBytes` has what the transport puts around it,
   * HTTP heads excluded.
   */
  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void;
  /**
   * A hub message that an official client has read. `bodyBytes` is its length with our id in it and without
   * what marks its end, `wireBytes` that with everything around it; NaN where the client does not show them.
   */
  message?(
    connection: HubConnection,
    message: HubMessage,
    bodyBytes: number,
    wireBytes: number,
  ): void;
  pinged?(connection: HubConnection): void;
  /** The connection is gone without our asking; reported once. */
  lost(connection: HubConnection, errorClass: ErrorClass, text: string): void;
  /** A connection that can be recovered has lost its socket; `recovered` or `lost` follows. */
  interrupted?(connection: HubConnection, errorClass: ErrorClass, text: string): void;
  recovered?(connection: HubConnection, tookMs: number): void;
}

interface HubConnectionOptions {
  readonly maximumMessageBytes: number;
  /** Bytes that may wait to be sent before the connection counts as blocked. */
  readonly maximumUnsentBytes: number;
  /** The hub protocol; JSON when absent. */
  readonly codec?: HubCodec;
  readonly unfinished?: UnfinishedBudget;
}

/** What connections of a worker have in common. */
export interface ConnectionContext {
  readonly endpoint: Endpoint;
  readonly listener: HubListener;
  readonly options: HubConnectionOptions;
}

/** One try to open a connection. */
export interface Attempt {
  readonly index: number;
  /** Ends the try, which then fails as `timeout`. */
  readonly signal: AbortSignal;
  readonly stopwatch?: ConnectStopwatch | undefined;
}

export type Opening = Attempt & ConnectionContext;

export interface HubConnection {
  readonly index: number;
  /** What the hub knows it by, as far as negotiating showed. */
  readonly connectionId: string | undefined;
  /** When something last came from the server, in the clock of the owner, which sets it. */
  lastReceivedUs: number;
  /** What the server has said of the end that is to come; reported with it. */
  closeReason: string | undefined;
  /** Whether a client that reconnects may come back once this is lost: the hub can forbid it. */
  readonly mayReturn: boolean;
  /** Code of the server's close frame, where there was one. */
  readonly closeCode?: number | undefined;
  readonly codec: HubCodec;
  readonly isOpen: boolean;
  readonly stopped: boolean;
  /** It notices a dead server by itself: nobody else sends pings. */
  readonly hasOwnKeepAlive: boolean;
  /**
   * Sends a whole frame, or a bare hub message where the transport has none, over an open connection.
   * @returns whether the bytes were taken at once; otherwise they must not be changed any more
   */
  send(frame: Buffer): boolean;
  /** Is asked every second by whoever keeps the time; absent where silence is judged by others. */
  silentFor?(ms: number): void;
  /**
   * Sends one hub message that is not worth a template; nothing happens on a closed connection.
   * @returns its bytes on the wire, NaN where nobody can see them
   */
  sendMessage(message: HubMessage): number;
  /** Closes in order; the listener is not notified. */
  close(): void;
  /** Lets go of the sockets at once; the listener is not notified. */
  destroy(): void;
  /** Ends it because the server has said that it is over, also where the server leaves its socket open. */
  closedByServer(said: string, mayReturn: boolean): void;
  /** Gives the connection up for the given reason, which the listener or the opener gets. */
  drop(errorClass: ErrorClass, text: string): void;
}

/** What all client connections have in common: they open once and come to one end, which is reported once. */
export abstract class ClientConnection implements HubConnection {
  lastReceivedUs = 0;
  closeReason: string | undefined;
  mayReturn = true;
  readonly index: number;
  readonly codec: HubCodec;
  readonly unfinished: UnfinishedBudget | undefined;
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
    this.mayReturn = mayReturn;
    const how = `the server closed the connection${mayReturn ? '' : ' and allows no reconnect'}`;
    this.fail(failureOfClosing(how, said), () => this.close());
  }

  drop(errorClass: ErrorClass, text: string): void {
    this.fail(new ConnectFailure(errorClass, text));
  }

  /**
   * @returns the connection once {@link becomeOpen} is called
   * @throws ConnectFailure with the class of what went wrong; `timeout` when the signal aborts
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

  /** Ends the connection where what came cannot be read. @throws what is no doing of the server */
  protected unreadable(error: unknown): void {
    if (error instanceof ConnectFailure) this.fail(error);
    else if (error instanceof FrameError) this.drop('protocol', error.message);
    else throw error;
  }

  protected limitUnsent(bytes: number, what = 'the server to read them'): void {
    if (bytes > this.options.maximumUnsentBytes)
      this.fail(new ConnectFailure('blocked', `${bytes} bytes were waiting for ${what}`));
  }

  /** Ends the connection, and notifies whoever opens it or, once it is open, the listener. */
  protected fail(failure: ConnectFailure, end = (): void => this.release()): void {
    if (this.state === 'closed') return;
    const { settle } = this;
    this.settle = undefined;
    end();
    if (settle !== undefined) settle(failure);
    else this.listener.lost(this, failure.errorClass, failure.message);
  }
}

/** A connection of an official client, which pings by itself, and writes and reads messages by itself. */
export abstract class OfficialConnection extends ClientConnection {
  readonly hasOwnKeepAlive = true;

  send(): never {
    throw new Error('the official client takes messages, not frames');
  }

  /** Hands on what the client has read. */
  protected read(message: HubMessage, bodyBytes = NaN, wireBytes = NaN): void {
    if (this.state === 'closed') return;
    // The client would take a defect of ours for a broken connection, or only log it.
    try {
      this.listener.message?.(this, message, bodyBytes, wireBytes);
    } catch (error) {
      queueMicrotask(() => rethrow(error));
    }
  }
}

export function rethrow(error: unknown): never {
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

/** Invocations whose completion somebody waits for: preparation only, never messages of a step. */
export class Invocations {
  /** By connection and id. */
  private readonly pending = new Map<number, Map<string, (outcome: InvocationOutcome) => void>>();
  private lastId = 0;

  invoke(
    connection: HubConnection,
    target: string,
    args: readonly unknown[],
    timeoutMs: number,
  ): Promise<InvocationOutcome> {
    // Nothing would ever be heard of a connection that is gone already.
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
      // It stays after its time is over: a late completion is not taken for those of others.
      const own = this.pending.get(connection.index) ?? new Map<string, typeof settle>();
      this.pending.set(connection.index, own.set(invocationId, settle));
      const { invocation: type } = hubMessageType;
      connection.sendMessage({ type, invocationId, target, arguments: args });
    });
  }

  /** Settles the invocation of a completion; false when it is none of these. */
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
