/** An emulator of Azure SignalR Service: clients, app servers, REST calls and webhooks, in either mode. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import {
  flowConnectionType,
  serviceType,
  type ServiceMessage,
} from '../../wire/service/serviceMessage';
import { HttpClients, type HttpClientsHost, type PollLimits } from '../http/httpTransport';
import { loopbackHost, refuseUpgrade, type Refusal } from '../http/loopbackServer';
import { ConnectionTokens, newId } from '../http/negotiate';
import { WebSocketTransport, type HubTransport } from '../http/webSocketTransport';
import type { ConnectionHost, HubConnection } from '../hub/hubConnection';
import type { HubMessage } from '../hubProtocol/serverProtocol';
import { Emulator } from '../service/emulator';
import { RoutedClient, ServerConnection, type DefaultModeHost } from './appServerConnection';
import { headersOf, pollTimeoutMs, wantedServer, type ClientIdentity } from './clientIdentity';
import { ServerlessClient, ServerlessEvents, Upstream } from './serverlessEvents';
import { ServiceHub } from './serviceHub';
import type { AzureSignalrOptions } from '../service/emulatorOptions';
import { ClientResults, serveRequest } from './serviceRequests';
import {
  admitServiceUpgrade,
  answerServiceRequest,
  type ServiceAdmission,
  type ServiceContext,
} from './serviceRouter';

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

function isClient(connection: HubConnection | ServiceConnection): connection is AnyClient {
  return connection instanceof RoutedClient || connection instanceof ServerlessClient;
}

type ServiceConnection = AnyClient | ServerConnection;

const maxMessageBytes = 1024 * 1024;
/**
 * A client sends no longer message over a WebSocket, though its app server may want less; and it is not sent more
 * than this while it does not read. App servers send messages as long, several in a row.
 */
const maxFrameBytes = 16 * maxMessageBytes;

/** Azure SignalR Service on loopback: the router between clients, app servers, REST and webhooks. */
export class ServiceEmulator
  extends Emulator<ServiceConnection>
  implements ServiceContext, ConnectionHost, DefaultModeHost, HttpClientsHost
{
  readonly instanceId = newId();
  readonly maxMessageBytes = maxFrameBytes;
  readonly maxPostBytes = maxMessageBytes;
  readonly isHeld = false;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs = 15_000;
  readonly clientTimeoutMs = 30_000;
  readonly hubs = new Map<string, ServiceHub>();
  readonly tokens: ConnectionTokens;
  readonly httpClients = new HttpClients(this);
  readonly upstream: Upstream;
  /** Who clients are that are about to connect, by their request. */
  readonly identities = new WeakMap<IncomingMessage, ClientIdentity>();
  private readonly clientResults = new ClientResults(this.instanceId);
  private readonly events: ServerlessEvents;
  private readonly memberships = { used: 0 };
  private readonly serverConnections = new Map<ServerConnection, ServiceHub>();

  constructor(private readonly options: AzureSignalrOptions) {
    super(options, maxFrameBytes);
    this.maxUnreadBytes = options.maxUnreadBytes ?? maxFrameBytes;
    this.tokens = new ConnectionTokens(options.connectWindowMs ?? 5000);
    const timeoutMs = options.upstreamTimeoutMs ?? 100_000;
    this.upstream = new Upstream(options.upstreams ?? [], timeoutMs, () => this.accessKeys);
    this.events = new ServerlessEvents(this.upstream);
  }

  get allowsDefaultMode(): boolean {
    return this.options.mode !== 'serverless';
  }

  get connectionString(): string {
    return `Endpoint=http://${loopbackHost};Port=${this.port};AccessKey=${this.accessKey};Version=1.0;`;
  }

  get counts(): AzureSignalrCounts {
    const serverConnections = this.serverConnections.size;
    return {
      clients: this.all.size - serverConnections,
      serverConnections,
      refused: this.quota.refused,
      upstreamSent: this.events.counts.sent,
      upstreamFailed: this.events.counts.failed,
    };
  }

  get faults(): ServiceFaults {
    return new ServiceFaults((name) => this.hub(name));
  }

  hub(name: string): ServiceHub {
    let hub = this.hubs.get(name);
    if (hub === undefined) {
      hub = new ServiceHub(name, this.memberships);
      this.hubs.set(name, hub);
    }
    return hub;
  }

  pollLimits(request: IncomingMessage): PollLimits {
    const claims = this.identities.get(request)?.claims ?? {};
    return { pollTimeoutMs: pollTimeoutMs(claims), disconnectTimeoutMs: 15_000 };
  }

  connected(id: string, transport: HubTransport, request: IncomingMessage): void {
    const identity = this.identities.get(request);
    if (identity === undefined) throw new Error('a client without identity');
    const isDefault = this.options.mode === 'default' || this.hub(identity.hub).hasAppServer;
    this.quota.take();
    this.add(
      isDefault
        ? new RoutedClient(id, this, transport, identity, headersOf(request, this.instanceId))
        : new ServerlessClient(id, this, transport, identity),
    );
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

  route(client: RoutedClient): ServerConnection | undefined {
    const { hub, claims } = client.identity;
    const line = this.hub(hub).chooseServer(wantedServer(claims));
    if (line !== undefined) this.hub(hub).add(client);
    return line;
  }

  closing(client: HubConnection | RoutedClient): void {
    if (!isClient(client)) return;
    const wasOpen = this.hub(client.identity.hub).remove(client);
    if (wasOpen && client instanceof ServerlessClient) this.events.disconnected(client);
  }

  gone(client: HubConnection | RoutedClient): void {
    if (!isClient(client) || !this.all.has(client)) return;
    this.quota.release();
    this.remove(client);
  }

  serverOpened(connection: ServerConnection): void {
    this.serverConnections.get(connection)?.servers.add(connection);
  }

  serverGone(connection: ServerConnection): void {
    this.serverConnections.get(connection)?.servers.delete(connection);
    if (!this.serverConnections.delete(connection)) return;
    this.quota.release();
    this.remove(connection);
  }

  requested(connection: ServerConnection, message: ServiceMessage): void {
    const hub = this.serverConnections.get(connection);
    if (hub !== undefined) serveRequest(this.clientResults, hub, connection, message);
  }

  override async dispose(): Promise<void> {
    await super.dispose();
    this.upstream.dispose();
  }

  protected sayGoodbye(): void {
    for (const connection of this.all) {
      if (connection instanceof ServerConnection) connection.close();
      else connection.close(undefined, true);
    }
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    answerServiceRequest(this, request, response).catch((error: unknown) => {
      response.destroy();
      // A defect of ours: it must be seen.
      process.nextTick(() => {
        throw error;
      });
    });
  }

  protected upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
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
    const refusal = this.quota.refusal(performance.now());
    if (refusal !== undefined) {
      refuseUpgrade(socket, refusal);
      return;
    }
    if (!('identity' in admission)) {
      this.sockets.handleUpgrade(request, socket, head, (accepted) => {
        const line = new ServerConnection(newId(), admission.serverId, this, accepted, socket);
        this.quota.take();
        this.serverConnections.set(line, this.hub(admission.hub));
        this.add(line);
      });
      return;
    }
    const { identity, negotiated } = admission;
    // A client may skip negotiation.
    const connectionId = negotiated === undefined ? newId() : this.tokens.take(negotiated);
    if (typeof connectionId !== 'string') {
      refuseUpgrade(socket, connectionId);
      return;
    }
    if (negotiated !== undefined) socket.once('close', () => this.tokens.release(negotiated));
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      this.identities.set(request, identity);
      this.connected(connectionId, new WebSocketTransport(accepted, socket), request);
    });
  }

  protected tick(): void {
    const epochMs = Date.now();
    this.tokens.sweep();
    this.clientResults.sweep();
    this.sweepHubs();
    for (const connection of this.all) connection.tick(this.tickMs, epochMs);
  }

  /** Forgets hubs that nobody is on; there is one for each name that anybody ever asked for. */
  private sweepHubs(): void {
    const served = new Set(this.serverConnections.values());
    for (const hub of this.hubs.values()) {
      hub.userGroups.sweep();
      if (hub.isEmpty && !served.has(hub)) this.hubs.delete(hub.name);
    }
  }
}

