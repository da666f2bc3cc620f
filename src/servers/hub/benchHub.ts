/** The embedded hub: methods of both bench contracts, with faults and delays on request. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
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
import type { Envelope } from '../../wire/message/envelope';
import type { BenchHubOptions } from './benchHubOptions';
import { type Audience, type BenchContext, type Change, invoke } from './benchMethods';
import { BenchServer, longestBytes, type BenchHub } from './benchServer';
import { HubConnection, type ConnectionHost } from './hubConnection';

export type { BenchHub } from './benchServer';

const notFound: Refusal = { status: 404, text: 'There is no hub at this path.' };

class RunningHub
  extends BenchServer<HubConnection>
  implements ConnectionHost, BenchContext, ClientsHost
{
  readonly maxMessageBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs: number;
  readonly maxPostBytes: number;
  private readonly limits: PollLimits;
  private readonly path: string;
  private readonly clients: SignalrClients;

  constructor(options: BenchHubOptions) {
    super(options);
    this.maxMessageBytes = options.maxMessageBytes ?? longestBytes;
    this.path = (options.path ?? '/signalrbench').replace(/\/$/, '').toLowerCase();
    this.keepAliveMs = options.keepAliveMs ?? 15_000;
    this.clientTimeoutMs = options.clientTimeoutMs ?? 30_000;
    this.limits = {
      pollTimeoutMs: options.pollTimeoutMs ?? 90_000,
      disconnectTimeoutMs: options.disconnectTimeoutMs ?? 15_000,
    };
    this.maxPostBytes = options.maxPostBytes ?? 2 * longestBytes;
    this.clients = new SignalrClients(this, options.tokenLifetimeMs ?? 15_000);
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
    connection.write(protocol.handshakeFrame);
    if (this.contracts !== 'measure')
      connection.write(protocol.callbackFrame('OnConnected', connection.id));
  }

  pollLimits(): PollLimits {
    return this.limits;
  }

  connected(id: string, transport: HubTransport): void {
    const timeoutMs = this.options.handshakeTimeoutMs ?? 15_000;
    this.add(new HubConnection(id, this, transport, timeoutMs));
  }

  invoked(connection: HubConnection, message: Envelope): void {
    const reason = this.counted(connection, () => invoke(this, connection, message));
    if (reason !== undefined) connection.close(reason, true);
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
    const unknown = isOurs ? this.tokenCheck?.refusal(request) : undefined;
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
    const refusal = path === this.path ? this.tokenCheck?.refusal(upgrade.request) : notFound;
    if (refusal !== undefined) refuseUpgrade(upgrade.socket, refusal);
    else
      this.clients.upgrade(
        upgrade,
        token,
        token === null ? this.gate.refusal(upgrade.request) : undefined,
      );
  }

  protected override tick(): void {
    this.clients.sweep();
    super.tick();
  }

  protected override sayGoodbye(): void {
    super.sayGoodbye();
    for (const connection of this.all) connection.close(undefined, true);
  }
}

/** @throws ExpectedError `port-taken` or `port-refused` */
export async function startBenchHub(options: BenchHubOptions = {}): Promise<BenchHub> {
  const hub = new RunningHub(options);
  await hub.listen(options.port);
  return hub;
}
