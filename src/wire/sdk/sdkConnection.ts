/** Connections by the official clients (`driver: sdk`), behind the interface of our own. */
import {
  HttpTransportType,
  HubConnectionBuilder,
  NullLogger,
  type IHttpConnectionOptions,
  Subject,
  type HubConnection as SdkHubConnection,
  type ISubscription,
} from '@microsoft/signalr';
import type { WebSocket } from 'ws';
import { OfficialConnection, type Opening } from '../hub/clientConnection';
import {
  ConnectFailure,
  failureOfSocket,
  refusedHandshake,
  shownError,
  shownText,
} from '../connectFailure';
import { type OpenConnection, renewedToken } from '../connect/connectHub';
import { withQuery } from '../http/negotiationRequest';
import { type ConnectStopwatch, SocketAgents } from '../socket/socket';
import { Cookies } from '../socket/cookies';
import type { Endpoint } from '../../base/endpoint';
import { clientHeaderLength } from '../socket/frame';
import {
  hubMessageType,
  type HubMessage,
  type Invocation,
  type StreamInvocation,
} from '../message/hubMessage';
import {
  eventSourceConstructor,
  failureOfSocketClose,
  webSocketConstructor,
  type SdkClosing,
  type SdkOwner,
} from './sdkSockets';
import { SdkHttpClient } from './sdkHttpClient';
import { SdkProtocol } from './sdkProtocol';

/** What a server may put into one event or one answer, as for our own connections. */
const maximumBatchBytes = 16 * 1024 * 1024;
/** After a failed send the server may still be sending the reason. */
const reasonWaitMs = 1000;

const transports = {
  Websockets: HttpTransportType.WebSockets,
  ServerSentEvents: HttpTransportType.ServerSentEvents,
  LongPolling: HttpTransportType.LongPolling,
};

/** Opens connections by the official client; their requests share sockets as long as any of them lasts. */
export function sdkOpener(endpoint: Endpoint): OpenConnection {
  const agents = new SocketAgents(endpoint, Infinity);
  return (url, opening) => SdkConnection.open(url, agents, opening);
}

/**
 * One connection of the official client, as the rest of the runner sees connections: messages are handed to
 * the client's own methods, and what it reads is handed on. Nothing of ours encodes or parses them.
 */
class SdkConnection extends OfficialConnection implements SdkOwner {
  private readonly framed: boolean;
  private readonly hub: SdkHubConnection;
  private readonly protocol: SdkProtocol;
  private readonly streams = new Map<string, ISubscription<unknown>>();
  private readonly uploads = new Map<string, Subject<unknown>>();
  private readonly giveUp = new AbortController();
  readonly signal = this.giveUp.signal;
  readonly cookies = new Cookies();
  readonly endpoint: Endpoint;
  readonly maximumBytes: number;
  declare stopwatch: ConnectStopwatch | undefined;
  private readonly ping: string;
  socket: WebSocket | undefined;
  closing: SdkClosing | undefined;
  overheadBytes = 0;
  private failure: ConnectFailure | undefined;
  private timer: NodeJS.Timeout | undefined;
  private unsentBytes = 0;
  /** Everything the client has written, with the frames around it. */
  private writtenBytes = 0;

  private constructor(
    private readonly url: string,
    readonly agents: SocketAgents,
    opening: Opening,
  ) {
    super(opening);
    const { endpoint, options } = opening;
    this.framed = endpoint.transport === undefined;
    this.ping = this.codec.encode({ type: hubMessageType.ping }).toString('latin1');
    this.endpoint = endpoint;
    this.maximumBytes = this.framed
      ? options.maximumMessageBytes
      : Math.max(maximumBatchBytes, options.maximumMessageBytes);
    this.protocol = new SdkProtocol(this.codec, this);
    this.hub = new HubConnectionBuilder()
      .withUrl(withQuery(url, endpoint.query).href, this.clientOptions())
      .withHubProtocol(this.protocol)
      .configureLogging(NullLogger.instance)
      .build();
    this.hub.onclose((error) => this.ended(error));
  }

  static open(url: string, agents: SocketAgents, opening: Opening): Promise<SdkConnection> {
    const connection = new SdkConnection(url, agents, opening);
    return connection.opens(url, opening, () => {
      connection.hub.start().then(
        () => connection.started(),
        (error: unknown) => connection.ended(error),
      );
    });
  }

  get connectionId(): string | undefined {
    return this.hub.connectionId ?? undefined;
  }

  sendMessage(message: HubMessage): number {
    return this.state === 'open' ? this.hand(message) : 0;
  }

  close(): void {
    if (this.state !== 'open') {
      this.destroy();
      return;
    }
    this.state = 'closed';
    clearTimeout(this.timer);
    this.hub.stop().catch(ignore);
  }

  destroy(): void {
    this.state = 'closed';
    clearTimeout(this.timer);
    this.giveUp.abort();
    this.socket?.terminate();
    this.hub.stop().catch(ignore);
  }

  wrote(bytes: number): void {
    this.unsentBytes += bytes;
    this.writtenBytes += this.framed ? clientHeaderLength(bytes) + bytes : bytes;
  }

  arrived(message: HubMessage, bodyBytes: number, wireBytes: number): void {
    if (message.type === hubMessageType.completion) this.streams.delete(message.invocationId);
    this.read(message, bodyBytes, wireBytes);
  }

