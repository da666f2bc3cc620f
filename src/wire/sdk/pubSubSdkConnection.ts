import { SendMessageError, WebPubSubClient } from '@azure/web-pubsub-client';
import type { WebSocket } from 'ws';
import { ClientConnection } from '../hub/clientConnection';
import { ConnectFailure, failureOfSocket, shownText } from '../connect/connectFailure';
import type { ConnectContext, OpenConnection } from '../connect/connectHub';
import type { ConnectStopwatch } from '../connect/connectStopwatch';
import { clientPayload } from '../socket/frame';
import { withQuery } from '../connect/negotiate';
import { PubSubSdkProtocol, type PubSubSdkProtocolOwner } from './pubSubSdkProtocol';
import { pubSubSdkSocket, type PubSubSdkSocket } from './pubSubSdkSocket';
import {
  failureOfClosing,
  openWebSocket,
  type SdkClosing,
  type SdkSocketOwner,
  type SdkSocketWay,
} from './sdkWebSocket';

/** How often the client pings, and how long the service may say nothing, in milliseconds. */
export interface PubSubKeepAlive {
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Defaults of the client. Source: `WebPubSubClientOptions` of `@azure/web-pubsub-client`. */
const officialKeepAlive: PubSubKeepAlive = { intervalMs: 20_000, timeoutMs: 120_000 };

/** Close code of a service that has given the client up: the client does not try to come back. */
const policyViolation = 1008;

/** A frame of ours, as far as the client has a method for it. */
interface OwnFrame {
  readonly type: string;
  readonly group: string;
  readonly event: string;
  readonly ackId?: number;
  readonly data: object;
}

/** Opens connections by the official client of Azure Web PubSub. */
export function pubSubSdkOpener(keepAlive = officialKeepAlive): OpenConnection {
  return (index, url, context, signal, stopwatch) =>
    PubSubSdkConnection.open(index, url, context, keepAlive, signal, stopwatch);
}

/**
 * One connection of the official client of Azure Web PubSub, as the rest of the runner sees connections:
 * what is sent is read and handed to the client's own methods; what the client tells is written again and
 * handed on. Coming back after a lost socket is left to the client; what is sent meanwhile waits here.
 */
export class PubSubSdkConnection
  extends ClientConnection
  implements PubSubSdkProtocolOwner, SdkSocketOwner
{
  connectionId: string | undefined;
  /** The client pings and watches the service by itself. */
  readonly hasOwnKeepAlive = true;
  private readonly client: WebPubSubClient;
  private readonly way: SdkSocketWay;
  private socket: WebSocket | undefined;
  private closing: SdkClosing | undefined;
  private failure: ConnectFailure | undefined;
  /** Bytes of the frame that the client is telling about, and what WebSockets put before it. */
  private wireBytes = 0;
  private headerBytes = 0;
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private lostMs = 0;

  private constructor(
    index: number,
    url: string,
    { endpoint, listener, options }: ConnectContext,
    private readonly keepAlive: PubSubKeepAlive,
    stopwatch: ConnectStopwatch | undefined,
  ) {
    super(index, listener, options);
    this.way = {
      endpoint,
      maximumBytes: options.maximumMessageBytes,
      stopwatch,
      failed: (failure) => (this.failure ??= failure),
      arriving: (bytes) => {
        this.headerBytes = bytes;
      },
    };
    const where = withQuery(url.replace(/^http/, 'ws'), endpoint.query);
    if (endpoint.accessToken !== undefined)
      where.searchParams.set('access_token', endpoint.accessToken);
    this.client = new WebPubSubClient(where.href, {
      protocol: new PubSubSdkProtocol(this.codec.recovery !== undefined, this),
      // Opening again, joining again and sending again are counted, so that they are ours.
      autoReconnect: false,
      autoRejoinGroups: false,
      messageRetryOptions: { maxRetries: 0 },
      keepAliveIntervalInMs: keepAlive.intervalMs,
      keepAliveTimeoutInMs: keepAlive.timeoutMs,
    });
    // Its sockets know neither proxies nor authorities, and it has no option for others.
    Object.defineProperty(this.client, '_getWebSocketClientFactory', {
      value: () => ({ create: (uri: string, name: string) => this.newSocket(uri, name) }),
    });
    this.client.on('connected', ({ connectionId }) => this.started(connectionId));
    this.client.on('group-message', ({ message }) => this.arrived(message));
    this.client.on('server-message', ({ message }) => this.arrived(message));
    this.client.on('stopped', () => this.ended(undefined));
  }

  /**
   * Starts a connection, and waits until the service says that the client is connected.
   *
   * @throws ConnectFailure with the class of what went wrong; `timeout` when the signal aborts
   */
  static open(
    index: number,
    url: string,
    context: ConnectContext,
    keepAlive: PubSubKeepAlive,
    signal: AbortSignal,
    stopwatch?: ConnectStopwatch,
  ): Promise<PubSubSdkConnection> {
    const connection = new PubSubSdkConnection(index, url, context, keepAlive, stopwatch);
    return connection.opening(url, signal, stopwatch, () => {
      // Started is it only once the service has said so.
      connection.client.start().catch((error: unknown) => connection.ended(error));
      if (connection.socket === undefined && connection.failure === undefined)
        throw new Error('this version of the client does not ask for a socket of ours');
    });
  }

  override get isOpen(): boolean {
    return this.state === 'open' || this.state === 'recovering';
  }

  send(frame: Buffer): boolean {
    this.sendMessage(clientPayload(frame));
    return true;
  }

  sendMessage(message: Buffer): void {
    if (this.state === 'open') this.hand(message);
    else if (this.state === 'recovering') this.keep(message);
  }

  close(): void {
    if (this.state === 'open') this.stop();
    else this.destroy();
  }

  destroy(): void {
    this.stop();
    this.socket?.terminate();
  }

  opened(socket: WebSocket): void {
    this.socket = socket;
    socket.on('open', () => this.socketOpened());
  }

  closed(closing: SdkClosing): void {
    this.closing = closing;
    const comesBack = this.codec.recovery !== undefined && closing.code !== policyViolation;
    if (this.state !== 'open' || !comesBack) return;
    const { errorClass, message } = this.reason();
    this.state = 'recovering';
    this.lostMs = performance.now();
    this.listener.interrupted?.(this, errorClass, message);
  }

  reading(message: { readonly kind: string }, payloadBytes: number): void {
    this.wireBytes = payloadBytes + this.headerBytes;
    if (message.kind === 'pong' || message.kind === 'disconnected') this.arrived(message);
  }

  unreadable(why: string): void {
    this.drop('protocol', why);
  }

  pinged(): void {
    this.listener.pinged?.(this);
  }

  /** Lets the client send what our side has encoded. */
  private hand(bytes: Buffer): void {
    const { client } = this;
    const { type, group, event, data, ackId } = JSON.parse(bytes.toString('utf8')) as OwnFrame;
    const asking = ackId === undefined ? { fireAndForget: true } : { ackId };
    switch (type) {
      case 'joinGroup':
        this.await(ackId, client.joinGroup(group, asking));
        break;
      case 'leaveGroup':
        this.await(ackId, client.leaveGroup(group, asking));
        break;
      case 'sendToGroup':
        this.await(ackId, client.sendToGroup(group, data, 'json', asking));
        break;
      case 'event':
        this.await(ackId, client.sendEvent(event, data, 'json', asking));
        break;
      default:
        // The client pings and acknowledges by itself.
        break;
    }
  }

  /** Hands on what the client says of a request. */
  private await(ackId: number | undefined, request: Promise<{ isDuplicated: boolean }>): void {
    const tell = (error: object | undefined): void => {
      if (ackId !== undefined && this.state !== 'closed')
        this.arrived({ type: 'ack', ackId, success: error === undefined, error });
    };
    request.then(
      ({ isDuplicated }) =>
        tell(
          isDuplicated ? { name: 'Duplicate', message: 'it was carried out before' } : undefined,
        ),
      (error: unknown) => {
        // Without details it is the socket that was lost, which is told elsewhere.
        const details = error instanceof SendMessageError ? error.errorDetail : undefined;
        if (details !== undefined) tell(details);
      },
    );
  }

  private keep(message: Buffer): void {
    this.waiting.push(message);
    this.waitingBytes += message.length;
    if (this.waitingBytes > this.options.maximumUnsentBytes)
      this.drop('blocked', `${this.waitingBytes} bytes were waiting for another socket`);
  }

  private newSocket(uri: string, subprotocol: string): PubSubSdkSocket {
    // It goes on trying to come back although it was stopped.
    if (this.state === 'closed') throw new ConnectFailure('closed', 'the client was stopped');
    this.closing = undefined;
    this.failure = undefined;
    try {
      const { headers } = this.way.endpoint;
      const socket = openWebSocket(uri, [subprotocol], headers, this.way, this);
      return pubSubSdkSocket(
        socket,
        () => this.checkUnsent(socket.bufferedAmount),
        (code, reason) => this.closeSocket(socket, code, reason),
      );
    } catch (error) {
      throw this.way.failed(failureOfSocket(error as Error));
    }
  }

  /** The client closes when it is stopped, and when the service has fallen silent. */
  private closeSocket(socket: WebSocket, code?: number, reason?: string): void {
    if (this.state === 'closed') {
      socket.close(code, reason);
      return;
    }
    const seconds = this.keepAlive.timeoutMs / 1000;
    const text = `the server sent nothing for ${seconds} s, not even a pong`;
    this.way.failed(new ConnectFailure('timeout', text));
    socket.terminate();
  }

  private checkUnsent(bytes: number): void {
    if (bytes > this.options.maximumUnsentBytes)
      this.drop('blocked', `${bytes} bytes were waiting for the server to read them`);
  }

  private arrived(message: object): void {
    if (this.state === 'closed') return;
    const bytes = Buffer.from(JSON.stringify(message), 'utf8');
    // Into the client's events nothing must be thrown: it would only log it.
    try {
      this.listener.received(this, bytes, 0, bytes.length, this.wireBytes);
    } catch (error) {
      queueMicrotask(() => rethrow(error));
    }
  }

  private started(connectionId: string): void {
    this.connectionId = connectionId;
    if (this.state === 'connecting') this.becomeOpen();
  }

  /** A client that comes back is there as soon as its socket is open; a new one is told so. */
  private socketOpened(): void {
    if (this.state !== 'recovering') return;
    // The client takes the socket over within the same event.
    queueMicrotask(() => {
      if (this.state !== 'recovering') return;
      this.state = 'open';
      this.listener.recovered?.(this, performance.now() - this.lostMs);
      const messages = this.waiting;
      this.waiting = [];
      this.waitingBytes = 0;
      for (const message of messages) this.sendMessage(message);
    });
  }

  /** The client has given the connection up, or could not open it. */
  private ended(error: unknown): void {
    if (error instanceof ConnectFailure) this.fail(error);
    else this.fail(this.reason(error));
  }

  private reason(error?: unknown): ConnectFailure {
    if (this.failure !== undefined) return this.failure;
    if (this.closing !== undefined)
      return failureOfClosing(this.closing, this.closeReason ?? this.closing.reason);
    return error instanceof Error
      ? failureOfSocket(error)
      : new ConnectFailure('closed', shownText(this.closeReason ?? 'the client has stopped'));
  }

  private stop(): void {
    this.state = 'closed';
    this.waiting = [];
    this.client.stop();
  }
}

function rethrow(error: unknown): never {
  throw error;
}