/** What a real service does now and then, on demand: for tests of app servers. */
export class ServiceFaults {
  constructor(private readonly hub: (name: string) => ServiceHub) {}

  /** Says the text to every app server; they stop sending then. */
  serviceError(hub: string, errorMessage: string): void {
    this.sendAll(hub, { type: serviceType.serviceError, errorMessage });
  }

  /** A ping with a meaning, such as `target` or `offline` and the name of an instance. */
  ping(hub: string, ...pairs: readonly string[]): void {
    this.sendAll(hub, { type: serviceType.ping, messages: pairs });
  }

  /**
   * Holds or releases what an app server writes to a client.
   * @param operation one of `flowOperation`
   */
  flowControl(hub: string, connectionId: string, operation: number): void {
    const client = this.hub(hub).clients.get(connectionId);
    if (!(client instanceof RoutedClient)) return;
    const type = serviceType.connectionFlowControl;
    const connectionType = flowConnectionType.client;
    client.line?.send({ type, connectionId, connectionType, operation });
  }

  /** Ends server connections of a hub, in order or at once; their clients may come back. */
  closeServers(hub: string, { count = Infinity, abruptly = false } = {}): void {
    for (const connection of [...this.hub(hub).servers].slice(0, count)) {
      if (abruptly) connection.terminate();
      else connection.close();
    }
  }

  private sendAll(hub: string, message: ServiceMessage): void {
    for (const connection of this.hub(hub).servers) connection.send(message);
  }
}

/** A running emulator of Azure SignalR Service; its connection string holds the access key. */
export type AzureSignalr = Pick<
  ServiceEmulator,
  'connectionString' | 'counts' | 'dispose' | 'faults' | 'rotateKeys'
>;

/**
 * Starts an emulator of Azure SignalR Service on loopback: clients, app servers, REST API, webhooks.
 * @throws ExpectedError `port-taken` or `port-refused` when it cannot listen on the port
 */
export async function startAzureSignalr(options: AzureSignalrOptions = {}): Promise<AzureSignalr> {
  const emulator = new ServiceEmulator(options);
  await emulator.listen(options.port);
  return emulator;
}
