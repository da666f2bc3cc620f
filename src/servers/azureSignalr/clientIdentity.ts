import type { IncomingMessage } from 'node:http';
import { isHubName } from '../../base/serviceTraits';
import { bearerToken, type Terminable } from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import { type Emulator, claimToStrings, stringClaims, type TokenClaims } from '../service/emulator';

export interface ClientIdentity {
  readonly hub: string;
  readonly userId: string | undefined;
  readonly claims: TokenClaims;
  /** With its question mark, without the access token. */
  readonly query: string;
}

type ClaimPairs = readonly (readonly [type: string, value: string])[];
export type HeaderList = readonly (readonly [name: string, values: readonly string[]])[];

const defaultPollS = 5;
const longestPollS = 300;
const defaultHandshakeS = 15;
const longestHandshakeS = 30;
const maxServerIdChars = 256;

type TokenHost = Pick<Emulator<Terminable>, 'accessTokens' | 'urlsOf'>;

function textOf(claim: unknown): string | undefined {
  return stringClaims(claim)[0];
}

function secondsIn(claim: unknown, fallback: number, most: number): number {
  const seconds = Number(claim);
  return Number.isInteger(seconds) && seconds >= 1 && seconds <= most ? seconds : fallback;
}

/** The audience is the path with its slash, and only `hub` of the query. */
async function authenticate(
  service: TokenHost,
  request: IncomingMessage,
  query: URLSearchParams,
  path: '/client/' | '/server/',
): Promise<Pick<ClientIdentity, 'hub' | 'claims'> | Refusal> {
  const [hub, ...more] = query.getAll('hub');
  if (hub === undefined) return { status: 400, text: 'The query parameter hub is missing.' };
  if (more.length > 0) return { status: 400, text: 'There is more than one query parameter hub.' };
  if (!isHubName(hub)) return { status: 400, text: 'This is not a name of a hub.' };
  const bearer = bearerToken(request, query);
  const urls = service.urlsOf(`${path}?hub=${encodeURIComponent(hub)}`);
  const token = await (path === '/server/'
    ? service.accessTokens.checkApplication(bearer, urls)
    : service.accessTokens.check(bearer, urls));
  return 'status' in token ? token : { hub: hub.toLowerCase(), claims: token.claims };
}

export async function authenticateClient(
  service: TokenHost,
  request: IncomingMessage,
  query: URLSearchParams,
): Promise<ClientIdentity | Refusal> {
  const client = await authenticate(service, request, query, '/client/');
  if ('status' in client) return client;
  const { claims } = client;
  const userId = textOf(claims['asrs.s.uid']) ?? textOf(claims['nameid']) ?? textOf(claims['sub']);
  return { ...client, userId, query: queryOf(request) };
}

export async function authenticateServer(
  service: TokenHost,
  request: IncomingMessage,
  query: URLSearchParams,
): Promise<{ readonly hub: string; readonly serverId: string } | Refusal> {
  const server = await authenticate(service, request, query, '/server/');
  if ('status' in server) return server;
  const named = request.headers['x-asrs-server-id'] ?? server.claims['nameid'];
  const serverId = typeof named === 'string' ? named.slice(0, maxServerIdChars) : '';
  return { hub: server.hub, serverId };
}

function queryOf({ url = '' }: IncomingMessage): string {
  const start = url.indexOf('?');
  if (start < 0) return '';
  const parts = url.slice(start + 1).split('&');
  return `?${parts.filter((part) => !part.startsWith('access_token=')).join('&')}`;
}

export function pollTimeoutMs(claims: TokenClaims): number {
  return 1000 * secondsIn(claims['asrs.s.ttl'], defaultPollS, longestPollS);
}

export function handshakeTimeoutMs(claims: TokenClaims): number {
  return 1000 * secondsIn(claims['asrs.s.cht'], defaultHandshakeS, longestHandshakeS);
}

/** Milliseconds since 1970; undefined when the connection outlives its token. */
export function closeWithTokenMs(claims: TokenClaims): number | undefined {
  const seconds = Number(claims['asrs.s.aeo']);
  const closes = String(claims['asrs.s.coae']).toLowerCase() === 'true';
  return closes && Number.isFinite(seconds) ? 1000 * seconds : undefined;
}

export function stickyServer(
  claims: TokenClaims,
): { readonly serverId: string; readonly isRequired: boolean } | undefined {
  const serverId = textOf(claims['asrs.s.sn']);
  const sticky = textOf(claims['asrs.s.ssticky'])?.toLowerCase();
  if (serverId === undefined || (sticky !== 'preferred' && sticky !== 'required')) return undefined;
  return { serverId, isRequired: sticky === 'required' };
}

const transportBits: Readonly<Record<string, number>> = {
  WebSockets: 1,
  ServerSentEvents: 2,
  LongPolling: 4,
};

export function allowsTransport(claims: TokenClaims, transport: string): boolean {
  const mask = Number(claims['asrs.s.htt'] ?? NaN);
  return !Number.isInteger(mask) || mask === 0 || (mask & (transportBits[transport] ?? 0)) !== 0;
}

/** Claim types of .NET by their short names in tokens. */
const longNames: Readonly<Record<string, string>> = {
  nameid: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier',
  sub: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier',
  unique_name: 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name',
  role: 'http://schemas.microsoft.com/ws/2008/06/identity/claims/role',
};

export function claimPairs(claims: TokenClaims): ClaimPairs {
  return Object.entries(claims).flatMap(([type, claim]) =>
    claimToStrings(claim).map((text) => [longNames[type] ?? type, text] as const),
  );
}

/** Secrets and hop-by-hop headers. */
const ownHeaders =
  /^(authorization|cookie|host|connection|upgrade|sec-websocket-.*|content-.*|transfer-encoding|x-forwarded-for|asrs-.*)$/;

export function forwardedHeaders(request: IncomingMessage, instanceId: string): HeaderList {
  const sent = Object.entries(request.headersDistinct).filter(
    ([name, values]) => values !== undefined && !ownHeaders.test(name),
  );
  return [
    ['Asrs-Instance-Id', [instanceId]],
    ['X-Forwarded-For', [request.socket.remoteAddress ?? '']],
    ...sent.map(([name, values]) => [name, values ?? []] as const),
  ];
}
