import type { IncomingMessage, Server } from 'node:http';
import { largestPayloadBytes } from '../../base/message';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import type { WebSocketServer } from 'ws';
import type { Audience, BenchContext, Contracts } from './benchMethods';
import type { BenchHubOptions } from './benchHubOptions';
import { ConnectionTokens, newId } from '../http/connectionTokens';
import { HubConnection, type ConnectionHost } from './hubConnection';
import { HubDeliveries, type DeliveryCounts } from './hubDeliveries';
import { HubGate, type GateCounts } from '../http/hubGate';
import { HubGroups } from './hubGroups';
import { invoke } from './hubInvocation';
import type { HubMessage } from '../hubProtocol/hubEnvelope';
import { HubPause } from './hubPause';
import type { DeliveryFrames } from '../hubProtocol/payloadFrames';
import {
  admitUpgrade,
  answerRequest,
  refuseUpgrade,
  type RequestContext,
} from '../http/hubRequests';
import type { HubTransport } from '../http/hubTransport';
import { WebSocketTransport } from '../http/webSocketTransport';
import { HttpClients, type HttpClientsHost } from '../http/httpClients';
import type { PollLimits } from '../http/httpTransport';
import {
  listenOnLoopback,
  loopbackHost,
  loopbackServer,
  webSocketServer,
} from '../http/loopbackServer';

/** What a hub has done so far. */
export interface BenchHubCounts extends Readonly<DeliveryCounts>, Readonly<GateCounts> {
  /** Invocations received, of any method. */
  readonly invocations: number;
}

/** A running bench hub. */
export interface BenchHub {
  /** The whole hub URL, such as `http://127.0.0.1:5050/signalrbench`. */
  readonly url: string;
  /** Connections past their handshake. */
  readonly connectionCount: number;
  readonly counts: BenchHubCounts;
  /** Closes every connection with a Close message, stops listening, and leaves nothing open. */
  dispose(): Promise<void>;
}

/**
 * The largest payload that a scenario may have, with room for what is around it. A client that has just been sent
 * one leaves it unread for a while.
 */
const longestBytes = largestPayloadBytes + 1024 * 1024;
const tickMs = 1000;
/** Time the peers get to answer their close at disposal. */
const disposeTimeoutMs = 500;

