import {
  SendMessageError,
  WebPubSubClient,
  WebPubSubJsonProtocol,
  WebPubSubJsonReliableProtocol,
  type WebPubSubClientProtocol,
} from '@azure/web-pubsub-client';
import { OfficialConnection, throwError, type Opening } from '../hub/clientConnection';
import { hubMessageType, type HubMessage, type Invocation } from '../message/hubMessage';
import {
  ConnectFailure,
  failureFromClose,
  failureFromSocketError,
  shownError,
  StatusFailure,
  shownUrl,
} from '../connectFailure';
import type { OpenConnection } from '../connect/connectHub';
import { withQuery } from '../http/negotiationRequest';
import type { ConnectStopwatch } from '../socket/socket';
import type { Endpoint } from '../../base/endpoint';
import { proxyFor } from '../socket/proxy';
import { ackCompletion, closeMessage } from '../webpubsub/webPubSubCodec';

interface PubSubKeepAlive {
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

/** Defaults of the client. Source: `WebPubSubClientOptions` of `@azure/web-pubsub-client`. */
const officialKeepAlive: PubSubKeepAlive = { intervalMs: 20_000, timeoutMs: 120_000 };
/** How often waiting messages are tried again while the client is between two sockets. */
const retryMs = 250;
const mostWaiting = 10_000;

type Frame = Parameters<WebPubSubClientProtocol['writeMessage']>[0];

export function pubSubSdkOpener(keepAlive = officialKeepAlive): OpenConnection {
  return (url, opening) => PubSubSdkConnection.open(url, keepAlive, opening);
}

/**
 * One connection of the official client of Azure Web PubSub, by the public API of its package. A lost socket shows
 * only when a message cannot be sent, or when the service greets the client again.
 */
class PubSubSdkConnection extends OfficialConnection {
  connectionId: string | undefined;
  private readonly client: WebPubSubClient;
  private heardMs = performance.now();
  private writtenBytes = 0;
  private unsentBytes = 0;
  private waiting: Invocation[] = [];
  private retryTimer: NodeJS.Timeout | undefined;
  private lostMs = 0;

  private constructor(
    private readonly url: string,
    private readonly keepAlive: PubSubKeepAlive,
    opening: Opening,
  ) {
    super(opening);
    const { endpoint } = opening;
    const where = withQuery(url.replace(/^http/, 'ws'), endpoint.query);
    if (endpoint.accessToken !== undefined)
      where.searchParams.set('access_token', endpoint.accessToken);
    this.client = new WebPubSubClient(where.href, {
      protocol: this.watched(
        this.codec.recovery === undefined
          ? WebPubSubJsonProtocol()
          : WebPubSubJsonReliableProtocol(),
      ),
      // We reconnect, rejoin and resend ourselves, since these are counted.
      autoReconnect: false,
      autoRejoinGroups: false,
      messageRetryOptions: { maxRetries: 0 },
      keepAliveIntervalInMs: keepAlive.intervalMs,
      keepAliveTimeoutInMs: keepAlive.timeoutMs,
    });
    this.client.on('connected', ({ connectionId }) => this.connected(connectionId));
    this.client.on('group-message', ({ message }) => this.delivered(message.data));
    this.client.on('server-message', ({ message }) => this.delivered(message.data));
    this.client.on('stopped', () => this.ended(undefined));
  }

  static async open(
    url: string,
    keepAlive: PubSubKeepAlive,
    opening: Opening,
  ): Promise<PubSubSdkConnection> {
    const unknown = unknownSetting(opening.endpoint, url);
    if (unknown !== undefined) {
      const text = `the official client of Azure Web PubSub has no way to take ${unknown}: leave driver: sdk out`;
      throw new ConnectFailure('other', text);
    }
    const connection = new PubSubSdkConnection(url, keepAlive, opening);
    return connection.opens(url, opening, () => {
      connection.client.start().then(
        () => connection.started(opening.stopwatch),
        (error: unknown) => connection.ended(error),
      );
    });
  }

  sendMessage(message: HubMessage): number {
    if (message.type !== hubMessageType.invocation) return NaN;
    if (this.state === 'open') this.hand(message);
    else if (this.state === 'recovering') this.keep(message);
    return NaN;
  }

  close(): void {
    this.destroy();
  }

  destroy(): void {
    this.state = 'closed';
    this.waiting = [];
    clearTimeout(this.retryTimer);
    this.client.stop();
  }

  /** The client's own protocol, with a view of what its events do not report: pongs, close reasons, lengths. */
  private watched(inner: WebPubSubClientProtocol): WebPubSubClientProtocol {
    return {
      name: inner.name,
      isReliableSubProtocol: inner.isReliableSubProtocol,
      parseMessages: (input) => {
        try {
          const { maximumMessageBytes } = this.options;
          const bytes = typeof input === 'string' ? Buffer.byteLength(input) : input.byteLength;
          if (bytes > maximumMessageBytes)
            throw new Error(`a message of ${bytes} bytes is longer than ${maximumMessageBytes}`);
          const frames = [inner.parseMessages(input) ?? []].flat();
          for (const frame of frames) this.heard(frame);
          return frames;
        } catch (error) {
          // The client would throw it into the socket's events.
          this.drop('protocol', shownError(error));
          return null;
        }
      },
      writeMessage: (frame) => {
        if (frame.kind === 'ping') this.listener.pinged?.(this);
        const content = inner.writeMessage(frame);
        this.writtenBytes +=
          typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
        return content;
      },
    };
  }

