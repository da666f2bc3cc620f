import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { PendingBytes } from '../../wire/socket/frameReader';
import { opcode } from '../../wire/socket/frame';
import { HubMessageError, recordSeparator } from '../../wire/message/hubMessage';
import { parseObject } from '../../wire/message/jsonScan';
import { encodeText } from '../../wire/message/messagePack';
import { ServiceFrames, ServiceOutput } from '../../wire/service/serviceStream';
import {
  serverConnectionType,
  serviceType,
  readServiceMessage,
  encodeServiceMessage,
  type ServiceMessage,
  type ServiceMessageOf,
} from '../../wire/service/serviceMessage';
import { faultReason } from '../http/loopbackServer';
import { slowClientReason, type HubTransport, type TransportOwner } from '../http/transports';
import {
  negotiateProtocol,
  handshakeErrorFrame,
  handshakeFailed,
  handshakeTimedOut,
  findProtocol,
} from '../hubProtocol/protocols';
import { serverFrame } from '../hubProtocol/serverProtocol';
import {
  claimPairs,
  closeWithTokenMs,
  handshakeTimeoutMs,
  type ClientIdentity,
  type HeaderList,
} from './clientIdentity';

export interface DefaultModeHost {
  readonly allowsDefaultMode: boolean;
  readonly maxUnreadBytes: number;
  readonly tickMs: number;
  onServerOpened(connection: AppServerConnection): void;
  onRequest(connection: AppServerConnection, message: ServiceMessage): void;
  onServerClosed(connection: AppServerConnection): void;
  route(client: RoutedClient): AppServerConnection | undefined;
  onClosing(client: RoutedClient): void;
  onClosed(client: RoutedClient): void;
}

/** Longest service message; more than the recommended 16 MB. */
const maxBodyBytes = 17 * 1024 * 1024;
const serverHandshakeMs = 15_000;
const serverPingMs = 5000;
const serverTimeoutMs = 30_000;
/** Unread bytes at which clients are no longer read. */
const fullBytes = 4 * 1024 * 1024;
/** Unread bytes at which the app server is closed. */
const lostBytes = 64 * 1024 * 1024;
const pingFrame = encodeServiceMessage({ type: serviceType.ping, messages: [] });

export class AppServerConnection {
  readonly clients = new Map<string, RoutedClient>();
  private state: 'handshake' | 'open' | 'leaving' | 'closed' = 'handshake';
  private kind: number = serverConnectionType.default;
  private readonly input: ServiceFrames;
  private readonly output = new ServiceOutput();
  private isFlushing = false;
  private isFull = false;
  private nextPingMs = 0;
  private lastSeenMs: number;

