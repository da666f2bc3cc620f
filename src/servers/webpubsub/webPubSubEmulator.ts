import type { IncomingMessage, Server } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import { ExpectedError } from '../../base/expectedError';
import {
  subprotocolNamed,
  type ClientMessage,
  type Payload,
} from '../../wire/webpubsub/pubSubMessage';
import { publicAccessKey } from '../azureSignalr/serviceOptions';
import { ConnectionQuota } from '../service/connectionQuota';
import { newId } from '../http/connectionTokens';
import type { Refusal } from '../http/hubGate';
import { refuseUpgrade } from '../http/hubRequests';
import {
  listenOnLoopback,
  loopbackHost,
  loopbackServer,
  webSocketServer,
} from '../http/loopbackServer';
import { TokenCheck } from '../service/tokenCheck';
import { WebSocketTransport } from '../http/webSocketTransport';
import {
  admit,
  readConnect,
  type Admission,
  type AdmissionContext,
  type ConnectRequest,
} from './admission';
import { Client } from './client';
import { carryOut, raiseMessage, sourceOf, type ClientContext } from './clientRequests';
import { systemEvent } from './cloudEvent';
import type { WebPubSubEmulatorOptions } from './emulatorOptions';
import { Permissions } from './permissions';
import { PubSubHub, type HubOwner } from './pubSubHub';
import { answerRest, type RestHost } from './rest';
import { handlerProblem, Upstream } from './pubSubUpstream';

/** What the emulator has done so far. */
export interface WebPubSubCounts {
  /** Messages that clients have sent, of any kind. */
  readonly received: number;
  /** Messages on their way to clients: one for each receiver. */
  readonly delivered: number;
}

/** A running emulator of Azure Web PubSub. */
export interface WebPubSubEmulator {
  readonly connectionString: string;
  /** Clients of all hubs, those included that may come back. */
  readonly connectionCount: number;
  readonly counts: WebPubSubCounts;
  /** From now on these keys are accepted, and no others; the first is in the connection string. */
  rotateKeys(accessKeys: readonly string[]): void;
  /** Closes every client, stops listening, and leaves nothing open. */
  dispose(): Promise<void>;
}

/** Largest message of a client, as of the service. */
const maxMessageBytes = 1024 * 1024;
const tickMs = 1000;
const disposeTimeoutMs = 500;

