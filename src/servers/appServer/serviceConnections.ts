import { randomUUID } from 'node:crypto';
import { serviceType, type ServiceMessage } from '../../wire/service/serviceMessage';
import type { WaySettings } from '../../wire/socket/socket';
import {
  endAdvice,
  endText,
  ServerConnection,
  type ConnectionEnd,
  type ServerConnectionOptions,
} from './serviceConnection';

/** What the connections of an app server need. */
export interface ServerConnectionsHost {
  readonly clientCount: number;
  /** Any message but a ping. */
  received(connection: ServerConnection, message: ServiceMessage): void;
  /** An instance of the service is gone, and with it its clients on this connection. */
  offline(connection: ServerConnection, instanceId: string): void;
  /** A connection is gone, and all its clients with it. */
  lost(connection: ServerConnection): void;
  problem(text: string): void;
  /** A token for one connection. */
  token(): Promise<string>;
}

export interface ServerConnectionsOptions extends Pick<
  ServerConnectionOptions,
  keyof WaySettings | 'handshakeMs' | 'pingMs' | 'silenceMs'
> {
  /** `ws(s)://host[:port]/server/?hub=…` */
  readonly url: string;
  readonly serverId: string;
  /** Whether the tokens are those of a sign-in; else of a key. */
  readonly signedIn: boolean;
  /** Kept open at all times. */
  readonly count: number;
  /** Wait after the first failure; doubles up to a minute. Default 1 s. */
  readonly backOffMs?: number;
  /** A connection that is lost before it was open for so long is a failure, too. Default 5 s. */
  readonly shortLifeMs?: number;
}

const longestBackOffMs = 60_000;
const statusEveryMs = 10_000;
/** More on-demand connections than this are not opened, whatever the service asks for. */
const maxOnDemand = 100;
/** How long the service may take to take note that we leave. */
const finAckMs = 2000;
const closeMs = 500;

/**
 * The connections of an app server to one hub of the service: a fixed number that is opened again
 * whenever one is lost, and those that the service asks for.
 */
export class ServerConnections {
  private readonly all = new Set<ServerConnection>();
  /** Fixed connections that wait for their turn. */
  private waiting = 0;
  private failures = 0;
  private retry: NodeJS.Timeout | undefined;
  private readonly leaving = new Map<ServerConnection, () => void>();
  private nextStatusMs = 0;
  private isOver = false;
  /** First attempts under way, and who waits for their outcome: an end, or nothing once they stand. */
  private readonly first = new Map<ServerConnection, (end?: ConnectionEnd) => void>();

  constructor(
    private readonly host: ServerConnectionsHost,
    private readonly options: ServerConnectionsOptions,
  ) {}

  get clientCount(): number {
    return this.host.clientCount;
  }

  /** Whether clients can be served. */
  get isConnected(): boolean {
    return this.any() !== undefined;
  }

  /**
   * Opens the fixed connections.
   * @returns why none of them stands, once all have been tried; undefined when at least one does
   */
  async open(): Promise<ConnectionEnd | undefined> {
    const outcomes = Array.from({ length: this.options.count }, async () => {
      const connection = await this.connect();
      return new Promise<ConnectionEnd | undefined>((resolve) => {
        this.first.set(connection, resolve);
      });
    });
    const ends = await Promise.all(outcomes);
    return ends.includes(undefined) ? undefined : ends[0];
  }

  /** A connection that takes messages, another one each time; undefined without. */
  any(): ServerConnection | undefined {
    const usable = [...this.all].filter(({ isUsable }) => isUsable);
    return usable[Math.floor(Math.random() * usable.length)];
  }

  /** The service wants a connection to one of its instances. */
  private openOnDemand(target: string): void {
    const open = [...this.all].filter(({ isOnDemand }) => isOnDemand).length;
    if (open < maxOnDemand) void this.connect(target);
  }

  /** Called about once a second. */
  tick(nowMs: number): void {
    for (const connection of this.all) connection.tick(nowMs);
    if (nowMs < this.nextStatusMs) return;
    this.nextStatusMs = nowMs + statusEveryMs;
    this.any()?.ping('status', '1');
  }

  opened(connection: ServerConnection): void {
    this.settleFirst(connection);
    if (connection.isOnDemand) return;
    clearTimeout(this.retry);
    this.retry = undefined;
    for (; this.waiting > 0; this.waiting--) void this.connect();
  }