  constructor(
    private readonly id: string,
    readonly serverId: string,
    private readonly host: DefaultModeHost,
    private readonly socket: WebSocket,
    private readonly raw: Duplex,
  ) {
    this.lastSeenMs = host.tickMs;
    this.input = new ServiceFrames(maxBodyBytes, (bytes, start, end) =>
      this.read(bytes, start, end),
    );
    socket.on('message', (data: Buffer, isBinary: boolean) => this.arrived(data, isBinary));
    socket.on('ping', (data: Buffer) => {
      if (raw.writableLength <= fullBytes) socket.pong(data, false);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => this.gone());
    raw.on('drain', () => this.drained());
  }

  /** Weak connections only send. */
  get takesClients(): boolean {
    return this.state === 'open' && this.kind !== serverConnectionType.weak;
  }

  get isConnected(): boolean {
    return this.state === 'open' || this.state === 'leaving';
  }

  open(client: RoutedClient): void {
    this.clients.set(client.id, client);
    const { claims, query } = client.identity;
    this.send({
      type: serviceType.openConnection,
      connectionId: client.id,
      claims: claimPairs(claims),
      headers: client.takeHeaders(),
      queryString: query,
      protocol: client.protocolName,
    });
    if (this.isFull) client.transport.pause();
  }

  forward(client: RoutedClient, data: Buffer): void {
    this.output.connectionData(client.idText, 0, data, 0, data.length);
    this.flushSoon();
  }

  clientClosed(client: RoutedClient, errorMessage: string): void {
    if (!this.clients.delete(client.id)) return;
    this.send({ type: serviceType.closeConnection, connectionId: client.id, errorMessage });
  }

  send(message: ServiceMessage): void {
    if (this.state === 'closed') return;
    this.output.frame(encodeServiceMessage(message));
    this.flushSoon();
  }

  ping(...pairs: readonly string[]): void {
    this.send({ type: serviceType.ping, messages: pairs });
  }

  /** Takes no new clients, and keeps those it has. */
  leave(): void {
    if (this.state === 'open') this.state = 'leaving';
  }

  close(code = 1001): void {
    this.flush();
    this.socket.close(code);
  }

  terminate(): void {
    this.socket.terminate();
  }

  tick(nowMs: number): void {
    if (this.state === 'closed') return;
    const silentMs = nowMs - this.lastSeenMs;
    if (this.state === 'handshake') {
      if (silentMs > serverHandshakeMs) this.close(1000);
      return;
    }
    if (silentMs > serverTimeoutMs) {
      this.terminate();
    } else if (nowMs >= this.nextPingMs) {
      this.nextPingMs = nowMs + serverPingMs;
      this.output.frame(pingFrame);
      this.flushSoon();
    }
  }

  private arrived(data: Buffer, isBinary: boolean): void {
    this.lastSeenMs = this.host.tickMs;
    try {
      if (!isBinary) throw new HubMessageError('text where only bytes are spoken');
      this.input.push(data);
    } catch (error) {
      faultReason(error);
      this.close(1002);
    }
  }

  private read(bytes: Buffer, start: number, end: number): void {
    if (this.state === 'closed') return;
    let message: ServiceMessage | undefined;
    try {
      message = readServiceMessage(bytes, start, end);
    } catch (error) {
      if (!(error instanceof HubMessageError)) throw error;
      // As the SDK, skips the unreadable message.
      if (this.state === 'handshake') this.refuse('The handshake cannot be read.');
      return;
    }
    if (message === undefined) return;
    if (this.state === 'handshake') {
      if (message.type === serviceType.handshakeRequest) this.handshake(message);
      else this.refuse('The first message must be a handshake.');
    } else if (message.type === serviceType.connectionData) {
      this.clients.get(message.connectionId)?.receive(message.payload, message.isPartial === true);
      return;
    }
    if (message.type === serviceType.closeConnection) {
      const own = this.clients.get(message.connectionId);
      if (own !== undefined) {
        this.clients.delete(own.id);
        own.closeByServer(message.errorMessage);
        return;
      }
    }
    this.host.onRequest(this, message);
  }

  private handshake({ version, connectionType }: ServiceMessageOf<1>): void {
    this.kind = connectionType;
    if (version !== 1) {
      this.refuse(`Version ${version} of the service protocol is not supported.`);
    } else if (!this.host.allowsDefaultMode && connectionType !== serverConnectionType.weak) {
      this.refuse('The service is in serverless mode: it takes no server connections.');
    } else {
      this.state = 'open';
      this.nextPingMs = this.host.tickMs + serverPingMs;
      const { id: connectionId } = this;
      this.send({ type: serviceType.handshakeResponse, errorMessage: '', connectionId });
      this.host.onServerOpened(this);
    }
  }

  private refuse(errorMessage: string): void {
    this.send({ type: serviceType.handshakeResponse, errorMessage });
    this.close(1000);
    this.state = 'closed';
  }

  private flushSoon(): void {
    if (this.isFlushing) return;
    this.isFlushing = true;
    setImmediate(() => this.flush());
  }

  private flush(): void {
    this.isFlushing = false;
    if (this.output.length === 0) return;
    const bytes = this.output.take();
    if (this.state === 'closed' || !this.raw.writable) return;
    this.raw.write(serverFrame(opcode.binary, bytes));
    const unread = this.raw.writableLength;
    if (unread > lostBytes) {
      this.terminate();
    } else if (unread > fullBytes && !this.isFull) {
      this.isFull = true;
      for (const client of this.clients.values()) client.transport.pause();
    }
  }

  private drained(): void {
    if (!this.isFull) return;
    this.isFull = false;
    for (const client of this.clients.values()) client.transport.resume();
  }

  private gone(): void {
    this.state = 'closed';
    const clients = [...this.clients.values()];
    this.clients.clear();
    this.host.onServerClosed(this);
    for (const client of clients) client.closeByServer('', true);
  }
}

const maxHandshakeBytes = 16 * 1024;
const maxPartialBytes = 16 * 1024 * 1024;
const maxHeldFrames = 1000;

function handshakeProtocol(text: string): string | undefined {
  const protocol = parseObject(text)?.['protocol'];
  return typeof protocol === 'string' && protocol.length <= 64 ? protocol.toLowerCase() : undefined;
}

/** A client in default mode: its app server gets what it sends, unchanged. */
export class RoutedClient implements TransportOwner {
  groups: Set<string> | undefined;
  protocolName = 'json';
  readonly idText: Buffer;
  serverConnection: AppServerConnection | undefined;
  private state: 'handshake' | 'routed' | 'open' | 'closing' = 'handshake';
  private rest: PendingBytes | undefined;
  /** Frames that came before the app server answered the handshake. */
  private framesBeforeHandshake: Buffer[] = [];
  private heldBytes = 0;
  private headers: HeaderList | undefined;
  private readonly handshakeDueMs: number;

