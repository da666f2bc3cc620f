import { inBackground } from '../../base/async';
import { randomUUID } from 'node:crypto';
import type { ErrorClass } from '../../base/errorClass';
import type { AccessTokens } from '../connect/accessTokens';
import { ConnectFailure, refusedHandshake, shownText } from '../connectFailure';
import type { Endpoint, ServiceAccess } from '../../base/endpoint';
import { type HubCodec, messagePackCodec } from '../message/hubCodec';
import { WebSocketConnection } from '../hub/webSocketConnection';
import type { HubConnection, HubListener } from '../hub/clientConnection';
import { HubMessageError } from '../message/hubMessage';
import { holeLengths, MessageTemplate } from '../message/messageTemplate';
import {
  jsonLayout,
  messagePackLayout,
  LayoutBuilder,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
} from '../message/messageLayout';
import { lengthPrefix, arrayHead, binaryHead, encodeText, textHead } from '../message/messagePack';
import type { ServiceFailure } from '../rest/restCalls';
import {
  encodeServiceMessage,
  readServiceMessage,
  serverConnectionType,
  serviceType,
  type ServiceMessage,
} from './serviceMessage';
import { broadcastHead, groupTail, plainTail, ServiceFrames } from './serviceStream';

const connectTimeoutMs = 15_000;
const longestBackOffMs = 60_000;
/** As in the service's SDK: the interval of pings, and the silence that means a dead service. */
const pingMs = 5000;
const silenceMs = 30_000;
/** The service sends only pings, acks and errors over a weak connection. */
const maximumMessageBytes = 1024 * 1024;
const maximumUnsentBytes = 16 * 1024 * 1024;

/** Service messages are framed as those of MessagePack; only the handshake differs. */
const weakCodec: HubCodec = {
  ...messagePackCodec,
  handshake: encodeServiceMessage({
    type: serviceType.handshakeRequest,
    version: 1,
    connectionType: serverConnectionType.weak,
    target: '',
    migrationLevel: 0,
    allowStatefulReconnects: false,
  }),
  firstMessageEnd: (buffer, start, end) => {
    const span = { start, end, next: end };
    messagePackCodec.find(buffer, start, end, span);
    const answer = readServiceMessage(buffer, span.start, span.end);
    if (answer?.type !== serviceType.handshakeResponse)
      throw new HubMessageError('the first message of the service is not a handshake');
    const { errorMessage = '' } = answer;
    if (errorMessage !== '') throw refusedHandshake(errorMessage);
    return span.next;
  },
};

/**
 * Sends to the clients of a hub of Azure SignalR Service over one "weak" server connection, as the management SDK in
 * its persistent mode. It reconnects when it is lost; each message that is due meanwhile is an error. Source: the
 * service protocol's specification (`specs/ServiceProtocol.md` of Azure/azure-signalr).
 */
export class WeakServerConnection implements HubListener {
  private connection: WebSocketConnection | undefined;
  private frames = this.newFrames();
  private readonly url: URL;
  private readonly serverId = randomUUID();
  private failures = 0;
  private retry: NodeJS.Timeout | undefined;
  private attempt: AbortController | undefined;
  private lastSeenMs = 0;
  private nextPingMs = 0;
  private closed = false;
  private failure: ServiceFailure = { errorClass: 'closed', text: 'server connection: not open' };

  /**
   * @param report gets each failure of the connection, and of each message it cost @param backOffMs wait after the
   * first failure; doubles up to a minute
   */
  constructor(
    private readonly endpoint: Endpoint,
    { restUrl, hub }: ServiceAccess,
    private readonly tokens: AccessTokens,
    private readonly report: (failure: ServiceFailure) => void,
    private readonly backOffMs = 1000,
  ) {
    this.url = new URL(`${restUrl}/server/?hub=${encodeURIComponent(hub)}`);
  }

  get isOpen(): boolean {
    return this.connection?.isOpen === true;
  }

  /** Settles after the first attempt, which others may follow. */
  async open(): Promise<void> {
    if (this.closed || this.connection !== undefined || this.attempt !== undefined) return;
    const attempt = new AbortController();
    this.attempt = attempt;
    const timer = setTimeout(() => attempt.abort(), connectTimeoutMs);
    try {
      const connection = await this.connect(attempt.signal);
      if (connection.isOpen) this.opened(connection);
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      this.failed(error.errorClass, error.message, error.retryAfterMs);
    } finally {
      clearTimeout(timer);
      this.attempt = undefined;
    }
  }

  /** @param receiver UTF-8 name of the user or group; its length counts */
  template(shape: MessageShape, audience: SendAudience, receiver?: Uint8Array): MessageTemplate {
    const codec = { ...weakCodec, layout: sendLayout(audience) };
    return MessageTemplate.of(shape, holeLengths(receiver), codec);
  }