  private heard(frame: Frame): void {
    this.heardMs = performance.now();
    if (this.state === 'closed') this.client.stop();
    else if (frame.kind === 'connected' && this.state === 'open') {
      this.interrupted('the client has taken another socket');
      this.recovered();
    } else if (this.state === 'recovering') this.recovered();
    if (frame.kind === 'pong') this.read({ type: hubMessageType.ping });
    else if (frame.kind === 'disconnected') this.read(closeMessage(frame.message));
  }

  private hand(message: Invocation): void {
    const { client } = this;
    const { target, invocationId } = message;
    const [first, second] = message.arguments;
    const ackId = invocationId === undefined ? undefined : Number(invocationId);
    const asking = ackId === undefined ? { fireAndForget: true } : { ackId };
    const before = this.writtenBytes;
    let sending: Promise<{ isDuplicated: boolean }>;
    if (target === 'JoinGroup') sending = client.joinGroup(String(first), asking);
    else if (target === 'LeaveGroup') sending = client.leaveGroup(String(first), asking);
    else if (target === 'SendToGroup')
      sending = client.sendToGroup(String(first), second as object, 'json', asking);
    else sending = client.sendEvent(target, first as object, 'json', asking);
    const bytes = this.writtenBytes - before;
    this.unsentBytes += bytes;
    const answer = (error?: object): void => {
      if (ackId !== undefined) this.read(ackCompletion(ackId, error));
    };
    sending
      .then(
        ({ isDuplicated }) =>
          answer(
            isDuplicated ? { name: 'Duplicate', message: 'it was carried out before' } : undefined,
          ),
        (error: unknown) => {
          const details = error instanceof SendMessageError ? error.errorDetail : undefined;
          if (details !== undefined) answer(details);
          else this.unsent(message);
        },
      )
      .finally(() => {
        this.unsentBytes -= bytes;
      })
      // Errors of the listener are defects of ours.
      .catch((error: unknown) => queueMicrotask(() => throwError(error)));
    if (this.unsentBytes > this.options.maximumUnsentBytes)
      this.drop('blocked', `${this.unsentBytes} bytes were waiting for the server to take them`);
  }

  private unsent(message: Invocation): void {
    if (this.codec.recovery === undefined) return;
    if (this.state === 'open') this.interrupted('the client could not send: it has no socket');
    if (this.state === 'recovering') this.keep(message);
  }

  private keep(message: Invocation): void {
    this.waiting.push(message);
    this.retryTimer ??= setTimeout(() => this.handWaiting(), retryMs);
    if (this.waiting.length > mostWaiting)
      this.drop('blocked', `${this.waiting.length} messages were waiting for another socket`);
  }

  private handWaiting(): void {
    const messages = this.waiting;
    this.waiting = [];
    clearTimeout(this.retryTimer);
    this.retryTimer = undefined;
    for (const message of messages) if (this.isOpen) this.hand(message);
  }

  private interrupted(text: string): void {
    this.state = 'recovering';
    this.lostMs = performance.now();
    this.listener.interrupted?.(this, 'closed', text);
  }

  private recovered(): void {
    this.state = 'open';
    this.closeReason = undefined;
    this.listener.recovered?.(this, performance.now() - this.lostMs);
    this.handWaiting();
  }

  private delivered(data: unknown): void {
    this.read({ type: hubMessageType.invocation, target: 'RecordLatency', arguments: [data] });
  }

  private started(stopwatch: ConnectStopwatch | undefined): void {
    // It cannot be stopped before it has a socket.
    if (this.state === 'closed') this.client.stop();
    else stopwatch?.done('upgrade');
  }

  private connected(connectionId: string): void {
    this.connectionId = connectionId;
    if (this.state === 'connecting') this.becomeOpen();
  }

  private ended(error: unknown): void {
    this.fail(this.reason(error));
  }

  private reason(error: unknown): ConnectFailure {
    const { timeoutMs } = this.keepAlive;
    if (timeoutMs > 0 && performance.now() - this.heardMs > timeoutMs) {
      const seconds = timeoutMs / 1000;
      const text = `the server sent nothing for ${seconds} s, not even a pong`;
      return new ConnectFailure('timeout', text);
    }
    if (error instanceof Error) {
      const status = Number(/^Unexpected server response: (\d{3})$/.exec(error.message)?.[1]);
      if (Number.isNaN(status)) return failureFromSocketError(error);
      const text = `upgrade: ${shownUrl(this.url)} answered ${status}`;
      return new StatusFailure(status, 'upgrade', text, undefined);
    }
    return failureFromClose('the connection is closed', this.closeReason ?? '');
  }
}

/** A setting of the endpoint that the client does not support, in words for people. */
function unknownSetting(endpoint: Endpoint, url: string): string | undefined {
  const { headers, ca, clientCertificate, insecureTls, proxies } = endpoint;
  if (Object.keys(headers).length > 0) return 'headers';
  if (proxyFor(new URL(url), proxies) !== undefined) return 'a proxy';
  if (!url.startsWith('https:')) return undefined;
  if (clientCertificate !== undefined) return 'a client certificate';
  if (ca !== undefined) return 'certificate authorities';
  return insecureTls ? 'certificates that nobody checks' : undefined;
}
