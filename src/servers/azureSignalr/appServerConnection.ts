import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { opcode } from '../../wire/socket/frame';
import { HubMessageError } from '../../wire/message/hubMessage';
import { ServiceFrames, ServiceOutput } from '../../wire/service/serviceStream';
import {
  serverConnectionType,
  serviceType,
  readServiceMessage,
  encodeServiceMessage,
  type ServiceMessage,
  type ServiceMessageOf,
} from '../../wire/service/serviceMessage';
import { serverFrame } from '../hubProtocol/serverFrame';
import { claimPairs } from './clientIdentity';
import type { AppServerLine, LineClient, ServiceHub } from './serviceHub';

/** What a server connection needs from the service. */
export interface ServerConnectionHost {
  /** Whether app servers may run hubs here at all. */
  readonly allowsDefaultMode: boolean;
  readonly serverPingMs: number;
  readonly serverTimeoutMs: number;
  /** Milliseconds, as of the last tick. */
  readonly tickMs: number;
  /** Its handshake is done. */
  serverOpened(connection: ServerConnection): void;
  /** Everything an app server asks for, but the data of its clients. */
  requested(connection: ServerConnection, message: ServiceMessage): void;
  serverGone(connection: ServerConnection): void;
}

/** Longest service message; more than the 16 MB that clients and app servers are advised to stay below. */
const maxBodyBytes = 17 * 1024 * 1024;
const handshakeTimeoutMs = 15_000;
/** Above this much unread by the app server, nothing more is read from its clients. */
const fullBytes = 4 * 1024 * 1024;
/** Above this much, it is gone: pings and acks do not wait for anybody. */
const lostBytes = 64 * 1024 * 1024;
const pingFrame = encodeServiceMessage({ type: serviceType.ping, messages: [] });

/** One connection of an app server, speaking the service protocol. */
export class ServerConnection implements AppServerLine {
  /** Clients that are served over it. */
  readonly clients = new Map<string, LineClient>();
  private state: 'handshake' | 'open' | 'leaving' | 'closed' = 'handshake';
  private kind: number = serverConnectionType.default;
  private readonly input: ServiceFrames;
  private readonly output = new ServiceOutput();
  private isFlushing = false;
  private isFull = false;
  private nextPingMs = 0;
  private lastSeenMs: number;

  constructor(
    readonly id: string,
    readonly hub: ServiceHub,
    /** Which process it belongs to. */
    readonly serverId: string,
    private readonly host: ServerConnectionHost,
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

  /** Whether new clients may be routed to it. Weak connections only send. */
  get takesClients(): boolean {
    return this.state === 'open' && this.kind !== serverConnectionType.weak;
  }

  get isReady(): boolean {
    return this.state === 'open' || this.state === 'leaving';
  }

  /** Announces a new client to the app server. */
  open(client: LineClient): void {
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
    if (this.isFull) client.pause();
  }

  /** Hands on what a client sent, as it came. */
  forward(client: LineClient, data: Buffer): void {
    this.output.connectionData(client.idText, 0, data, 0, data.length);
    this.flushSoon();
  }

  /** A client is gone, or closed by the service. */
  clientClosed(client: LineClient, errorMessage: string): void {
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

  /** The app server leaves: it gets no new clients, and keeps those it has. */
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
      if (silentMs > handshakeTimeoutMs) this.close(1000);
      return;
    }
    if (silentMs > this.host.serverTimeoutMs) {
      this.terminate();
    } else if (nowMs >= this.nextPingMs) {
      this.nextPingMs = nowMs + this.host.serverPingMs;
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
      if (!(error instanceof HubMessageError)) throw error;
      // The beginning of the next message cannot be found.
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
      // As the SDK does: what cannot be read is left out, the connection stays.
      if (this.state === 'handshake') this.refuse('The handshake cannot be read.');
      return;
    }
    if (message === undefined) return;
    if (this.state === 'handshake') {
      if (message.type === serviceType.handshakeRequest) this.handshake(message);
      else this.refuse('The first message must be a handshake.');
    } else if (message.type === serviceType.connectionData) {
      this.clients.get(message.connectionId)?.receive(message.payload, message.isPartial === true);
    } else if (message.type === serviceType.closeConnection) {
      this.closed(message);
    } else {
      this.host.requested(this, message);
    }
  }

  private closed({ connectionId, errorMessage }: ServiceMessageOf<5>): void {
    const own = this.clients.get(connectionId);
    if (own === undefined) {
      // Whoever manages the hub may close any client; the app server of the client hears of it.
      const reason = errorMessage === '' ? undefined : errorMessage;
      this.hub.clients.get(connectionId)?.close(reason);
    } else {
      this.clients.delete(connectionId);
      own.closeByServer(errorMessage);
    }
  }

  private handshake({ version, connectionType }: ServiceMessageOf<1>): void {
    this.kind = connectionType;
    if (version !== 1) {
      this.refuse(`Version ${version} of the service protocol is not supported.`);
    } else if (!this.host.allowsDefaultMode && connectionType !== serverConnectionType.weak) {
      this.refuse('The service is in serverless mode: it takes no server connections.');
    } else {
      this.state = 'open';
      this.nextPingMs = this.host.tickMs + this.host.serverPingMs;
      const { id } = this;
      this.send({ type: serviceType.handshakeResponse, errorMessage: '', connectionId: id });
      this.host.serverOpened(this);
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
    // Everything that happens in one turn goes out as one WebSocket message.
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
      for (const client of this.clients.values()) client.pause();
    }
  }

  private drained(): void {
    if (!this.isFull) return;
    this.isFull = false;
    for (const client of this.clients.values()) client.resume();
  }

  private gone(): void {
    this.state = 'closed';
    const clients = [...this.clients.values()];
    this.clients.clear();
    this.host.serverGone(this);
    for (const client of clients) client.closeByServer('', true);
  }
}
