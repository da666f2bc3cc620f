/** An emulator of Azure SignalR Service: clients, app servers, REST calls and webhooks, in either mode. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceMessage } from '../../wire/service/serviceMessage';
import {
  answerPreflight,
  loopbackHost,
  refuse,
  refuseUpgrade,
  normalizedPathAndQuery,
  type UpgradeRequest,
  guardAsync,
} from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import {
  wantsEventStream,
  availableTransports,
  newConnectionId,
  SignalrClients,
  type ClientsHost,
} from '../http/signalrClients';
import type { HubTransport, PollLimits } from '../http/transports';
import type { ConnectionHost, HubConnection } from '../hub/hubConnection';
import type { Envelope } from '../../wire/message/hubMessage';
import { Emulator } from '../service/emulator';
import { RoutedClient, AppServerConnection, type DefaultModeHost } from './appServerConnection';
import { answerRest } from '../service/rest';
import {
  allowsTransport,
  forwardedHeaders,
  authenticateClient,
  authenticateServer,
  pollTimeoutMs,
  stickyServer,
  type ClientIdentity,
} from './clientIdentity';
import { signalrRest, type SignalrRestHost } from './signalrRest';
import { ServerlessClient, SignalrUpstream } from './serverlessEvents';
import { ServiceHub, ClientResults, serveRequest } from './serviceHub';
import type { AzureSignalrOptions } from '../service/emulatorOptions';

type AnyClient = RoutedClient | ServerlessClient;

function isClient(connection: HubConnection | ServiceConnection): connection is AnyClient {
  return connection instanceof RoutedClient || connection instanceof ServerlessClient;
}

type ServiceConnection = AnyClient | AppServerConnection;

const notFound: Refusal = { status: 404, text: 'The service has nothing at this path.' };
const noUpgrade: Refusal = { status: 400, text: 'App servers connect by WebSocket.' };
const maxMessageBytes = 1024 * 1024;
/** App servers send bursts of messages of 1 MiB. */
const maxFrameBytes = 16 * maxMessageBytes;

