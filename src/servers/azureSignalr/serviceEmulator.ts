import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import type { ServiceMessage } from '../../wire/service/serviceMessage';
import { ConnectionTokens, newId } from '../http/connectionTokens';
import type { ConnectionHost, HubConnection } from '../hub/hubConnection';
import type { HubMessage } from '../hubProtocol/hubEnvelope';
import type { Refusal } from '../http/hubGate';
import { admitNegotiated, refuseUpgrade, type Admission } from '../http/hubRequests';
import type { HubTransport } from '../http/hubTransport';
import { WebSocketTransport } from '../http/webSocketTransport';
import { HttpClients, type HttpClientsHost } from '../http/httpClients';
import type { PollLimits } from '../http/httpTransport';
import { listenOnLoopback, loopbackServer, webSocketServer } from '../http/loopbackServer';
import { TokenCheck } from '../service/tokenCheck';
import { headersOf, pollTimeoutMs, wantedServer, type ClientIdentity } from './clientIdentity';
import { ClientResults } from './clientResults';
import { ConnectionQuota } from '../service/connectionQuota';
import { RoutedClient, type RoutedClientHost } from './routedClient';
import { ServerConnection, type ServerConnectionHost } from './appServerConnection';
import { ServerlessClient, ServerlessEvents } from './serverlessEvents';
import { ServiceHub, type AppServerLine } from './serviceHub';
import { publicAccessKey, type AzureSignalrOptions, type ServiceMode } from './serviceOptions';
import {
  admitServiceUpgrade,
  answerServiceRequest,
  type ServiceAdmission,
  type ServiceContext,
} from './serviceRouter';
import { serveRequest } from './serviceRequests';
import { Upstream } from './signalrUpstream';
import { ServiceFaults } from './serviceFaults';

/** What the emulator has done so far. */
export interface AzureSignalrCounts {
  /** Clients past the connect, in any mode. */
  readonly clients: number;
  readonly serverConnections: number;
  /** Connections refused by the quota. */
  readonly refused: number;
  /** Events sent to webhooks, and those without a good answer. */
  readonly upstreamSent: number;
  readonly upstreamFailed: number;
}

type AnyClient = RoutedClient | ServerlessClient;

function isClient(connection: HubConnection | RoutedClient): connection is AnyClient {
  return connection instanceof RoutedClient || connection instanceof ServerlessClient;
}

const names = ['127.0.0.1', 'localhost', '[::1]'];
const tickMs = 1000;
const maxMessageBytes = 1024 * 1024;
/**
 * A client sends no longer message over a WebSocket, though its app server may want less; and it is not sent more
 * than this while it does not read. App servers send messages as long, several in a row.
 */
const maxFrameBytes = 16 * maxMessageBytes;
const disposeTimeoutMs = 500;
/** A client that skipped negotiation. */
const newClient: Admission = { connectionId: undefined, token: undefined };

