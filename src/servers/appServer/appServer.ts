import { inBackground } from '../../base/async';
import { randomUUID, randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { shownError, shownText } from '../../wire/connectFailure';
import { serviceType, type ServiceMessage } from '../../wire/service/serviceMessage';
import {
  AppServerHub,
  hubTickMs,
  type AppServerHubCounts,
  type AppServerHubOptions,
} from './appServerHub';
import {
  adviseOnEnd,
  describeEnd,
  ServerConnection,
  type ConnectionEnd,
  type ServerConnectionSettings,
} from './serviceConnection';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import type { ServiceAccess, ServicePass } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { AccessTokens } from '../../wire/connect/accessTokens';
import {
  answerJson,
  listenOnLoopback,
  loopbackHost,
  loopbackServer,
  refuse,
  stopServer,
  guardAsync,
} from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';

export interface ServerConnectionPoolSettings extends ServerConnectionSettings {
  readonly serverConnections?: number;
  /** Gets problems for people; contains no secrets. */
  readonly onProblem?: (text: string) => void;
  /** First wait after a failure, doubled up to a minute; default 1 s. */
  readonly backOffMs?: number;
  /** A connection lost sooner counts as a failure; default 5 s. */
  readonly shortLifeMs?: number;
}

interface ServerConnectionPoolOptions extends ServerConnectionPoolSettings {
  readonly url: string;
  readonly serverId: string;
  readonly token: () => Promise<string>;
  readonly signedIn: boolean;
}

const longestBackOffMs = 60_000;
const statusEveryMs = 10_000;
const maxOnDemand = 100;
const finAckMs = 2000;
const closeMs = 500;

/** Server connections to one hub: a fixed number, reopened when lost, and those on demand. */
export class ServerConnectionPool {
  private readonly all = new Set<ServerConnection>();
  private waiting = 0;
  private failures = 0;
  private retry: NodeJS.Timeout | undefined;
  private readonly leaving = new Map<ServerConnection, () => void>();
  private nextStatusMs = 0;
  private isOver = false;
  private readonly first = new Map<ServerConnection, (end?: ConnectionEnd) => void>();

  constructor(
    private readonly hub: AppServerHub,
    private readonly options: ServerConnectionPoolOptions,
  ) {}

  get clientCount(): number {
    return this.hub.counts.clients;
  }

  get isConnected(): boolean {
    return this.any() !== undefined;
  }

  /** @returns the failure when none of the fixed connections opened */
  async open(): Promise<ConnectionEnd | undefined> {
    const { serverConnections = 5 } = this.options;
    const outcomes = Array.from({ length: serverConnections }, async () => {
      const connection = await this.connect();
      return new Promise<ConnectionEnd | undefined>((resolve) => {
        this.first.set(connection, resolve);
      });
    });
    const ends = await Promise.all(outcomes);
    return ends.includes(undefined) ? undefined : ends[0];
  }

  private any(): ServerConnection | undefined {
    const usable = [...this.all].filter(({ isUsable }) => isUsable);
    return usable[Math.floor(Math.random() * usable.length)];
  }

  private openOnDemand(target: string): void {
    const open = [...this.all].filter(({ isOnDemand }) => isOnDemand).length;
    if (open < maxOnDemand) this.reconnect(target);
  }

  tick(): void {
    const nowMs = performance.now();
    for (const connection of this.all) connection.tick(nowMs);
    if (nowMs < this.nextStatusMs) return;
    this.nextStatusMs = nowMs + statusEveryMs;
    this.any()?.ping('status', '1');
  }

  onOpened(connection: ServerConnection): void {
    this.settleFirst(connection);
    if (connection.isOnDemand) return;
    clearTimeout(this.retry);
    this.retry = undefined;
    for (; this.waiting > 0; this.waiting--) this.reconnect();
  }

  onMessage(connection: ServerConnection, message: ServiceMessage): void {
    if (message.type === serviceType.ping) {
      this.pinged(connection, message.messages);
    } else if (message.type === serviceType.serviceError) {
      // After an error the service ignores this connection; the error has only a text.
      if (connection.isUsable)
        this.report(`Azure SignalR Service reports: ${message.errorMessage}`);
      connection.isMuted = true;
    } else {
      this.hub.onMessage(connection, message);
    }
  }

  onEnd(connection: ServerConnection, end: ConnectionEnd, openMs?: number): void {
    this.all.delete(connection);
    this.leaving.get(connection)?.();
    if (openMs !== undefined) this.hub.closeClientsOf(connection);
    // A refused on-demand connection is not needed.
    if (this.isOver || connection.isOnDemand) return;
    const { signedIn, shortLifeMs = 5000 } = this.options;
    if (openMs === undefined) {
      this.settleFirst(connection, end);
      this.report(
        `A server connection could not be opened: ${describeEnd(end)}. ${adviseOnEnd(end, signedIn)}`,
      );
    } else {
      this.report(`A server connection was lost: ${describeEnd(end)}.`);
    }
    if (openMs === undefined || openMs < shortLifeMs) {
      this.tryLater(end.retryAfterMs);
    } else {
      this.failures = 0;
      if (this.retry === undefined) this.reconnect();
      else this.waiting++;
    }
  }

  report(text: string): void {
    this.options.onProblem?.(shownText(text));
  }

  async dispose(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.retry);
    const open = [...this.all].filter(({ isOpen }) => isOpen);
    const left = open.map((connection) => this.untilGone(connection));
    // The service then routes no new clients here.
    for (const connection of open) connection.ping('shutdown', 'fin:0');
    await waitAtMost(Promise.all(left), finAckMs);
    this.hub.dispose();
    const closed = [...this.all].map((connection) => this.untilGone(connection));
    for (const connection of this.all) connection.close();
    await waitAtMost(Promise.all(closed), closeMs);
    for (const connection of this.all) connection.terminate();
  }

  private settleFirst(connection: ServerConnection, end?: ConnectionEnd): void {
    this.first.get(connection)?.(end);
    this.first.delete(connection);
  }

  private untilGone(connection: ServerConnection): Promise<void> {
    return new Promise((resolve) => this.leaving.set(connection, resolve));
  }

  private pinged(connection: ServerConnection, messages: readonly (string | null)[]): void {
    const [key, value] = messages;
    if (typeof value !== 'string') return;
    if (key === 'echo') connection.ping(...messages.map((each) => each ?? ''));
    else if (key === 'target' && !this.isOver) this.openOnDemand(value);
    else if (key === 'offline') this.hub.closeClientsOf(connection, value);
    else if (key === 'shutdown' && value === 'finack') this.leaving.get(connection)?.();
  }

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
        this.reconnect();
      },
      waitMs + Math.random() * backOffMs,
    );
  }

  private reconnect(target?: string): void {
    inBackground(this.connect(target), (error) => {
      this.report(`A server connection could not be opened: ${shownError(error)}.`);
      if (target === undefined && !this.isOver) this.tryLater();
    });
  }

  private async connect(target?: string): Promise<ServerConnection> {
    const token = await this.options.token();
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
    if (this.isOver) connection.terminate();
    return connection;
  }
}

