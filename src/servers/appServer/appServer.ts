/** An app server: serves a hub to clients that Azure SignalR Service hands over, by the service protocol. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import type { ServicePass } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { TokenSigner } from '../../wire/connect/accessTokens';
import {
  answerJson,
  listenOnLoopback,
  loopbackHost,
  loopbackServer,
  refuse,
  stopServer,
  guardLater,
} from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import {
  AppServerHub,
  hubTickMs,
  type AppServerHubCounts,
  type AppServerHubOptions,
} from './appServerHub';
import { endAdvice, endText, type ConnectionEnd } from './serviceConnection';
import { ServerConnections, type ServerConnectionsSettings } from './serviceConnections';

export interface AppServerOptions extends AppServerHubOptions, ServerConnectionsSettings {
  readonly service: ServiceInstance;
  readonly hub: string;
  /** Whether clients that negotiate here are served by this process, default `disabled`. */
  readonly stickyMode?: StickyMode;
  readonly port?: number;
}

export type ServiceInstance = ServicePass & {
  /** `http(s)://host` without a port: what tokens are made out to. */
  readonly audience: string;
  /** `http(s)://host[:port]` where clients connect. */
  readonly clientEndpoint: string;
  /** `http(s)://host[:port]` where app servers connect. */
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
 * Starts an app server with the bench hub: it opens its connections to the service, and sends clients that
 * negotiate with it on to the service.
 * @throws ExpectedError `service-unreachable` when none of its connections could be opened; `port-taken`
 * and `port-refused` when it cannot listen
 */
export async function startAppServer(options: AppServerOptions): Promise<AppServer> {
  const { service, port = 0 } = options;
  const signedIn = 'bearer' in service;
  const serverId = serverIdOn(hostname());
  const tokens = new AppTokens(options, serverId);
  const hub = new AppServerHub(options);
  const connections = new ServerConnections(hub, {
    ...options,
    url: `${service.serverEndpoint.replace(/^http/, 'ws')}/server/?hub=${tokens.hub}`,
    token: () => tokens.forServer(),
    serverId,
    signedIn,
  });
  const server = loopbackServer({
    answer: (request, response) => {
      const refusal = refusalOf(request) ?? (connections.isConnected ? undefined : notConnected);
      guardLater(response, negotiate(service.clientEndpoint, tokens, request, response, refusal));
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
    `No server connection to Azure SignalR Service could be opened: ${endText(end)}. ${endAdvice(end, signedIn)}`,
  );

/** As the SDK does: `{machine name}_{32 hexadecimal digits}`, in ASCII, for it travels in a header. */
export function serverIdOn(machine: string): string {
  const name = machine.replace(/[^\x21-\x7e]/g, '-').slice(0, 64);
  return `${name}_${randomBytes(16).toString('hex')}`;
}

/** The answer of the SDK, with this text. */
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
  clientEndpoint: string,
  tokens: AppTokens,
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
  const [, query = ''] = /\?(.*)/s.exec(request.url ?? '') ?? [];
  const parts = [
    `hub=${tokens.hub}`,
    `asrs.op=${encodeURIComponent(path)}`,
    ...(query === '' ? [] : [query]),
    `asrs_request_id=${randomBytes(8).toString('base64url')}`,
  ];
  answerJson(response, {
    negotiateVersion: 0,
    url: `${clientEndpoint}/client/?${parts.join('&')}`,
    accessToken: await tokens.forClient(),
    availableTransports: [],
  });
}

const stickyClaims = { preferred: 'Preferred', required: 'Required' } as const;

const keptS = 3600;

type Claims = Readonly<Record<string, string>>;

/**
 * The tokens of one app server: signed with the access key, or after a sign-in its own token for itself, and
 * a key that was lent for clients. Source: Azure/azure-signalr, `ServiceEndpointProvider`.
 */
class AppTokens {
  readonly hub: string;
  private readonly audience: string;
  private readonly clientClaims: Claims;
  private pass: ServicePass;
  private signer: TokenSigner;
  private kept: { readonly token: Promise<string>; readonly untilS: number } | undefined;

  constructor(
    { service, hub, stickyMode = 'disabled' }: AppServerOptions,
    private readonly serverId: string,
  ) {
    this.hub = hub.toLowerCase();
    this.audience = service.audience;
    this.clientClaims =
      stickyMode === 'disabled'
        ? {}
        : { 'asrs.s.sn': serverId, 'asrs.s.ssticky': stickyClaims[stickyMode] };
    this.pass = service;
    this.signer = new TokenSigner(service);
  }

  renew(pass: ServicePass): void {
    this.pass = pass;
    this.signer = new TokenSigner(pass);
    this.kept = undefined;
  }

  async forServer(): Promise<string> {
    if ('bearer' in this.pass) return this.pass.bearer;
    return this.sign('server', { nameid: this.serverId });
  }

  /** For any client: they are nobody in particular, so one signature serves many. */
  forClient(): Promise<string> {
    const nowS = Date.now() / 1000;
    if (this.kept === undefined || this.kept.untilS <= nowS)
      this.kept = { token: this.sign('client', this.clientClaims), untilS: nowS + keptS };
    return this.kept.token;
  }

  private sign(who: 'client' | 'server', claims: Claims): Promise<string> {
    const nowS = Math.floor(Date.now() / 1000);
    const audience = `${this.audience}/${who}/?hub=${this.hub}`;
    return this.signer.sign(audience, { ...claims, iss: 'azure-signalr', nbf: nowS }, nowS);
  }
}
