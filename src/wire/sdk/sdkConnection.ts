/** Connections by the official clients (`driver: sdk`), behind the interface of our own. */
import {
  HttpTransportType,
  HubConnectionBuilder,
  NullLogger,
  type IHttpConnectionOptions,
  Subject,
  type HubConnection as SdkHubConnection,
  type ISubscription,
  JsonHubProtocol,
  type HubMessage as SdkMessage,
  type IHubProtocol,
  type ILogger,
  type TransferFormat,
} from '@microsoft/signalr';
import type { WebSocket } from 'ws';
import { OfficialConnection, type Opening } from '../hub/clientConnection';
import {
  ConnectFailure,
  failureFromSocketError,
  refusedHandshake,
  shownError,
  shownText,
} from '../connectFailure';
import { type OpenConnection, renegotiateToken } from '../connect/connectHub';
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
  lengthOf,
} from './sdkSockets';
import { SdkHttpClient } from './sdkHttpClient';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import type { HubCodec, Span } from '../message/hubCodec';

const maximumBatchBytes = 16 * 1024 * 1024;
const reasonWaitMs = 1000;

const transports = {
  Websockets: HttpTransportType.WebSockets,
  ServerSentEvents: HttpTransportType.ServerSentEvents,
  LongPolling: HttpTransportType.LongPolling,
};

export function sdkOpener(endpoint: Endpoint): OpenConnection {
  const agents = new SocketAgents(endpoint, Infinity);
  return (url, opening) => SdkConnection.open(url, agents, opening);
}

/** One connection of the official client: nothing of ours encodes or parses its messages. */
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
    return message.type === hubMessageType.streamItem || message.type === hubMessageType.completion
      ? NaN
      : this.writtenBytes - before;
  }

  private call(message: HubMessage): void {
    const { hub, protocol } = this;
    switch (message.type) {
      case hubMessageType.invocation: {
        const { target, invocationId } = message;
        const args = this.argumentsOf(message);
        // The transport reports failures, the parser completions.
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

  /** Streams stand among the arguments, each before another one: the client skips the second of two in a row. */
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
    return renegotiateToken(this.endpoint, { url: this.url }, this.agents).catch(() => undefined);
  }

  private started(): void {
    if (this.state === 'connecting') this.becomeOpen();
  }

  failed(failure: ConnectFailure): ConnectFailure {
    this.failure ??= failure;
    // The client does not report a failed send.
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
    return failureFromSocketError(error);
  }
}

function ignore(): void {}

const nobody = { next: ignore, complete: ignore, error: ignore };

interface Piece {
  readonly piece: string | ArrayBuffer;
  readonly bodyBytes: number;
  readonly bytes: number;
}

/**
 * The official client's own protocol, one message at a time, since its callbacks report neither unregistered methods,
 * nor pings and closes, nor lengths.
 */
export class SdkProtocol implements IHubProtocol {
  readonly name: string;
  readonly version: number;
  readonly transferFormat: TransferFormat;
  private readonly inner: IHubProtocol;
  private readonly ownIds = new Map<string, string>();
  private ownId: string | undefined;

  constructor(
    private readonly codec: HubCodec,
    private readonly owner: SdkOwner,
  ) {
    this.inner = codec.protocol === 'json' ? new JsonHubProtocol() : new MessagePackHubProtocol();
    this.name = this.inner.name;
    this.version = this.inner.version;
    this.transferFormat = this.inner.transferFormat;
  }

  /** Maps the client's id of the invocation to `ownId`. */
  invoking<T>(ownId: string, invoke: () => T): T {
    this.ownId = ownId;
    try {
      return invoke();
    } finally {
      this.ownId = undefined;
    }
  }

  writeMessage(message: SdkMessage): string | ArrayBuffer {
    const id = 'invocationId' in message ? message.invocationId : undefined;
    if (this.ownId !== undefined && id !== undefined) this.ownIds.set(id, this.ownId);
    const written = this.inner.writeMessage(message);
    this.owner.wrote(lengthOf(written));
    return written;
  }

  parseMessages(input: string | ArrayBuffer, logger: ILogger): SdkMessage[] {
    const messages: SdkMessage[] = [];
    try {
      for (const { piece, bodyBytes, bytes } of this.pieces(input)) {
        const [message] = this.inner.parseMessages(piece, logger);
        const wireBytes = bytes + this.owner.overheadBytes;
        this.owner.overheadBytes = 0;
        if (message === undefined) continue;
        messages.push(message);
        const own = this.withOwnId(message);
        // Whoever subtracts the envelope knows our id only.
        this.owner.arrived(own, bodyBytes + idLength(own) - idLength(message), wireBytes);
        if (this.owner.stopped) return [];
      }
    } catch (error) {
      throw this.owner.failed(new ConnectFailure('protocol', shownError(error)));
    }
    return messages;
  }

  private *pieces(input: string | ArrayBuffer): Generator<Piece> {
    if (typeof input === 'string') {
      for (let at = 0; at < input.length;) {
        const end = input.indexOf('\x1e', at);
        const piece = input.slice(at, end < 0 ? input.length : end + 1);
        const bytes = Buffer.byteLength(piece);
        yield { piece, bodyBytes: bytes - 1, bytes };
        at += piece.length;
      }
      return;
    }
    const bytes = Buffer.from(input);
    const span: Span = { start: 0, end: 0, next: 0 };
    for (let at = 0; at < bytes.length; at = span.next) {
      this.codec.find(bytes, at, bytes.length, span);
      const bodyBytes = span.end - span.start;
      yield { piece: input.slice(at, span.next), bodyBytes, bytes: span.next - at };
    }
  }

  private withOwnId(message: SdkMessage): HubMessage {
    const known = message as HubMessage;
    if (known.type !== hubMessageType.streamItem && known.type !== hubMessageType.completion)
      return known;
    const { invocationId } = known;
    const ownId = this.ownIds.get(invocationId);
    if (known.type === hubMessageType.completion) this.ownIds.delete(invocationId);
    // Must not match any other invocation.
    return { ...known, invocationId: ownId ?? `unknown ${invocationId}` };
  }
}

function idLength(message: HubMessage | SdkMessage): number {
  const { invocationId } = message as { readonly invocationId?: string };
  return invocationId?.length ?? 0;
}
