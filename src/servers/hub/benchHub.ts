import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isProbe } from '../../wire/http/negotiationRequest';
import type { Envelope } from '../../wire/message/hubMessage';
import { parseObject } from '../../wire/message/jsonScan';
import {
  bearerToken,
  normalizedPathAndQuery,
  ConnectionServer,
  type Terminable,
  loopbackHost,
  refuse,
  refuseUpgrade,
  type UpgradeRequest,
} from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import type { BenchHubKnobs, BenchHubOptions } from './benchHubOptions';
import { maxPayloadBytes } from '../../base/message';
import {
  ChatRooms,
  type BenchContracts,
  type Audience,
  type BenchContext,
  type GroupChange,
  invokeBenchMethod,
} from './benchMethods';
import { HubDeliveries, type DeliveryCounts } from './hubDeliveries';
import { HubGroups } from './hubGroups';
import { SignalrClients, type ClientsHost } from '../http/signalrClients';
import type { HubTransport, PollLimits } from '../http/transports';
import type { FrameSource } from '../hubProtocol/protocols';
import { HubConnection, type ConnectionHost } from './hubConnection';

const mostUsers = 1_000_000;

const refused = (text: string): Refusal => ({
  status: 401,
  text,
  headers: { 'WWW-Authenticate': 'Bearer' },
});

/** Accepts JSON web tokens signed with the key (RFC 7519, HS256), from the header or the query. */
export class HubTokenCheck {
  readonly users = new Set<string>();

  constructor(
    private readonly key: string,
    private readonly nowMs: () => number = Date.now,
  ) {}

  refusal(request: IncomingMessage): Refusal | undefined {
    const token = bearerToken(request, normalizedPathAndQuery(request).query) ?? '';
    const [head = '', payload = '', signature = '', more] = token.split('.');
    if (token === '') return refused('This hub wants an access token (--token-key).');
    const claims = claimsOf(payload);
    if (more !== undefined || claims === undefined || claimsOf(head)?.['alg'] !== 'HS256')
      return refused('The access token is not a JSON web token signed by HS256.');
    const wanted = createHmac('sha256', this.key).update(`${head}.${payload}`).digest();
    const shown = Buffer.from(signature, 'base64url');
    if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted))
      return refused('The signature of the access token does not fit the key.');
    const { exp, sub } = claims;
    if (typeof exp !== 'number' || exp * 1000 <= this.nowMs())
      return refused('The access token has expired, or does not say when it will.');
    if (typeof sub === 'string' && this.users.size < mostUsers) this.users.add(sub);
    return undefined;
  }
}

const claimsOf = (part: string): Readonly<Record<string, unknown>> | undefined =>
  parseObject(Buffer.from(part, 'base64url').toString('utf8'));

/** Refuses or throttles the first connects as the knobs say, except probes before a run. */
export class ConnectGate {
  readonly counts = { refused: 0, throttled: 0 };

  constructor(private readonly knobs: Pick<BenchHubKnobs, 'refuse' | 'throttle'>) {}

  refusal({ headers }: IncomingMessage): Refusal | undefined {
    if (isProbe(headers)) return undefined;
    const { refuse = 0, throttle } = this.knobs;
    if (this.counts.refused < refuse) {
      this.counts.refused++;
      return { status: 503, text: 'This connect is refused on purpose (--refuse).' };
    }
    if (throttle === undefined || this.counts.throttled >= throttle.count) return undefined;
    this.counts.throttled++;
    return {
      status: 429,
      text: 'This connect is throttled on purpose (--throttle).',
      headers: { 'Retry-After': String(throttle.retryAfterS) },
    };
  }
}

interface BenchHubCounts extends Readonly<DeliveryCounts> {
  readonly refused: number;
  readonly throttled: number;
  readonly invocations: number;
}

export interface BenchHub {
  readonly url: string;
  readonly connectionCount: number;
  readonly counts: BenchHubCounts;
  readonly users: ReadonlySet<string>;
  dispose(): Promise<void>;
}

export const defaultMaxBytes = maxPayloadBytes + 1024 * 1024;

interface BenchConnection extends Terminable {
  readonly id: string;
  groups: Set<string> | undefined;
  invocations: number;
  pauseReading(): void;
  tick(nowMs: number): void;
}