  constructor(
    readonly id: string,
    private readonly host: DefaultModeHost,
    readonly transport: HubTransport,
    readonly identity: ClientIdentity,
    headers: HeaderList,
  ) {
    this.idText = encodeText(id);
    this.headers = headers;
    this.handshakeDueMs = host.tickMs + handshakeTimeoutMs(identity.claims);
    transport.attach(this);
  }

  get userId(): string | undefined {
    return this.identity.userId;
  }

  takeHeaders(): HeaderList {
    const { headers = [] } = this;
    this.headers = undefined;
    return headers;
  }

  onData(data: Buffer): void {
    if (this.state === 'closing') return;
    if (this.serverConnection !== undefined) this.serverConnection.forward(this, data);
    else this.readHandshake(data);
  }

  onFault(reason: string): void {
    this.close(`Closed: ${reason}`, true);
  }

  receive(payload: Buffer, isPartial: boolean): void {
    if (this.state === 'closing' || payload.length === 0) return;
    if (isPartial || this.rest !== undefined) {
      this.rest ??= new PendingBytes();
      this.rest.append(payload);
      if (this.rest.length > maxPartialBytes) this.close('Closed: a message is too long.', true);
      if (isPartial) return;
    }
    const whole = this.rest?.take() ?? payload;
    this.rest = undefined;
    if (this.state === 'routed') this.handshakeAnswered(whole);
    else this.write(this.frame(whole));
  }

  write(frame: Buffer): void {
    if (this.state === 'routed') this.hold(frame);
    else if (this.state === 'open' && this.hasRoom()) this.transport.write(frame);
  }

  close(error?: string, allowReconnect = false, code = 1000): void {
    if (this.state === 'closing') return;
    this.serverConnection?.clientClosed(this, error ?? '');
    this.end(this.closeFrame(error, allowReconnect), code);
  }

  closeByServer(error: string, allowReconnect = false): void {
    const says = error !== '' || allowReconnect;
    this.end(says ? this.closeFrame(error === '' ? undefined : error, allowReconnect) : undefined);
  }

  terminate(): void {
    this.end(undefined);
    this.transport.terminate();
  }

  onClosed(): void {
    if (this.state !== 'closing') {
      this.serverConnection?.clientClosed(this, '');
      this.end(undefined);
    }
    this.host.onClosed(this);
  }