/** Azure SignalR Service on loopback: the router between clients, app servers, REST and webhooks. */
export class ServiceEmulator
  implements ServiceContext, ConnectionHost, RoutedClientHost, ServerConnectionHost, HttpClientsHost
{
  readonly instanceId = newId();
  readonly maxMessageBytes = maxFrameBytes;
  readonly maxPostBytes = maxMessageBytes;
  readonly isHeld = false;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs: number;
  readonly serverPingMs: number;
  readonly serverTimeoutMs: number;
  readonly hubs = new Map<string, ServiceHub>();
  readonly clientResults = new ClientResults(this.instanceId);
  readonly tokens: ConnectionTokens;
  readonly accessTokens: TokenCheck;
  readonly quota: ConnectionQuota;
  readonly httpClients = new HttpClients(this);
  readonly upstream: Upstream;
  /** Who clients are that are about to connect, by their request. */
  readonly identities = new WeakMap<IncomingMessage, ClientIdentity>();
  readonly mode: ServiceMode | undefined;
  tickMs = performance.now();
  port = 0;
  private accessKeys: readonly string[];
  private readonly events: ServerlessEvents;
  private readonly memberships = { used: 0 };
  private readonly all = new Set<AnyClient>();
  private readonly serverConnections = new Set<ServerConnection>();
  private readonly sockets: WebSocketServer = webSocketServer(maxFrameBytes);
  private readonly server: Server;
  private timer: NodeJS.Timeout | undefined;
  private isDisposed = false;
  private allGone: () => void = () => undefined;

  constructor(private readonly options: AzureSignalrOptions) {
    this.mode = options.mode;
    this.maxUnreadBytes = options.maxUnreadBytes ?? maxFrameBytes;
    this.keepAliveMs = options.keepAliveMs ?? 15_000;
    this.clientTimeoutMs = options.clientTimeoutMs ?? 30_000;
    this.serverPingMs = options.serverPingMs ?? 5000;
    this.serverTimeoutMs = options.serverTimeoutMs ?? 30_000;
    this.tokens = new ConnectionTokens(options.connectWindowMs ?? 5000);
    this.accessKeys = options.accessKeys ?? [publicAccessKey];
    this.accessTokens = new TokenCheck({ accessKeys: this.accessKeys, signIns: options.signIns });
    this.quota = new ConnectionQuota(options);
    const timeoutMs = options.upstreamTimeoutMs ?? 100_000;
    this.upstream = new Upstream(options.upstreams ?? [], timeoutMs, () => this.accessKeys);
    this.events = new ServerlessEvents(this.upstream);
    this.server = loopbackServer({
      answer: (request, response) => this.answer(request, response),
      upgrade: (request, socket, head) => this.upgrade(request, socket, head),
    });
  }

  get allowsDefaultMode(): boolean {
    return this.mode !== 'serverless';
  }

  get accessKey(): string {
    return this.accessKeys[0] ?? '';
  }

  get connectionString(): string {
    const endpoint = `Endpoint=http://${names[0]};Port=${this.port}`;
    return `${endpoint};AccessKey=${this.accessKey};Version=1.0;`;
  }

  get counts(): AzureSignalrCounts {
    return {
      clients: this.all.size,
      serverConnections: this.serverConnections.size,
      refused: this.quota.refused,
      upstreamSent: this.events.counts.sent,
      upstreamFailed: this.events.counts.failed,
    };
  }

  nowMs(): number {
    return performance.now();
  }

  urlsOf(path: string): string[] {
    return names.map((name) => `http://${name}:${this.port}${path}`);
  }

  hub(name: string): ServiceHub {
    let hub = this.hubs.get(name);
    if (hub === undefined) {
      hub = new ServiceHub(name, this.memberships);
      this.hubs.set(name, hub);
    }
    return hub;
  }

  async listen(): Promise<void> {
    this.port = await listenOnLoopback(this.server, this.options.port ?? 0);
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  /** From now on, tokens are signed with these keys; the first one is the primary. */
  rotateKeys(accessKeys: readonly string[]): void {
    this.accessKeys = accessKeys;
    this.accessTokens.rotate(accessKeys);
  }

  pollLimits(request: IncomingMessage): PollLimits {
    const claims = this.identities.get(request)?.claims ?? {};
    return { pollTimeoutMs: pollTimeoutMs(claims), disconnectTimeoutMs: 15_000 };
  }

  connected(id: string, transport: HubTransport, request: IncomingMessage): void {
    const identity = this.identities.get(request);
    if (identity === undefined) throw new Error('a client without identity');
    const isDefault = this.mode === 'default' || this.hub(identity.hub).servers.takeClients;
    const client = isDefault
      ? new RoutedClient(id, this, transport, identity, headersOf(request, this.instanceId))
      : new ServerlessClient(id, this, transport, identity);
    this.quota.take();
    this.all.add(client);
    if (this.isDisposed) client.terminate();
  }

  opened(connection: HubConnection): void {
    if (!(connection instanceof ServerlessClient)) return;
    connection.write(connection.protocol.handshakeFrame);
    this.hub(connection.identity.hub).add(connection);
    this.events.connected(connection);
  }

  invoked(connection: HubConnection, message: HubMessage): void {
    if (connection instanceof ServerlessClient) this.events.invoked(connection, message);
  }

  route(client: RoutedClient): AppServerLine | undefined {
    const { hub, claims } = client.identity;
    const line = this.hub(hub).servers.choose(wantedServer(claims));
    if (line !== undefined) this.hub(hub).add(client);
    return line;
  }

  closing(client: HubConnection | RoutedClient): void {
    if (!isClient(client)) return;
    const hub = this.hub(client.identity.hub);
    const wasOpen = hub.clients.has(client.id);
    hub.remove(client);
    if (wasOpen && client instanceof ServerlessClient) this.events.disconnected(client);
  }

  gone(client: HubConnection | RoutedClient): void {
    if (!isClient(client) || !this.all.delete(client)) return;
    this.closing(client);
    this.quota.release();
    this.noteGone();
  }

  serverOpened(connection: ServerConnection): void {
    connection.hub.servers.connections.add(connection);
  }

  serverGone(connection: ServerConnection): void {
    if (!this.serverConnections.delete(connection)) return;
    connection.hub.servers.connections.delete(connection);
    this.quota.release();
    this.noteGone();
  }

  requested(connection: ServerConnection, message: ServiceMessage): void {
    serveRequest(this, connection, message);
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    clearInterval(this.timer);
    for (const client of this.all) client.close(undefined, true);
    for (const connection of this.serverConnections) connection.close();
    if (this.all.size + this.serverConnections.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, disposeTimeoutMs);
        this.allGone = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      for (const each of [...this.all, ...this.serverConnections]) each.terminate();
    }
    this.upstream.dispose();
    const stopped = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await stopped;
  }

  private noteGone(): void {
    if (this.all.size + this.serverConnections.size === 0) this.allGone();
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    answerServiceRequest(this, request, response).catch((error: unknown) => {
      response.destroy();
      // A defect of ours: it must be seen.
      process.nextTick(() => {
        throw error;
      });
    });
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    void admitServiceUpgrade(this, request).then((admission) => {
      if (!socket.destroyed) this.accept(admission, request, socket, head);
    });
  }

  private accept(
    admission: ServiceAdmission | Refusal,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): void {
    if ('status' in admission) {
      refuseUpgrade(socket, admission);
      return;
    }
    const negotiated = 'identity' in admission ? admission.negotiated : undefined;
    const known: Admission | Refusal =
      this.quota.refusal(this.nowMs()) ??
      (negotiated === undefined ? newClient : admitNegotiated(this, negotiated));
    if ('status' in known) {
      refuseUpgrade(socket, known);
      return;
    }
    const { connectionId = newId() } = known;
    socket.once('close', () => {
      if (negotiated !== undefined) this.tokens.release(negotiated);
    });
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      if ('identity' in admission) {
        this.identities.set(request, admission.identity);
        const transport = new WebSocketTransport(accepted, socket);
        this.connected(connectionId, transport, request);
      } else {
        const hub = this.hub(admission.hub);
        const line = new ServerConnection(newId(), hub, admission.serverId, this, accepted, socket);
        this.quota.take();
        this.serverConnections.add(line);
        if (this.isDisposed) line.terminate();
      }
    });
  }

  private tick(): void {
    this.tickMs = performance.now();
    const epochMs = Date.now();
    this.tokens.sweep(this.tickMs);
    this.clientResults.sweep(this.tickMs);
    this.sweepHubs();
    for (const client of this.all) client.tick(this.tickMs, epochMs);
    for (const connection of this.serverConnections) connection.tick(this.tickMs);
  }
  /** Forgets hubs that nobody is on; there is one for each name that anybody ever asked for. */
  private sweepHubs(): void {
    const served = new Set([...this.serverConnections].map(({ hub }) => hub));
    for (const hub of this.hubs.values()) {
      hub.userGroups.sweep(this.tickMs);
      if (hub.isEmpty && !served.has(hub)) this.hubs.delete(hub.name);
    }
  }
}

/** A running emulator of Azure SignalR Service. */
export interface AzureSignalr {
  /** Holds the access key. */
  readonly connectionString: string;
  readonly counts: AzureSignalrCounts;
  readonly faults: ServiceFaults;
  /** From now on these access keys are accepted, and no others; the first one is the primary. */
  rotateKeys(accessKeys: readonly string[]): void;
  /** Closes every connection, stops listening, and leaves nothing open. */
  dispose(): Promise<void>;
}

/**
 * Starts an emulator of Azure SignalR Service on loopback: clients, app servers, REST API, webhooks.
 * @throws ExpectedError `port-taken` or `port-refused` when it cannot listen on the port
 */
export async function startAzureSignalr(options: AzureSignalrOptions = {}): Promise<AzureSignalr> {
  const emulator = new ServiceEmulator(options);
  await emulator.listen();
  const faults = new ServiceFaults((name) => emulator.hub(name));
  return {
    get connectionString() {
      return emulator.connectionString;
    },
    get counts() {
      return emulator.counts;
    },
    faults,
    rotateKeys: (accessKeys) => emulator.rotateKeys(accessKeys),
    dispose: () => emulator.dispose(),
  };
}