class RunningEmulator
  implements WebPubSubEmulator, AdmissionContext, ClientContext, HubOwner, RestHost
{
  readonly tokens: TokenCheck;
  readonly upstream: Upstream;
  readonly allowAnonymous: boolean;
  tickMs = performance.now();
  connectionCount = 0;
  private readonly hubs = new Map<string, PubSubHub>();
  private readonly quota: ConnectionQuota;
  private readonly sockets: WebSocketServer;
  private readonly server: Server;
  /** Answers to `Sec-WebSocket-Protocol`, on their way to the upgrade. */
  private readonly chosen = new WeakMap<IncomingMessage, string>();
  /** Of clients and of REST calls. */
  private readonly connections = new Set<Duplex>();
  private readonly done = { received: 0, delivered: 0 };
  private accessKeys: readonly string[];
  private port = 0;
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;
  private disposed: Promise<void> | undefined;

  constructor(private readonly options: WebPubSubEmulatorOptions) {
    this.allowAnonymous = options.allowAnonymous ?? false;
    this.quota = new ConnectionQuota(options);
    const { upstream: url, upstreamTimeoutMs: timeoutMs } = options;
    const handlers = url === undefined ? [] : [{ url }];
    this.accessKeys = options.accessKeys ?? [publicAccessKey];
    this.tokens = new TokenCheck({ accessKeys: this.accessKeys, signIns: options.signIns });
    this.upstream = new Upstream({ accessKeys: this.accessKeys, handlers, timeoutMs });
    this.sockets = webSocketServer(maxMessageBytes);
    this.sockets.options.handleProtocols = (_, request) => this.chosen.get(request) ?? false;
    this.server = loopbackServer({
      answer: (request, response) => answerRest(this, request, response),
      upgrade: (request, socket, head) => this.upgrade(request, socket, head),
    });
    this.server.on('connection', (connection: Duplex) => {
      this.connections.add(connection);
      connection.once('close', () => this.connections.delete(connection));
    });
  }

  get accessKey(): string {
    return this.accessKeys[0] ?? '';
  }

  get connectionString(): string {
    return `Endpoint=http://${this.upstream.origin};AccessKey=${this.accessKey};Version=1.0;`;
  }

  rotateKeys(accessKeys: readonly string[]): void {
    this.accessKeys = accessKeys;
    this.tokens.rotate(accessKeys);
    this.upstream.accessKeys = accessKeys;
  }

  get counts(): WebPubSubCounts {
    return { ...this.done };
  }

  async listen(): Promise<void> {
    this.port = await listenOnLoopback(this.server, this.options.port ?? 0);
    this.upstream.origin = `${loopbackHost}:${this.port}`;
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  urlsOf(path: string): readonly string[] {
    return [loopbackHost, 'localhost'].map((host) => `http://${host}:${this.port}${path}`);
  }

  clientUrl(hub: string): string {
    return this.urlsOf(`/client/hubs/${hub}`)[0]!;
  }

  hub(name: string): PubSubHub {
    return this.hubs.get(name) ?? new PubSubHub(name, this);
  }

  delivered(count: number): void {
    this.done.delivered += count;
  }

  dispose(): Promise<void> {
    this.disposed ??= this.shutDown();
    return this.disposed;
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const connect = readConnect(request);
    if ('status' in connect) {
      refuseUpgrade(socket, connect);
      return;
    }
    const id = connect.query.get('awps_connection_id');
    if (id !== null) {
      this.recover(id, connect, request, socket, head);
      return;
    }
    const refusal = this.quota.refusal(performance.now());
    if (refusal === undefined) void this.admit(connect, request, socket, head);
    else refuseUpgrade(socket, refusal);
  }

  private async admit(
    connect: ConnectRequest,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const id = newId();
    this.quota.take();
    const admission: Admission | Refusal = await admit(this, request, connect, id);
    const before = this.connectionCount;
    if (this.isStopping) socket.destroy();
    else if ('status' in admission) refuseUpgrade(socket, admission);
    else {
      if (admission.protocolName !== undefined) this.chosen.set(request, admission.protocolName);
      // Calls back at once, or never when the handshake is bad.
      this.sockets.handleUpgrade(request, socket, head, (accepted) => {
        this.connected(connect.hub, id, admission, new WebSocketTransport(accepted, socket));
      });
    }
    if (this.connectionCount === before) this.quota.release();
  }

  private connected(
    hubName: string,
    id: string,
    { userId, roles, groups, subprotocol, connectionState }: Admission,
    socket: WebSocketTransport,
  ): void {
    const hub = this.hub(hubName);
    const client = new Client({ id, userId, subprotocol }, Permissions.ofRoles(roles), hub);
    client.connectionState = connectionState;
    this.hubs.set(hubName, hub);
    hub.add(client);
    for (const group of groups) hub.groups.join(client, group);
    this.connectionCount++;
    client.attach(socket);
    if (this.upstream.wants(hubName, 'connected')) {
      void this.upstream.send(systemEvent('connected', {}), sourceOf(hub, client));
    }
  }

  /** A reliable client comes back: what it has not got follows. */
  private recover(
    id: string,
    { hub, query, offered }: ConnectRequest,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): void {
    const client = this.hub(hub).clients.get(id);
    const token = query.get('awps_reconnection_token') ?? '';
    const [name = ''] = offered;
    const mayRecover = client?.mayRecover(token, subprotocolNamed(name)) === true;
    if (subprotocolNamed(name) !== undefined) this.chosen.set(request, name);
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      if (mayRecover) client.attach(new WebSocketTransport(accepted, socket));
      else {
        accepted.on('error', () => undefined);
        accepted.close(1008, 'This connection cannot be recovered.');
      }
    });
  }

  received(hub: PubSubHub, client: Client, message: ClientMessage): void {
    this.done.received++;
    carryOut(this, hub, client, message);
  }

  receivedRaw(hub: PubSubHub, client: Client, payload: Payload): void {
    this.done.received++;
    raiseMessage(this, hub, client, payload);
  }

  ended(hub: PubSubHub, client: Client, reason: string): void {
    this.connectionCount--;
    this.quota.release();
    if (hub.clients.size === 0) this.hubs.delete(hub.name);
    if (!this.isStopping && this.upstream.wants(hub.name, 'disconnected')) {
      void this.upstream.send(systemEvent('disconnected', { reason }), sourceOf(hub, client));
    }
  }

  private tick(): void {
    this.tickMs = performance.now();
    for (const hub of this.hubs.values()) {
      for (const client of hub.clients.values()) client.tick(this.tickMs);
    }
  }

  private async shutDown(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.timer);
    for (const hub of [...this.hubs.values()]) {
      for (const client of [...hub.clients.values()]) client.end('The server stops.', 1001);
    }
    const timer = setTimeout(() => {
      for (const connection of this.connections) connection.destroy();
    }, disposeTimeoutMs);
    const stopped = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await stopped;
    clearTimeout(timer);
    this.upstream.dispose();
  }
}

/**
 * Starts an emulator of Azure Web PubSub on loopback.
 * @throws ExpectedError `port-taken` or `port-refused` when it cannot listen on the port,
 *   `bad-upstream` when the URL of the event handler cannot be one
 */
export async function startWebPubSubEmulator(
  options: WebPubSubEmulatorOptions = {},
): Promise<WebPubSubEmulator> {
  const problem = options.upstream === undefined ? undefined : handlerProblem(options.upstream);
  if (problem !== undefined) throw new ExpectedError('bad-upstream', problem);
  const emulator = new RunningEmulator(options);
  await emulator.listen();
  return emulator;
}