class RunningHub
  implements BenchHub, ConnectionHost, BenchContext, RequestContext, HttpClientsHost
{
  readonly contracts: Contracts;
  readonly path: string;
  readonly maxMessageBytes: number;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs: number;
  private readonly limits: PollLimits;
  readonly maxPostBytes: number;
  readonly connections = new Map<string, HubConnection>();
  readonly groups = new HubGroups<HubConnection>();
  readonly tokens: ConnectionTokens;
  readonly gate: HubGate;
  readonly httpClients = new HttpClients(this);
  tickMs = performance.now();
  url = '';
  private invocations = 0;
  /** All connections, those in their handshake and those saying goodbye included. */
  private readonly all = new Set<HubConnection>();
  private readonly pause: HubPause;
  private readonly deliveries: HubDeliveries;
  private readonly sockets: WebSocketServer;
  private readonly server: Server;
  private timer: NodeJS.Timeout | undefined;
  private disposed: Promise<void> | undefined;
  private allGone: () => void = () => undefined;

  constructor(private readonly options: BenchHubOptions) {
    this.contracts = options.dialect ?? 'both';
    this.path = (options.path ?? '/signalrbench').replace(/\/$/, '').toLowerCase();
    this.maxMessageBytes = options.maxMessageBytes ?? longestBytes;
    this.maxUnreadBytes = options.maxUnreadBytes ?? longestBytes;
    this.keepAliveMs = options.keepAliveMs ?? 15_000;
    this.clientTimeoutMs = options.clientTimeoutMs ?? 30_000;
    this.limits = {
      pollTimeoutMs: options.pollTimeoutMs ?? 90_000,
      disconnectTimeoutMs: options.disconnectTimeoutMs ?? 15_000,
    };
    this.maxPostBytes = options.maxPostBytes ?? 2 * longestBytes;
    this.tokens = new ConnectionTokens(options.tokenLifetimeMs ?? 15_000);
    this.gate = new HubGate(options);
    this.pause = new HubPause(options.stall);
    this.deliveries = new HubDeliveries(options, this.pause);
    this.pause.onHold(() => {
      for (const connection of this.all) connection.pauseReading();
    });
    this.pause.onRelease(() => {
      this.tickMs = performance.now();
      for (const connection of this.all) {
        connection.streams?.resume();
        if (!this.isHeld) connection.resumeReading();
      }
    });
    this.sockets = webSocketServer(this.maxMessageBytes);
    this.server = loopbackServer({
      answer: (request, response) => answerRequest(this, request, response),
      upgrade: (request, socket, head) => this.upgrade(request, socket, head),
    });
  }

  get connectionCount(): number {
    return this.connections.size;
  }

  get counts(): BenchHubCounts {
    return { ...this.deliveries.counts, ...this.gate.counts, invocations: this.invocations };
  }

  get isHeld(): boolean {
    return this.pause.isHeld;
  }

  nowMs(): number {
    return performance.now();
  }

  async listen(): Promise<void> {
    const port = await listenOnLoopback(this.server, this.options.port ?? 0);
    this.url = `http://${loopbackHost}:${port}${this.options.path ?? this.path}`;
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  opened(connection: HubConnection): void {
    this.connections.set(connection.id, connection);
    const { protocol } = connection;
    const greeting =
      this.contracts === 'measure' ? [] : [protocol.callbackFrame('OnConnected', connection.id)];
    connection.write(Buffer.concat([protocol.handshakeFrame, ...greeting]));
  }

  closing(connection: HubConnection): void {
    this.connections.delete(connection.id);
    this.groups.leaveAll(connection);
    connection.streams?.dispose();
    connection.streams = undefined;
  }

  pollLimits(): PollLimits {
    return this.limits;
  }

  connected(id: string, transport: HubTransport): void {
    const timeoutMs = this.options.handshakeTimeoutMs ?? 15_000;
    const connection = new HubConnection(id, this, transport, timeoutMs);
    this.all.add(connection);
    if (this.disposed !== undefined) connection.terminate();
  }

  gone(connection: HubConnection): void {
    this.all.delete(connection);
    this.closing(connection);
    if (this.all.size === 0) this.allGone();
  }

  invoked(connection: HubConnection, message: HubMessage): void {
    this.invocations++;
    invoke(this, connection, message);
    const { closeAfter = 0 } = this.options;
    if (closeAfter > 0 && connection.invocations >= closeAfter) {
      connection.close(`Closed on purpose after ${closeAfter} invocations (--close-after).`);
    }
  }

  send(_caller: HubConnection, frames: DeliveryFrames, audience: Audience): boolean {
    for (const receiver of this.receiversOf(audience)) {
      const frame = frames.in(receiver.protocol);
      if (frame === undefined) return false;
      this.deliver(receiver, frame);
    }
    return true;
  }

  call(client: HubConnection, frame: Buffer, isDelivery: boolean): void {
    if (isDelivery) this.deliver(client, frame);
    else client.write(frame);
  }

  changeGroup(client: HubConnection, group: string, change: 'join' | 'leave'): boolean {
    if (change === 'join') return this.groups.join(client, group);
    this.groups.leave(client, group);
    return true;
  }

  private receiversOf(audience: Audience): Iterable<HubConnection> {
    if (audience.kind === 'all') return this.connections.values();
    if (audience.kind === 'group') return this.groups.membersOf(audience.name);
    const receiver = this.connections.get(audience.id);
    return receiver === undefined ? [] : [receiver];
  }

  deliver(connection: HubConnection, frame: Buffer): void {
    this.deliveries.deliver(connection, frame);
  }

  sendBehind(connection: HubConnection, frame: Buffer): void {
    this.deliveries.send(connection, frame);
  }

  messageArrived(): void {
    this.pause.messageArrived();
  }

  dispose(): Promise<void> {
    this.disposed ??= this.shutDown();
    return this.disposed;
  }

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const admission = admitUpgrade(this, request);
    if ('status' in admission) {
      refuseUpgrade(socket, admission);
      return;
    }
    const { token } = admission;
    const release = (): void => {
      if (token !== undefined) this.tokens.release(token);
    };
    socket.once('close', release);
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      this.connected(admission.connectionId ?? newId(), new WebSocketTransport(accepted, socket));
    });
  }

  private tick(): void {
    this.tickMs = performance.now();
    this.tokens.sweep(this.tickMs);
    if (this.isHeld) return;
    for (const connection of this.all) connection.tick(this.tickMs);
  }

  private async shutDown(): Promise<void> {
    clearInterval(this.timer);
    this.pause.dispose();
    this.deliveries.dispose();
    for (const connection of this.all) connection.close(undefined, true);
    if (this.all.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, disposeTimeoutMs);
        this.allGone = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      for (const connection of this.all) connection.terminate();
    }
    // Not before: a client that polls needs one more answer to hear of the end.
    const stopped = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await stopped;
  }
}

/**
 * Starts a hub with the bench contracts on loopback: negotiate, all three transports, JSON and
 * MessagePack.
 * @throws ExpectedError `port-taken` or `port-refused` when it cannot listen on the port
 */
export async function startBenchHub(options: BenchHubOptions = {}): Promise<BenchHub> {
  const hub = new RunningHub(options);
  await hub.listen();
  return hub;
}