async function waitAtMost(promise: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}

export interface AppServerOptions extends AppServerHubOptions, ServerConnectionPoolSettings {
  readonly service: ServiceInstance;
  readonly hub: string;
  readonly stickyMode?: StickyMode;
  readonly port?: number;
}

export type ServiceInstance = ServicePass & {
  /** `http(s)://host` without a port: the audience of tokens. */
  readonly audience: string;
  readonly clientEndpoint: string;
  readonly serverEndpoint: string;
};

/** Whether clients go back to the app server they negotiated with. Source: Azure/azure-signalr, `ServerStickyMode`. */
type StickyMode = 'disabled' | 'preferred' | 'required';

export interface AppServer {
  readonly url: string;
  readonly counts: AppServerHubCounts;
  renew(pass: ServicePass): void;
  dispose(): Promise<void>;
}

const path = '/signalrbench';

/**
 * Starts an app server with the bench hub for clients of the service.
 * @throws ExpectedError `service-unreachable`, `port-taken` or `port-refused`
 */
export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  const { service, port = 0, stickyMode = 'disabled' } = options;
  const signedIn = 'bearer' in service;
  const serverId = createServerId(hostname());
  const hubName = options.hub.toLowerCase();
  const access: ServiceAccess = {
    ...service,
    kind: 'signalr',
    hub: hubName,
    restUrl: service.serverEndpoint,
  };
  const tokens = new AccessTokens(access);
  const claims =
    stickyMode === 'disabled'
      ? {}
      : { 'asrs.s.sn': serverId, 'asrs.s.ssticky': stickyClaims[stickyMode] };
  const hub = new AppServerHub(options);
  const connections = new ServerConnectionPool(hub, {
    ...options,
    url: `${service.serverEndpoint.replace(/^http/, 'ws')}/server/?hub=${hubName}`,
    token: () => tokens.forServer(serverId),
    serverId,
    signedIn,
  });
  const server = loopbackServer({
    answer: (request, response) => {
      const refusal = refusalOf(request) ?? (connections.isConnected ? undefined : notConnected);
      const place = {
        url: `${service.clientEndpoint}/client/?hub=${hubName}`,
        token: () => tokens.forAnybody(claims),
      };
      guardAsync(response, negotiate(place, request, response, refusal));
    },
  });
  const timers = [
    setInterval(() => hub.tick(), hubTickMs),
    setInterval(() => connections.tick(), 1000),
  ];
  let disposed: Promise<void> | undefined;
  const shutDown = async (): Promise<void> => {
    await connections.dispose();
    for (const timer of timers) clearInterval(timer);
    await stopServer(server);
  };
  const dispose = (): Promise<void> => (disposed ??= shutDown());
  try {
    const failure = await connections.open();
    if (failure !== undefined) throw startFailure(failure, signedIn);
    const url = `http://${loopbackHost}:${await listenOnLoopback(server, port)}${path}`;
    return {
      url,
      get counts() {
        return hub.counts;
      },
      renew: (pass) => tokens.renew(pass),
      dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const startFailure = (end: ConnectionEnd, signedIn: boolean): ExpectedError =>
  new ExpectedError(
    'service-unreachable',
    `No server connection to Azure SignalR Service could be opened: ${describeEnd(end)}. ${adviseOnEnd(end, signedIn)}`,
  );

/** As in the SDK: `{machine name}_{32 hexadecimal digits}`, printable ASCII. */
export function createServerId(machine: string): string {
  const name = machine.replace(/[^\x21-\x7e]/g, '-').slice(0, 64);
  return `${name}_${randomBytes(16).toString('hex')}`;
}

const notConnected: Refusal = {
  status: 500,
  text: 'Azure SignalR Service is not connected yet, please try again later.',
};
const maxUrlChars = 4096;

function refusalOf({ url = '', method }: IncomingMessage): Refusal | undefined {
  if (url.length > maxUrlChars) return { status: 414, text: 'The query is too long.' };
  if (url.split('?', 1)[0]!.toLowerCase() !== `${path}/negotiate`)
    return { status: 404, text: 'Not found.' };
  return method === 'POST' ? undefined : { status: 405, text: 'Use POST.' };
}

async function negotiate(
  place: { readonly url: string; readonly token: () => Promise<string> },
  request: IncomingMessage,
  response: ServerResponse,
  refusal: Refusal | undefined,
): Promise<void> {
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  request.resume();
  if (refusal !== undefined) {
    refuse(response, refusal);
    return;
  }
  const query = /\?(.+)/s.exec(request.url ?? '')?.[1] ?? [];
  const requestId = `asrs_request_id=${randomBytes(8).toString('base64url')}`;
  const parts = [place.url, `asrs.op=${encodeURIComponent(path)}`, query, requestId];
  answerJson(response, {
    negotiateVersion: 0,
    url: parts.flat().join('&'),
    accessToken: await place.token(),
    availableTransports: [],
  });
}

const stickyClaims = { preferred: 'Preferred', required: 'Required' } as const;
