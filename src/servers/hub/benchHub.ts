/** The embedded hub: methods of both bench contracts, with faults and delays on request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { largestPayloadBytes } from '../../base/message';
import { HttpClients, type HttpClientsHost, type PollLimits } from '../http/httpTransport';
import { ConnectionServer, loopbackHost, refuseUpgrade } from '../http/loopbackServer';
import { ConnectionTokens } from '../http/negotiate';
import { WebSocketTransport, type HubTransport } from '../http/webSocketTransport';
import type { FrameSource } from '../hubProtocol/protocols';
import type { HubMessage } from '../hubProtocol/serverProtocol';
import type { BenchHubOptions } from './benchHubOptions';
import { invoke, type Audience, type BenchContext, type Contracts } from './benchMethods';
import { HubConnection, type ConnectionHost } from './hubConnection';
import { HubDeliveries, HubPause, type DeliveryCounts } from './hubDeliveries';
import {
  admitUpgrade,
  answerRequest,
  HubGate,
  type GateCounts,
  type RequestContext,
} from './hubGate';
import { HubGroups } from './hubGroups';

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

class RunningHub
  extends ConnectionServer<HubConnection>
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
  url = '';
  private invocations = 0;
  private readonly pause: HubPause;
  private readonly deliveries: HubDeliveries;

  constructor(private readonly options: BenchHubOptions) {
    const { maxMessageBytes = longestBytes } = options;
    super(maxMessageBytes);
    this.maxMessageBytes = maxMessageBytes;
    this.contracts = options.dialect ?? 'both';
    this.path = (options.path ?? '/signalrbench').replace(/\/$/, '').toLowerCase();
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

  override async listen(port?: number): Promise<void> {
    await super.listen(port);
    this.url = `http://${loopbackHost}:${this.port}${this.options.path ?? this.path}`;
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
    this.add(new HubConnection(id, this, transport, timeoutMs));
  }

  gone(connection: HubConnection): void {
    this.closing(connection);
    this.remove(connection);
  }

  invoked(connection: HubConnection, message: HubMessage): void {
    this.invocations++;
    invoke(this, connection, message);
    const { closeAfter = 0 } = this.options;
    if (closeAfter > 0 && connection.invocations >= closeAfter) {
      connection.close(`Closed on purpose after ${closeAfter} invocations (--close-after).`);
    }
  }

  send(_caller: HubConnection, frames: FrameSource, audience: Audience): boolean {
    for (const receiver of this.receiversOf(audience)) {
      const frame = frames.in(receiver.protocol.name);
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

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    answerRequest(this, request, response);
  }

  protected upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const admission = admitUpgrade(this, request);
    if ('status' in admission) {
      refuseUpgrade(socket, admission);
      return;
    }
    const { connectionId, token } = admission;
    if (token !== undefined) socket.once('close', () => this.tokens.release(token));
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      this.connected(connectionId, new WebSocketTransport(accepted, socket));
    });
  }

  protected tick(): void {
    this.tokens.sweep();
    if (this.isHeld) return;
    for (const connection of this.all) connection.tick(this.tickMs);
  }

  protected sayGoodbye(): void {
    this.pause.dispose();
    this.deliveries.dispose();
    for (const connection of this.all) connection.close(undefined, true);
  }
}

/**
 * Starts a hub with the bench contracts on loopback: negotiate, all three transports, JSON and
 * MessagePack.
 * @throws ExpectedError `port-taken` or `port-refused` when it cannot listen on the port
 */
export async function startBenchHub(options: BenchHubOptions = {}): Promise<BenchHub> {
  const hub = new RunningHub(options);
  await hub.listen(options.port);
  return hub;
}
