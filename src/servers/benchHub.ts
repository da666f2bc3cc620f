import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type ServerOptions } from 'ws';
import { ExpectedError } from '../base/expectedError';
import type { BenchContext } from './benchMethods';
import type { BenchHubOptions } from './benchHubOptions';
import { ConnectionTokens, newId } from './connectionTokens';
import { HubConnection, type ConnectionHost } from './hubConnection';
import { HubDeliveries, type DeliveryCounts } from './hubDeliveries';
import { callbackFrame, handshakeFrame } from './hubFrames';
import { HubGate, type GateCounts } from './hubGate';
import { HubGroups } from './hubGroups';
import { invoke } from './hubInvocation';
import type { HubMessage } from './hubMessage';
import { HubPause } from './hubPause';
import { admitUpgrade, answerRequest, refuseUpgrade, type RequestContext } from './hubRequests';

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

const host = '127.0.0.1';
const defaultBytes = 1024 * 1024;
const tickMs = 1000;
/** Time a peer gets to answer a WebSocket close, as in ASP.NET Core, and at disposal. */
const closeTimeoutMs = 5000;
const disposeTimeoutMs = 500;

class RunningHub implements BenchHub, ConnectionHost, BenchContext, RequestContext {
  readonly path: string;
  readonly maxMessageBytes: number;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs: number;
  readonly connections = new Map<string, HubConnection>();
  readonly groups = new HubGroups();
  readonly tokens: ConnectionTokens;
  readonly gate: HubGate;
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
    this.path = (options.path ?? '/signalrbench').replace(/\/$/, '').toLowerCase();
    this.maxMessageBytes = options.maxMessageBytes ?? defaultBytes;
    this.maxUnreadBytes = options.maxUnreadBytes ?? defaultBytes;
    this.keepAliveMs = options.keepAliveMs ?? 15_000;
    this.clientTimeoutMs = options.clientTimeoutMs ?? 30_000;
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
    // The types of `ws` do not know `closeTimeout` yet.
    const socketOptions: ServerOptions & { closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.maxMessageBytes,
      autoPong: false,
      closeTimeout: closeTimeoutMs,
    };
    this.sockets = new WebSocketServer(socketOptions);
    this.server = createServer((request, response) => answerRequest(this, request, response));
    this.server.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
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
    const port = this.options.port ?? 0;
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      // A ramp opens many connections at once; the kernel caps this at its own limit.
      this.server.listen({ host, port, backlog: 4096 }, resolve);
    });
    const { port: actual } = this.server.address() as AddressInfo;
    this.url = `http://${host}:${actual}${this.options.path ?? this.path}`;
    this.timer = setInterval(() => this.tick(), tickMs);
  }

  opened(connection: HubConnection): void {
    this.connections.set(connection.id, connection);
    const onConnected = callbackFrame('OnConnected', connection.id);
    connection.write(Buffer.concat([handshakeFrame, onConnected]));
  }

  closing(connection: HubConnection): void {
    this.connections.delete(connection.id);
    this.groups.leaveAll(connection);
    connection.streams?.dispose();
    connection.streams = undefined;
  }

  invoked(connection: HubConnection, message: HubMessage): void {
    this.invocations++;
    const { completion, delivers } = invoke(this, connection, message);
    if (completion !== undefined) {
      // Behind its delivery, which may be delayed.
      if (delivers) this.sendBehind(connection, completion);
      else connection.write(completion);
    }
    const { closeAfter = 0 } = this.options;
    if (closeAfter > 0 && connection.invocations >= closeAfter) {
      connection.close(`Closed on purpose after ${closeAfter} invocations (--close-after).`);
    }
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
    // The peer may vanish before the WebSocket takes over the errors.
    socket.on('error', () => socket.destroy());
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
      const id = admission.connectionId ?? newId();
      const timeoutMs = this.options.handshakeTimeoutMs ?? 15_000;
      const connection = new HubConnection(id, this, accepted, socket, timeoutMs);
      this.all.add(connection);
      accepted.on('close', () => {
        this.all.delete(connection);
        this.closing(connection);
        if (this.all.size === 0) this.allGone();
      });
      if (this.disposed !== undefined) connection.terminate();
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
    const stopped = new Promise<void>((resolve) => this.server.close(() => resolve()));
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
    this.server.closeAllConnections();
    await stopped;
  }
}

/**
 * Starts a hub with the whole bench contract on loopback: negotiate, WebSockets, JSON.
 * @throws ExpectedError `port-taken` or `port-refused` when it cannot listen on the port
 */
export async function startBenchHub(options: BenchHubOptions = {}): Promise<BenchHub> {
  const hub = new RunningHub(options);
  try {
    await hub.listen();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const port = options.port ?? 0;
    if (code === 'EADDRINUSE') {
      throw new ExpectedError(
        'port-taken',
        `Port ${port} on ${host} is already in use. Stop what listens there, or choose another port (0 takes any free one).`,
        { cause: error },
      );
    }
    if (code === 'EACCES') {
      throw new ExpectedError(
        'port-refused',
        `This account may not listen on port ${port}. Choose a port from 1024, or 0 for any free one.`,
        { cause: error },
      );
    }
    throw error;
  }
  return hub;
}