  /**
   * Without an open connection the message is lost and reported. @returns whether the bytes were taken at once;
   * otherwise they must not be changed any more
   */
  send(frame: Buffer): boolean {
    if (this.connection?.isOpen === true) return this.connection.send(frame);
    const { errorClass, text } = this.failure;
    this.report({ errorClass, text: `message not sent: ${text}` });
    return true;
  }

  /** Sends keep-alives and checks timeouts; called about once a second. */
  tick(nowMs = performance.now()): void {
    const { connection } = this;
    if (connection === undefined) return;
    if (nowMs - this.lastSeenMs > silenceMs) {
      connection.drop('timeout', 'the service sent nothing for 30 s, not even a ping');
    } else if (nowMs >= this.nextPingMs) {
      this.nextPingMs = nowMs + pingMs;
      this.say({ type: serviceType.ping, messages: [] });
    }
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.attempt?.abort();
    this.connection?.close();
    this.connection = undefined;
  }

  received(_connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    this.lastSeenMs = performance.now();
    try {
      // The bytes are valid during this call only, and a message may continue in the next.
      this.frames.push(Buffer.from(buffer.subarray(start, end)));
    } catch (error) {
      if (!(error instanceof HubMessageError)) throw error;
      this.connection?.drop('protocol', error.message);
    }
  }

  lost(_connection: HubConnection, errorClass: ErrorClass, text: string): void {
    this.connection = undefined;
    this.failed(errorClass, text);
  }

  private async connect(signal: AbortSignal): Promise<WebSocketConnection> {
    const url = new URL(this.url);
    url.searchParams.set('cid', randomUUID());
    const where = {
      url,
      headers: {
        'X-ASRS-Server-Id': this.serverId,
        'Asrs-User-Agent': 'signalr-bench',
        'X-Requested-With': 'XMLHttpRequest',
      },
      accessToken: await this.tokens.forServer(this.serverId),
    };
    const options = { maximumMessageBytes, maximumUnsentBytes, codec: weakCodec };
    this.frames = this.newFrames();
    const { endpoint } = this;
    return WebSocketConnection.open(where, { index: 0, endpoint, listener: this, options, signal });
  }

  private opened(connection: WebSocketConnection): void {
    if (this.closed) {
      connection.close();
      return;
    }
    this.connection = connection;
    this.failures = 0;
    this.lastSeenMs = performance.now();
    this.nextPingMs = this.lastSeenMs + pingMs;
  }

  private failed(errorClass: ErrorClass, text: string, retryAfterMs = 0): void {
    if (this.closed) return;
    this.failure = { errorClass, text: `server connection: ${text}` };
    this.report(this.failure);
    const backOffMs = Math.min(longestBackOffMs, this.backOffMs * 2 ** this.failures);
    this.failures = Math.min(this.failures + 1, 16);
    clearTimeout(this.retry);
    const spreadMs = Math.random() * this.backOffMs;
    this.retry = setTimeout(
      () => inBackground(this.open()),
      Math.min(longestBackOffMs, Math.max(backOffMs, retryAfterMs)) + spreadMs,
    );
  }

  private newFrames(): ServiceFrames {
    return new ServiceFrames(maximumMessageBytes, (bytes, start, end) => {
      this.read(bytes, start, end);
    });
  }

  private read(bytes: Buffer, start: number, end: number): void {
    const message = readServiceMessage(bytes, start, end);
    if (message?.type === serviceType.ping) {
      if (message.messages[0] === 'echo') this.say(message);
    } else if (message?.type === serviceType.serviceError) {
      // The service takes nothing more over this connection; there is no code, only the text.
      this.connection?.drop(
        'closed',
        `the service reports an error: ${shownText(message.errorMessage)}`,
      );
    }
  }

  private say(message: ServiceMessage): void {
    this.connection?.sendBytes(encodeServiceMessage(message));
  }
}

export type SendAudience = 'everyone' | 'user' | 'group';

/** Hub frames of both protocols, of which the service sends each client its own. */
const sendLayout =
  (audience: SendAudience) =>
  (shape: MessageShape, lengths: HoleLengths): MessageLayout => {
    const pieces = new LayoutBuilder(lengths);
    if (audience === 'everyone') {
      pieces.add(broadcastHead);
    } else {
      const isGroup = audience === 'group';
      const type = isGroup ? serviceType.groupBroadcastData : serviceType.userData;
      pieces.add(arrayHead(isGroup ? 7 : 4), Buffer.from([type]), textHead(lengths.receiver));
      pieces.hole('receiver', 'text');
      if (isGroup) pieces.add(arrayHead(0));
    }
    const frames = [
      ['json', jsonLayout(shape, lengths)],
      ['messagepack', messagePackLayout(shape, lengths)],
    ] as const;
    pieces.add(Buffer.from([0x80 | frames.length]));
    for (const [protocol, layout] of frames) {
      pieces.add(encodeText(protocol), binaryHead(layout.body.length));
      pieces.nested(layout);
    }
    pieces.add(audience === 'group' ? groupTail : plainTail);
    return pieces.layout(lengthPrefix);
  };
