/** An app server: serves a hub to clients that Azure SignalR Service hands over, by the service protocol. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import { ExpectedError } from '../../base/expectedError';
import { serviceType, type ServiceMessage } from '../../wire/service/serviceMessage';
import { shownText } from '../../wire/connectFailure';
import type { ServicePass } from '../../base/endpoint';
import type { WaySettings } from '../../wire/socket/socket';
import {
  answerJson,
  refuse,
  listenOnLoopback,
  loopbackHost,
  loopbackServer,
  stopServer,
} from '../http/loopbackServer';
import {
  AppServerHub,
  hubTickMs,
  type AppServerHubCounts,
  type AppServerHubOptions,
} from './appServerHub';
import { AppTokens, type ServiceInstance, type StickyMode } from './appTokens';
import { endAdvice, endText, type ConnectionEnd, type ServerConnection } from './serviceConnection';
import {
  ServerConnections,
  type ServerConnectionsHost,
  type ServerConnectionsOptions,
} from './serviceConnections';

export interface AppServerOptions
  extends
    AppServerHubOptions,
    Pick<
      ServerConnectionsOptions,
      keyof WaySettings | 'handshakeMs' | 'pingMs' | 'silenceMs' | 'backOffMs' | 'shortLifeMs'
    > {
  readonly service: ServiceInstance;
  /** Name of the hub at the service. */
  readonly hub: string;
  /** Connections to the service, default 5; for broadcasts and large groups 40 are advised. */
  readonly serverConnections?: number;
  /** Whether clients that negotiate here are served by this process, default `disabled`. */
  readonly stickyMode?: StickyMode;
  /** Port of the negotiate endpoint on loopback; 0, the default, takes any free one. */
  readonly port?: number;
  /** Takes what a person may want to read, such as an error of the service; nothing secret is in it. */
  readonly onProblem?: (text: string) => void;
}

/** A running app server. */
export interface AppServer {
  /** Hub URL where clients negotiate, without `/negotiate`. */
  readonly url: string;
  readonly counts: AppServerHubCounts;
  /** From now on its tokens are made with this pass. */
  renew(pass: ServicePass): void;
  /** Takes leave of the service and closes everything. */
  dispose(): Promise<void>;
}

const path = '/signalrbench';
/** The answer of the SDK, with this text. */
const notConnected = {
  status: 500,
  text: 'Azure SignalR Service is not connected yet, please try again later.',
};
const tooLong = { status: 414, text: 'The query is too long.' };
const maxUrlChars = 4096;

class RunningAppServer implements AppServer, ServerConnectionsHost {
  url = '';
  private readonly hub: AppServerHub;
  private readonly hubName: string;
  private readonly tokens: AppTokens;
  private readonly connections: ServerConnections;
  private readonly server: Server;
  private timer: NodeJS.Timeout | undefined;
  private ticks = 0;
  private disposed: Promise<void> | undefined;

  constructor(private readonly options: AppServerOptions) {
    const { service, stickyMode = 'disabled' } = options;
    this.hubName = options.hub.toLowerCase();
    const serverId = serverIdOn(hostname());
    this.tokens = new AppTokens(service, this.hubName, serverId, stickyMode);
    this.hub = new AppServerHub(options);
    this.connections = new ServerConnections(this, {
      ...options,
      url: `${service.serverEndpoint.replace(/^http/, 'ws')}/server/?hub=${this.hubName}`,
      serverId,
      signedIn: 'bearer' in service,
      count: options.serverConnections ?? 5,
    });
    this.server = loopbackServer({
      answer: (request, response) => void this.answer(request, response),
    });
  }

  get counts(): AppServerHubCounts {
    return this.hub.counts;
  }

  get clientCount(): number {
    return this.hub.counts.clients;
  }

  renew(pass: ServicePass): void {
    this.tokens.renew(pass);
  }

  token(): Promise<string> {
    return this.tokens.forServer();
  }

  async start(): Promise<void> {
    this.timer = setInterval(() => this.tick(), hubTickMs);
    const failure = await this.connections.open();
    if (failure !== undefined) throw startFailure(failure, 'bearer' in this.options.service);
    const port = await listenOnLoopback(this.server, this.options.port ?? 0);
    this.url = `http://${loopbackHost}:${port}${path}`;
  }

  received(connection: ServerConnection, message: ServiceMessage): void {
    if (message.type === serviceType.serviceError) {
      // From now on the service takes nothing from this connection; there is no code, only the text.
      if (connection.isUsable)
        this.problem(`Azure SignalR Service reports: ${message.errorMessage}`);
      connection.mute();
    } else {
      this.hub.received(connection, message);
    }
  }

  offline(connection: ServerConnection, instanceId: string): void {
    this.hub.drop(connection, instanceId);
  }

  lost(connection: ServerConnection): void {
    this.hub.drop(connection);
  }

  problem(text: string): void {
    this.options.onProblem?.(shownText(text));
  }

  dispose(): Promise<void> {
    this.disposed ??= this.shutDown();
    return this.disposed;
  }

  private tick(): void {
    this.hub.tick();
    this.ticks = (this.ticks + 1) % (1000 / hubTickMs);
    if (this.ticks === 0) this.connections.tick(this.hub.tickMs);
  }

  /** Negotiate: sends the client on to the service, as the SDK does. */
  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    request.resume();
    const url = request.url ?? '';
    const [requested = ''] = url.split('?', 1);
    const query = url.slice(requested.length + 1);
    if (url.length > maxUrlChars) refuse(response, tooLong);
    else if (requested.toLowerCase() !== `${path}/negotiate`)
      refuse(response, { status: 404, text: 'Not found.' });
    else if (request.method !== 'POST') refuse(response, { status: 405, text: 'Use POST.' });
    else if (!this.connections.isConnected) refuse(response, notConnected);
    else {
      const accessToken = await this.tokens.forClient();
      answerJson(response, {
        negotiateVersion: 0,
        url: this.clientUrl(query),
        accessToken,
        availableTransports: [],
      });
    }
  }

  private clientUrl(query: string): string {
    const parts = [
      `hub=${this.hubName}`,
      `asrs.op=${encodeURIComponent(path)}`,
      ...(query === '' ? [] : [query]),
      `asrs_request_id=${randomBytes(8).toString('base64url')}`,
    ];
    return `${this.options.service.clientEndpoint}/client/?${parts.join('&')}`;
  }

  private async shutDown(): Promise<void> {
    await this.connections.dispose(() => this.hub.dispose());
    clearInterval(this.timer);
    await stopServer(this.server);
  }
}

/** Why no server connection could be opened, for a person. */
const startFailure = (end: ConnectionEnd, signedIn: boolean): ExpectedError =>
  new ExpectedError(
    'service-unreachable',
    `No server connection to Azure SignalR Service could be opened: ${endText(end)}. ${endAdvice(end, signedIn)}`,
  );

/**
 * Starts an app server with the bench hub: it opens its connections to the service, and sends clients that
 * negotiate with it on to the service.
 *
 * @throws ExpectedError `service-unreachable` when none of its connections could be opened; `port-taken`
 * and `port-refused` when it cannot listen
 */
export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  const server = new RunningAppServer(options);
  try {
    await server.start();
  } catch (error) {
    await server.dispose();
    throw error;
  }
  return server;
}

/**
 * Names an app server as the SDK does: `{machine name}_{32 hexadecimal digits}`. It travels in a header, and
 * machines have names in every language.
 */
export function serverIdOn(machine: string): string {
  const name = machine.replace(/[^\x21-\x7e]/g, '-').slice(0, 64);
  return `${name}_${randomBytes(16).toString('hex')}`;
}
