/** The embedded hub: methods of both bench contracts, with faults and delays on request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { largestPayloadBytes } from '../../base/message';
import {
  ConnectionServer,
  loopbackHost,
  refuse,
  refuseUpgrade,
  splitUrl,
  type Upgrade,
} from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import { SignalrClients, type ClientsHost } from '../http/signalrClients';
import type { HubTransport, PollLimits } from '../http/transports';
import type { FrameSource } from '../hubProtocol/protocols';
import type { HubMessage } from '../hubProtocol/serverProtocol';
import type { BenchHubOptions } from './benchHubOptions';
import {
  type Audience,
  type BenchContext,
  type Change,
  ChatRooms,
  type Contracts,
  invoke,
} from './benchMethods';
import { HubConnection, type ConnectionHost } from './hubConnection';
import { HubDeliveries, type DeliveryCounts } from './hubDeliveries';
import { HubGroups } from './hubGroups';
import { ConnectGate, HubTokens } from './refusals';

interface BenchHubCounts extends Readonly<DeliveryCounts> {
  readonly refused: number;
  readonly throttled: number;
  readonly invocations: number;
}

export interface BenchHub {
  readonly url: string;
  readonly connectionCount: number;
  readonly counts: BenchHubCounts;
  /** Who was let in by a token, where one is wanted. */
  readonly users: ReadonlySet<string>;
  dispose(): Promise<void>;
}

/** Of the largest payload of scenarios, with room for what is around it; a client leaves it unread for a while. */
const longestBytes = largestPayloadBytes + 1024 * 1024;
const notFound: Refusal = { status: 404, text: 'There is no hub at this path.' };

class RunningHub
  extends ConnectionServer<HubConnection>
  implements BenchHub, ConnectionHost, BenchContext, ClientsHost
{
  readonly contracts: Contracts;
  readonly maxMessageBytes: number;
  readonly maxUnreadBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs: number;
  private readonly limits: PollLimits;
  readonly maxPostBytes: number;
  url = '';
  private readonly path: string;
  private readonly connections = new Map<string, HubConnection>();
  private readonly groups = new HubGroups<HubConnection>();
  private readonly clients: SignalrClients;
  private readonly gate: ConnectGate;
  private invocations = 0;
  readonly deliveries: HubDeliveries;
  readonly chat = new ChatRooms();
  private readonly tokens: HubTokens | undefined;

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
    this.clients = new SignalrClients(this, options.tokenLifetimeMs ?? 15_000);
    this.deliveries = new HubDeliveries(options, this);
    this.gate = new ConnectGate(options);
    this.tokens = options.tokenKey === undefined ? undefined : new HubTokens(options.tokenKey);
  }

  get users(): ReadonlySet<string> {
    return this.tokens?.users ?? new Set();
  }

  get connectionCount(): number {
    return this.connections.size;
  }

  get counts(): BenchHubCounts {
    return { ...this.deliveries.counts, ...this.gate.counts, invocations: this.invocations };
  }

  get isHeld(): boolean {
    return this.deliveries.isHeld;
  }

  onHold(): void {
    for (const connection of this.all) connection.pauseReading();
  }

  onRelease(): void {
    this.tickMs = performance.now();
    for (const connection of this.all) {
      connection.streams?.resume();
      if (!this.isHeld) connection.resumeReading();
    }
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
  }

  pollLimits(): PollLimits {
    return this.limits;
  }

  connected(id: string, transport: HubTransport): void {
    const timeoutMs = this.options.handshakeTimeoutMs ?? 15_000;
    this.add(new HubConnection(id, this, transport, timeoutMs));
  }

  gone(connection: HubConnection): void {
    this.remove(connection);
  }

  invoked(connection: HubConnection, message: HubMessage): void {
    this.invocations++;
    invoke(this, connection, message);
    const { closeAfter = 0 } = this.options;
    if (closeAfter > 0 && connection.invocations >= closeAfter) {
      const reason = `Closed on purpose after ${closeAfter} invocations (--close-after).`;
      connection.close(reason, true);
    }
  }

  send(_caller: HubConnection, frames: FrameSource, audience: Audience): boolean {
    for (const receiver of this.receiversOf(audience)) {
      const frame = frames.in(receiver.protocol.name);
      if (frame === undefined) return false;
      this.deliveries.deliver(receiver, frame);
    }
    return true;
  }

  call(client: HubConnection, frame: Buffer, isDelivery: boolean): void {
    if (isDelivery) this.deliveries.deliver(client, frame);
    else client.write(frame);
  }

  changeGroup(client: HubConnection, group: string, change: Change): boolean {
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

  protected answer(request: IncomingMessage, response: ServerResponse): void {
    const { path, query } = splitUrl(request);
    const isOurs = path === this.path || path === `${this.path}/negotiate`;
    const unknown = isOurs ? this.tokens?.refusal(request) : undefined;
    if (unknown !== undefined) {
      refuse(response, unknown);
    } else if (path === this.path) {
      this.clients.answer(request, response, query.get('id'));
    } else if (path === `${this.path}/negotiate`) {
      this.clients.negotiate(request, response, query, () => this.gate.refusal(request));
    } else {
      refuse(response, notFound);
    }
  }

  protected upgrade(upgrade: Upgrade): void {
    const { path, query } = splitUrl(upgrade.request);
    const token = query.get('id');
    const refusal = path === this.path ? this.tokens?.refusal(upgrade.request) : notFound;
    if (refusal !== undefined) refuseUpgrade(upgrade.socket, refusal);
    else
      this.clients.upgrade(
        upgrade,
        token,
        token === null ? this.gate.refusal(upgrade.request) : undefined,
      );
  }

  protected tick(): void {
    this.clients.sweep();
    if (this.isHeld) return;
    for (const connection of this.all) connection.tick(this.tickMs);
  }

  protected sayGoodbye(): void {
    this.deliveries.dispose();
    for (const connection of this.all) connection.close(undefined, true);
  }
}

/** @throws ExpectedError `port-taken` or `port-refused` */
export async function startBenchHub(options: BenchHubOptions = {}): Promise<BenchHub> {
  const hub = new RunningHub(options);
  await hub.listen(options.port);
  return hub;
}