  private clientOptions(): IHttpConnectionOptions {
    const { accessToken, headers, skipNegotiation, transport } = this.endpoint;
    const options: IHttpConnectionOptions & Record<'WebSocket' | 'EventSource', unknown> = {
      httpClient: new SdkHttpClient(this),
      WebSocket: webSocketConstructor(this),
      EventSource: eventSourceConstructor(this),
      headers: { ...headers },
      transport: transports[transport ?? 'Websockets'],
      skipNegotiation,
      logger: NullLogger.instance,
    };
    if (accessToken !== undefined) options.accessTokenFactory = () => accessToken;
    return options;
  }

  private hand(message: HubMessage): number {
    const before = this.writtenBytes;
    try {
      this.call(message);
    } catch (error) {
      this.drop('other', `the official client cannot send a message: ${shownError(error)}`);
    }
    const unsentBytes = this.unsentBytes + (this.socket?.bufferedAmount ?? 0);
    if (unsentBytes > this.options.maximumUnsentBytes)
      this.drop('blocked', `${unsentBytes} bytes were waiting for the server to read them`);
    // What goes up in a stream is written later.
    return message.type === hubMessageType.streamItem || message.type === hubMessageType.completion
      ? NaN
      : this.writtenBytes - before;
  }

  /** Turns a message into a call of the client's methods. @throws Error when the client cannot write it */
  private call(message: HubMessage): void {
    const { hub, protocol } = this;
    switch (message.type) {
      case hubMessageType.invocation: {
        const { target, invocationId } = message;
        const args = this.argumentsOf(message);
        // What fails on the way is reported by the transport, what the hub answers by the reader.
        if (invocationId === undefined) hub.send(target, ...args).catch(ignore);
        else protocol.invoking(invocationId, () => hub.invoke(target, ...args)).catch(ignore);
        break;
      }
      case hubMessageType.streamItem:
        this.uploads.get(message.invocationId)?.next(message.item);
        break;
      case hubMessageType.completion: {
        const upload = this.uploads.get(message.invocationId);
        this.uploads.delete(message.invocationId);
        if (message.error === undefined) upload?.complete();
        else upload?.error(new Error(message.error));
        break;
      }
      case hubMessageType.streamInvocation: {
        const { target, invocationId } = message;
        const args = this.argumentsOf(message);
        const result = protocol.invoking(invocationId, () => hub.stream(target, ...args));
        this.streams.set(invocationId, result.subscribe(nobody));
        break;
      }
      case hubMessageType.cancelInvocation:
        this.streams.get(message.invocationId)?.dispose();
        this.streams.delete(message.invocationId);
        break;
      default:
        // The client pings, closes and acknowledges by itself.
        break;
    }
  }

  /** Streams stand among the arguments, each before another one: the client passes over two in a row. */
  private argumentsOf(message: Invocation | StreamInvocation): unknown[] {
    const { streamIds = [] } = message;
    const args = [...message.arguments];
    if (streamIds.length > args.length + 1)
      throw new Error('it has more streams than the client finds');
    streamIds.forEach((streamId, position) => {
      const upload = new Subject<unknown>();
      this.uploads.set(streamId, upload);
      args.splice(2 * position, 0, upload);
    });
    return args;
  }

  sending(content: string | ArrayBufferLike | undefined): void {
    if (content === undefined) return;
    const text =
      typeof content === 'string' || content.byteLength !== this.ping.length
        ? content
        : Buffer.from(content).toString('latin1');
    if (text === this.ping) this.listener.pinged?.(this);
  }

  sent(bytes: number): void {
    this.unsentBytes = Math.max(0, this.unsentBytes - bytes);
  }

  renew(): Promise<string | undefined> {
    return renewedToken(this.endpoint, { url: this.url }, this.agents).catch(() => undefined);
  }

  private started(): void {
    if (this.state === 'connecting') this.becomeOpen();
  }

  /** One of the client's parts has failed; what becomes of the connection is usually reported afterwards. */
  failed(failure: ConnectFailure): ConnectFailure {
    this.failure ??= failure;
    // The client does not report a send that failed.
    if (this.state === 'open') this.timer ??= setTimeout(() => this.fail(failure), reasonWaitMs);
    return failure;
  }

  private ended(error: unknown): void {
    this.fail(this.failure ?? this.reasonOf(error));
  }

  private reasonOf(error: unknown): ConnectFailure {
    if (error instanceof ConnectFailure) return error;
    const text = error instanceof Error ? error.message : '';
    const refusal = /^Server returned handshake error: (.*)$/s.exec(text)?.[1];
    if (refusal !== undefined) return refusedHandshake(refusal);
    if (text.startsWith('Error parsing handshake response'))
      return new ConnectFailure('protocol', shownText(text));
    if (text.startsWith('Server timeout elapsed'))
      return new ConnectFailure('timeout', 'the server sent nothing for 30 s, not even a ping');
    if (this.closing !== undefined) return failureOfSocketClose(this.closing);
    if (this.state === 'open' || text === '')
      return new ConnectFailure('closed', 'the server ended the connection');
    return failureOfSocket(error);
  }
}

function ignore(): void {
  // Whatever the client has to say of a connection that is given up.
}

/** Answers are seen where messages are read. */
const nobody = { next: ignore, complete: ignore, error: ignore };