/** What the bench hubs of both generations of SignalR share. */
export abstract class BenchServer<Connection extends BenchConnection>
  extends ConnectionServer<Connection>
  implements BenchHub
{
  readonly contracts: BenchContracts;
  readonly maxUnreadBytes: number;
  readonly deliveries: HubDeliveries;
  readonly chat = new ChatRooms();
  url = '';
  protected readonly connections = new Map<string, Connection>();
  protected readonly groups = new HubGroups<Connection>();
  protected readonly gate: ConnectGate;
  protected readonly tokenCheck: HubTokenCheck | undefined;
  private invocations = 0;

  constructor(protected readonly options: BenchHubOptions) {
    super(options.maxMessageBytes ?? defaultMaxBytes);
    this.contracts = options.dialect ?? 'both';
    this.maxUnreadBytes = options.maxUnreadBytes ?? defaultMaxBytes;
    this.deliveries = new HubDeliveries(options, this);
    this.gate = new ConnectGate(options);
    this.tokenCheck =
      options.tokenKey === undefined ? undefined : new HubTokenCheck(options.tokenKey);
  }

  get users(): ReadonlySet<string> {
    return this.tokenCheck?.users ?? new Set();
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

  abstract onRelease(): void;

  onClosing(connection: Connection): void {
    this.connections.delete(connection.id);
    this.groups.leaveAll(connection);
  }

  onClosed(connection: Connection): void {
    this.remove(connection);
  }

  /** @returns why `--close-after` closes the connection now */
  protected countInvocation({ invocations }: Connection, carryOut: () => void): string | undefined {
    this.invocations++;
    carryOut();
    const { closeAfter = 0 } = this.options;
    return closeAfter > 0 && invocations >= closeAfter
      ? `Closed on purpose after ${closeAfter} invocations (--close-after).`
      : undefined;
  }

  protected tick(): void {
    if (this.isHeld) return;
    for (const connection of this.all) connection.tick(this.tickMs);
  }

  protected sayGoodbye(): void {
    this.deliveries.dispose();
  }
}

const notFound: Refusal = { status: 404, text: 'There is no hub at this path.' };

/** Defaults of ASP.NET Core. */
const defaultKeepAliveMs = 15_000;
const handshakeTimeoutMs = 15_000;
const pollLimits: PollLimits = { pollTimeoutMs: 90_000, disconnectTimeoutMs: 15_000 };

class RunningHub
  extends BenchServer<HubConnection>
  implements ConnectionHost, BenchContext, ClientsHost
{
  readonly maxMessageBytes: number;
  readonly keepAliveMs: number;
  readonly clientTimeoutMs = 30_000;
  readonly maxPostBytes: number;
  private readonly path: string;
  /** Milliseconds: the time from negotiate to connect. */
  private readonly clients = new SignalrClients(this, 15_000);

  constructor(options: BenchHubOptions) {
    super(options);
    this.maxMessageBytes = options.maxMessageBytes ?? defaultMaxBytes;
    this.path = (options.path ?? '/signalrbench').replace(/\/$/, '').toLowerCase();
    this.keepAliveMs = options.keepAliveMs ?? defaultKeepAliveMs;
    this.maxPostBytes = options.maxPostBytes ?? 2 * defaultMaxBytes;
  }

  onRelease(): void {
    this.tickMs = performance.now();
    for (const connection of this.all) {
      connection.streams?.resumeSending();
      if (!this.isHeld) connection.resumeReading();
    }
  }

  override async listen(port?: number): Promise<void> {
    await super.listen(port);
    this.url = `http://${loopbackHost}:${this.port}${this.options.path ?? this.path}`;
  }

  onOpened(connection: HubConnection): void {
    this.connections.set(connection.id, connection);
    const { protocol } = connection;
    connection.write(protocol.handshakeFrame);
    if (this.contracts !== 'measure')
      connection.write(protocol.callbackFrame('OnConnected', connection.id));
  }

  pollLimits(): PollLimits {
    return pollLimits;
  }

  connected(id: string, transport: HubTransport): void {
    this.add(new HubConnection(id, this, transport, handshakeTimeoutMs));
  }

  onInvocation(connection: HubConnection, message: Envelope): void {
    const reason = this.countInvocation(connection, () =>
      invokeBenchMethod(this, connection, message),
    );
    if (reason !== undefined) connection.close(reason, true);
  }

  send(_caller: HubConnection, frames: FrameSource, audience: Audience): boolean {
    for (const receiver of this.receiversOf(audience)) {
      const frame = frames.forProtocol(receiver.protocol.name);
      if (frame === undefined) return false;
      this.deliveries.deliver(receiver, frame);
    }
    return true;
  }

  call(client: HubConnection, frame: Buffer, isDelivery: boolean): void {
    if (isDelivery) this.deliveries.deliver(client, frame);
    else client.write(frame);
  }

  changeGroup(client: HubConnection, group: string, change: GroupChange): boolean {
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
    const { path, query } = normalizedPathAndQuery(request);
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

  protected upgrade(upgrade: UpgradeRequest): void {
    const { path, query } = normalizedPathAndQuery(upgrade.request);
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
    this.clients.removeExpired();
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