  received(connection: ServerConnection, message: ServiceMessage): void {
    if (message.type === serviceType.ping) this.pinged(connection, message.messages);
    else this.host.received(connection, message);
  }

  ended(connection: ServerConnection, end: ConnectionEnd, openMs?: number): void {
    this.all.delete(connection);
    this.leaving.get(connection)?.();
    if (openMs !== undefined) this.host.lost(connection);
    // An on-demand connection that is refused was not needed after all.
    if (this.isOver || connection.isOnDemand) return;
    const { signedIn, shortLifeMs = 5000 } = this.options;
    if (openMs === undefined) {
      this.settleFirst(connection, end);
      this.host.problem(
        `A server connection could not be opened: ${endText(end)}. ${endAdvice(end, signedIn)}`,
      );
    } else {
      this.host.problem(`A server connection was lost: ${endText(end)}.`);
    }
    if (openMs === undefined || openMs < shortLifeMs) {
      this.tryLater(end.retryAfterMs);
    } else {
      this.failures = 0;
      if (this.retry === undefined) void this.connect();
      else this.waiting++;
    }
  }

  problem(text: string): void {
    this.host.problem(text);
  }

  /** Takes leave of the service, then, by `farewell`, of the clients, and closes everything. */
  async dispose(farewell: () => void): Promise<void> {
    this.isOver = true;
    clearTimeout(this.retry);
    const open = [...this.all].filter(({ isOpen }) => isOpen);
    await inTime(Promise.all(open.map((connection) => this.leave(connection))), finAckMs);
    farewell();
    const closed = [...this.all].map((connection) => this.untilGone(connection));
    for (const connection of this.all) connection.close();
    await inTime(Promise.all(closed), closeMs);
    for (const connection of this.all) connection.terminate();
  }

  private settleFirst(connection: ServerConnection, end?: ConnectionEnd): void {
    this.first.get(connection)?.(end);
    this.first.delete(connection);
  }

  /** Settles when the service sends no new clients through the connection any more. */
  private leave(connection: ServerConnection): Promise<void> {
    const left = this.untilGone(connection);
    connection.ping('shutdown', 'fin:0');
    return left;
  }

  /** Settles when the service has taken note, or the connection has ended. */
  private untilGone(connection: ServerConnection): Promise<void> {
    return new Promise((resolve) => this.leaving.set(connection, resolve));
  }

  /** Pings carry more than signs of life; the others of them ask nothing of us. */
  private pinged(connection: ServerConnection, messages: readonly (string | null)[]): void {
    const [key, value] = messages;
    if (typeof value !== 'string') return;
    if (key === 'echo') connection.ping(...messages.map((each) => each ?? ''));
    else if (key === 'target' && !this.isOver) this.openOnDemand(value);
    else if (key === 'offline') this.host.offline(connection, value);
    else if (key === 'shutdown' && value === 'finack') this.leaving.get(connection)?.();
  }

  /**
   * While one connection waits for its next attempt, the others wait for its outcome.
   *
   * @param retryAfterMs pause that the service asked for
   */
  private tryLater(retryAfterMs = 0): void {
    this.waiting++;
    if (this.retry !== undefined) return;
    const { backOffMs = 1000 } = this.options;
    const waitMs = Math.min(
      longestBackOffMs,
      Math.max(backOffMs * 2 ** this.failures, retryAfterMs),
    );
    this.failures = Math.min(this.failures + 1, 16);
    this.retry = setTimeout(
      () => {
        this.retry = undefined;
        this.waiting--;
        void this.connect();
      },
      waitMs + Math.random() * backOffMs,
    );
  }

  /** @param target instance of the service, for an on-demand connection */
  private async connect(target?: string): Promise<ServerConnection> {
    const token = await this.host.token();
    const { url, serverId, ...rest } = this.options;
    const to = target === undefined ? '' : `&target=${encodeURIComponent(target)}`;
    const connection = new ServerConnection(this, {
      ...rest,
      url: `${url}&cid=${randomUUID()}${to}`,
      headers: {
        Authorization: `Bearer ${token}`,
        'X-ASRS-Server-Id': serverId,
        'Asrs-User-Agent': 'signalr-bench',
        'X-Requested-With': 'XMLHttpRequest',
      },
      isOnDemand: target !== undefined,
    });
    this.all.add(connection);
    // Everything was closed while the token was signed.
    if (this.isOver) connection.terminate();
    return connection;
  }
}

async function inTime(promise: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