  hasRoom(): boolean {
    const { maxUnreadBytes } = this.host;
    if (this.transport.unreadBytes <= maxUnreadBytes) return true;
    this.close(slowClientReason(maxUnreadBytes), true, 1008);
    return false;
  }

  tick(nowMs: number, epochMs: number): void {
    this.transport.tick?.(nowMs);
    if (this.state === 'handshake' && nowMs >= this.handshakeDueMs) {
      this.end(handshakeErrorFrame(handshakeTimedOut));
    }
    if (epochMs >= (closeWithTokenMs(this.identity.claims) ?? Infinity)) {
      this.close('The access token has expired.');
    }
  }

  private readHandshake(data: Buffer): void {
    this.rest ??= new PendingBytes();
    this.rest.append(data);
    const { length } = this.rest;
    const end = this.rest.first(length).indexOf(recordSeparator);
    if (end < 0) {
      if (length > maxHandshakeBytes) this.end(handshakeErrorFrame(handshakeFailed));
      return;
    }
    const bytes = this.rest.take();
    this.rest = undefined;
    const text = bytes.toString('utf8', 0, end);
    const protocol = handshakeProtocol(text);
    const { carriesBinary } = this.transport;
    if (protocol === undefined || (protocol !== 'json' && !carriesBinary)) {
      const reason = negotiateProtocol(text, carriesBinary);
      this.end(handshakeErrorFrame(typeof reason === 'string' ? reason : handshakeFailed));
      return;
    }
    this.protocolName = protocol;
    this.state = 'routed';
    this.serverConnection = this.host.route(this);
    if (this.serverConnection === undefined) {
      this.end(handshakeErrorFrame('No app server is connected to the service.'));
    } else {
      this.serverConnection.open(this);
      this.serverConnection.forward(this, bytes);
    }
  }

  private handshakeAnswered(whole: Buffer): void {
    this.state = 'open';
    const held = this.framesBeforeHandshake.splice(0);
    if (held.length === 0) {
      this.write(this.frame(whole));
    } else if (this.hasRoom()) {
      const separatorAt = whole.indexOf(recordSeparator);
      const end = separatorAt < 0 ? whole.length : separatorAt + 1;
      this.transport.write(this.frame(whole.subarray(0, end)));
      const refuses =
        separatorAt < 0 || /"error"\s*:\s*"/.test(whole.toString('utf8', 0, separatorAt));
      if (!refuses) for (const frame of held) this.transport.write(frame);
      if (end < whole.length) this.write(this.frame(whole.subarray(end)));
    }
  }

  private hold(frame: Buffer): void {
    this.framesBeforeHandshake.push(frame);
    this.heldBytes += frame.length;
    const maxBytes = this.host.maxUnreadBytes;
    if (this.framesBeforeHandshake.length <= maxHeldFrames && this.heldBytes <= maxBytes) return;
    const overflow = `Closed: more than ${maxHeldFrames} messages or ${maxBytes} bytes were waiting for the answer to the handshake of this client.`;
    this.serverConnection?.clientClosed(this, overflow);
    this.end(handshakeErrorFrame(overflow), 1008);
  }

  private frame(payload: Buffer): Buffer {
    return serverFrame(this.protocolName === 'json' ? opcode.text : opcode.binary, payload);
  }

  private closeFrame(error: string | undefined, allowReconnect: boolean): Buffer | undefined {
    if (this.state !== 'open') return undefined;
    return findProtocol(this.protocolName)?.closeFrame(error, allowReconnect);
  }

  private end(lastFrame: Buffer | undefined, code = 1000): void {
    if (this.state === 'closing') return;
    this.state = 'closing';
    this.framesBeforeHandshake = [];
    this.host.onClosing(this);
    if (lastFrame !== undefined && this.transport.isWritable) this.transport.write(lastFrame);
    this.transport.close(code);
  }
}
