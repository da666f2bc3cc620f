/** An app server: serves a hub to clients that Azure SignalR Service hands over, by the service protocol. */
import { randomBytes } from 'node:crypto';
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
  const { service, port = 0, stickyMode = 'disabled' } = options;
  const signedIn = 'bearer' in service;
  const serverId = serverIdOn(hostname());
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
  const connections = new ServerConnections(hub, {
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
      guardLater(response, negotiate(place, request, response, refusal));
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