export class ServiceEmulator
  extends Emulator<ServiceConnection>
  implements SignalrRestHost, ConnectionHost, DefaultModeHost, ClientsHost
{
  readonly instanceId = newConnectionId();
  readonly maxMessageBytes = maxFrameBytes;
  readonly maxPostBytes = maxMessageBytes;
  readonly isHeld = false;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs = 15_000;
  readonly clientTimeoutMs = 30_000;
  readonly hubs = new Map<string, ServiceHub>();
  /** Milliseconds: the time from negotiate to connect. */
  private readonly clients = new SignalrClients(this, 5000);
  readonly upstream: SignalrUpstream;
  private readonly identities = new WeakMap<IncomingMessage, ClientIdentity>();
  private readonly clientResults = new ClientResults(this.instanceId);
  private readonly memberships = { used: 0 };
  private readonly serverConnections = new Map<AppServerConnection, ServiceHub>();

  constructor(private readonly options: AzureSignalrOptions) {
    super(options, maxFrameBytes);
    this.maxUnreadBytes = options.maxUnreadBytes ?? maxFrameBytes;
    const timeoutMs = options.upstreamTimeoutMs ?? 100_000;
    this.upstream = new SignalrUpstream(options.upstreams ?? [], timeoutMs, () => this.accessKeys);
  }

  get allowsDefaultMode(): boolean {
    return this.options.mode !== 'serverless';
  }

  get connectionString(): string {
    return `Endpoint=http://${loopbackHost};Port=${this.port};AccessKey=${this.accessKey};Version=1.0;`;
  }

  get counts() {
    const serverConnections = this.serverConnections.size;
    return {
      clients: this.all.size - serverConnections,
      serverConnections,
      refused: this.quota.refused,
    };
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
        ? new RoutedClient(
            id,
            this,
            transport,
            identity,
            forwardedHeaders(request, this.instanceId),
          )
        : new ServerlessClient(id, this, transport, identity),
    );
  }

  onOpened(connection: HubConnection): void {
    if (!(connection instanceof ServerlessClient)) return;
    connection.write(connection.protocol.handshakeFrame);
    this.hub(connection.identity.hub).add(connection);
    this.upstream.sendConnectionEvent('connected', connection);
  }

  onInvocation(connection: HubConnection, message: Envelope): void {
    if (connection instanceof ServerlessClient) this.upstream.sendInvocation(connection, message);
  }

  route(client: RoutedClient): AppServerConnection | undefined {
    const { hub, claims } = client.identity;
    const line = this.hub(hub).chooseServer(stickyServer(claims));
    if (line !== undefined) this.hub(hub).add(client);
    return line;
  }

  onClosing(client: HubConnection | RoutedClient): void {
    if (!isClient(client)) return;
    const wasOpen = this.hub(client.identity.hub).remove(client);
    if (wasOpen && client instanceof ServerlessClient)
      this.upstream.sendConnectionEvent('disconnected', client);
  }

  onClosed(client: HubConnection | RoutedClient): void {
    if (!isClient(client) || !this.all.has(client)) return;
    this.quota.release();
    this.remove(client);
  }

  onServerOpened(connection: AppServerConnection): void {
    this.serverConnections.get(connection)?.servers.add(connection);
  }

  onServerClosed(connection: AppServerConnection): void {
    this.serverConnections.get(connection)?.servers.delete(connection);
    if (!this.serverConnections.delete(connection)) return;
    this.quota.release();
    this.remove(connection);
  }

  onRequest(connection: AppServerConnection, message: ServiceMessage): void {
    const hub = this.serverConnections.get(connection);
    const { clientResults } = this;
    if (hub !== undefined) serveRequest(message, { hub, from: connection, clientResults });
  }

  protected sayGoodbye(): void {
    for (const connection of this.all) {
      if (connection instanceof AppServerConnection) connection.close();
      else connection.close(undefined, true);
    }
  }

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    const { path, query } = normalizedPathAndQuery(request);
    const isClient = path === '/client' || path === '/client/negotiate';
    if (isClient && answerPreflight(request, response)) return;
    if (/^\/(api|emulator)\//.test(path)) answerRest(signalrRest, this, request, response);
    else if (isClient) guardAsync(response, this.answerClient(path, query, request, response));
    else refuse(response, path === '/server' ? noUpgrade : notFound);
  }

  protected upgrade(upgrade: UpgradeRequest): void {
    const { path, query } = normalizedPathAndQuery(upgrade.request);
    if (path === '/client') guardAsync(upgrade.socket, this.upgradeClient(query, upgrade));
    else if (path === '/server') guardAsync(upgrade.socket, this.upgradeServer(query, upgrade));
    else refuseUpgrade(upgrade.socket, notFound);
  }

  private async answerClient(
    path: string,
    query: URLSearchParams,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const identity = await authenticateClient(this, request, query);
    if (response.destroyed) return;
    if ('status' in identity) {
      refuse(response, identity);
    } else if (path === '/client') {
      const id = query.get('id');
      const isNew = request.method === 'GET' && id !== null && !this.clients.isConnected(id);
      const transport = wantsEventStream(request) ? 'ServerSentEvents' : 'LongPolling';
      const refusal = isNew ? this.refusal(identity, transport) : undefined;
      this.identities.set(request, identity);
      if (refusal === undefined) this.clients.answer(request, response, id);
      else refuse(response, refusal);
    } else {
      const transports = availableTransports.filter(({ transport }) =>
        allowsTransport(identity.claims, transport),
      );
      this.clients.negotiate(request, response, query, () => this.quota.refusal(), transports);
    }
  }

  private refusal({ claims }: ClientIdentity, transport: string): Refusal | undefined {
    return allowsTransport(claims, transport)
      ? this.quota.refusal()
      : { status: 404, text: 'The access token does not allow this transport.' };
  }

  private async upgradeClient(query: URLSearchParams, upgrade: UpgradeRequest): Promise<void> {
    const { request, socket } = upgrade;
    const identity = await authenticateClient(this, request, query);
    if (socket.destroyed) return;
    if ('status' in identity) {
      refuseUpgrade(socket, identity);
      return;
    }
    this.identities.set(request, identity);
    this.clients.upgrade(upgrade, query.get('id'), this.refusal(identity, 'WebSockets'));
  }

  private async upgradeServer(query: URLSearchParams, upgrade: UpgradeRequest): Promise<void> {
    const { request, socket, head } = upgrade;
    const known = await authenticateServer(this, request, query);
    if (socket.destroyed) return;
    const admitted = 'status' in known ? known : (this.quota.refusal() ?? known);
    if ('status' in admitted) {
      refuseUpgrade(socket, admitted);
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      const line = new AppServerConnection(
        newConnectionId(),
        admitted.serverId,
        this,
        accepted,
        socket,
      );
      this.quota.take();
      this.serverConnections.set(line, this.hub(admitted.hub));
      this.add(line);
    });
  }

  protected tick(): void {
    const epochMs = Date.now();
    this.clients.removeExpired();
    this.clientResults.sweep();
    this.sweepHubs();
    for (const connection of this.all) connection.tick(this.tickMs, epochMs);
  }

  /** Requests create hubs by any name. */
  private sweepHubs(): void {
    const served = new Set(this.serverConnections.values());
    for (const hub of this.hubs.values()) {
      hub.userGroups.sweep();
      if (hub.isEmpty && !served.has(hub)) this.hubs.delete(hub.name);
    }
  }
}

export type AzureSignalr = Pick<
  ServiceEmulator,
  'accessKeys' | 'accessTokens' | 'connectionString' | 'counts' | 'dispose' | 'hub'
>;

/** @throws ExpectedError `port-taken` or `port-refused` */
export async function startAzureSignalr(options: AzureSignalrOptions = {}): Promise<AzureSignalr> {
  const emulator = new ServiceEmulator(options);
  await emulator.listen(options.port);
  return emulator;
}
