import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { isHubName } from '../../base/serviceLimits';
import { isLoopback } from '../../wire/socket/isLoopback';
import type { HttpClients } from '../http/httpTransport';
import { answerJson, refuse, splitUrl, type Refusal } from '../http/loopbackServer';
import { availableTransports, isRefusal, postOnly, type ConnectionTokens } from '../http/negotiate';
import type { ConnectionQuota } from '../service/emulator';
import { bearerToken, type TokenOutcome } from '../service/tokenCheck';
import { allowsTransport, identityOf, type ClientIdentity } from './clientIdentity';
import { answerRest } from '../service/rest';
import { signalrRest, type SignalrRestHost } from './restApi';

export interface ServiceContext extends SignalrRestHost {
  readonly tokens: ConnectionTokens;
  readonly quota: ConnectionQuota;
  readonly httpClients: HttpClients;
  readonly identities: WeakMap<IncomingMessage, ClientIdentity>;
}

/** An upgrade that may go on, if there is room. */
export type ServiceAdmission =
  | { readonly identity: ClientIdentity; readonly negotiated: string | undefined }
  | { readonly hub: string; readonly serverId: string };

const notFound: Refusal = { status: 404, text: 'The service has nothing at this path.' };
const noUpgrade: Refusal = { status: 400, text: 'App servers connect by WebSocket.' };
const transportRefused: Refusal = {
  status: 404,
  text: 'The access token does not allow this transport.',
};
const maxServerIdChars = 256;

/** Answers every HTTP request that is no upgrade. */
export async function answerServiceRequest(
  context: ServiceContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { path, query } = splitUrl(request);
  const isClient = path === '/client' || path === '/client/negotiate';
  if (isClient && answersPreflight(request, response)) return;
  if (/^\/(api|emulator)\//.test(path)) {
    answerRest(signalrRest, context, request, response);
  } else if (isClient) {
    const identity = await identify(context, request, query);
    if (response.destroyed) return;
    if ('status' in identity) refuse(response, identity);
    else if (path === '/client') connect(context, request, response, query, identity);
    else answerNegotiate(context, request, response, query, identity);
  } else {
    refuse(response, path === '/server' ? noUpgrade : notFound);
  }
}

/** Decides on an upgrade by its path, hub and token. */
export async function admitServiceUpgrade(
  context: ServiceContext,
  request: IncomingMessage,
): Promise<ServiceAdmission | Refusal> {
  const { path, query } = splitUrl(request);
  if (path === '/client') {
    const identity = await identify(context, request, query);
    if ('status' in identity) return identity;
    if (!allowsTransport(identity.claims, 'WebSockets')) return transportRefused;
    return { identity, negotiated: query.get('id') ?? undefined };
  }
  if (path !== '/server') return notFound;
  const hub = hubOf(query);
  if (typeof hub !== 'string') return hub;
  const token = await checkToken(context, request, query, '/server/');
  if ('status' in token) return token;
  const header = request.headers['x-asrs-server-id'];
  const named = typeof header === 'string' ? header : token.claims['nameid'];
  const serverId = typeof named === 'string' ? named.slice(0, maxServerIdChars) : '';
  return { hub, serverId };
}

/** The hub of a request's query in lower case. */
function hubOf(query: URLSearchParams): string | Refusal {
  const [hub, ...more] = query.getAll('hub');
  if (hub === undefined) return { status: 400, text: 'The query parameter hub is missing.' };
  if (more.length > 0) return { status: 400, text: 'There is more than one query parameter hub.' };
  return isHubName(hub) ? hub.toLowerCase() : { status: 400, text: 'This is no name of a hub.' };
}

function checkToken(
  context: ServiceContext,
  request: IncomingMessage,
  query: URLSearchParams,
  path: '/client/' | '/server/',
): Promise<TokenOutcome> {
  const bearer = bearerToken(request.headers.authorization, query);
  // Of the query, only the hub belongs to the audience.
  const urls = context.urlsOf(`${path}?hub=${encodeURIComponent(query.get('hub') ?? '')}`);
  return path === '/server/'
    ? context.accessTokens.checkApplication(bearer, urls)
    : context.accessTokens.check(bearer, urls);
}

async function identify(
  context: ServiceContext,
  request: IncomingMessage,
  query: URLSearchParams,
): Promise<ClientIdentity | Refusal> {
  const hub = hubOf(query);
  if (typeof hub !== 'string') return hub;
  const token = await checkToken(context, request, query, '/client/');
  return 'status' in token ? token : identityOf(hub, token.claims, request);
}

function answerNegotiate(
  { quota, tokens }: ServiceContext,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
  { claims }: ClientIdentity,
): void {
  if (request.method !== 'POST') {
    refuse(response, postOnly);
    return;
  }
  const transports = availableTransports.filter(({ transport }) =>
    allowsTransport(claims, transport),
  );
  const answer = quota.refusal(performance.now()) ?? tokens.negotiate(query, transports);
  if (isRefusal(answer)) refuse(response, answer);
  else answerJson(response, answer);
}

/** Everything of server-sent events and long polling. */
function connect(
  { tokens, quota, identities, httpClients }: ServiceContext,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
  identity: ClientIdentity,
): void {
  const id = query.get('id');
  if (request.method === 'GET' && id !== null && !tokens.isUsed(id)) {
    const wantsEvents = /\btext\/event-stream\b/i.test(request.headers.accept ?? '');
    const transport = wantsEvents ? 'ServerSentEvents' : 'LongPolling';
    const refusal = allowsTransport(identity.claims, transport)
      ? quota.refusal(performance.now())
      : transportRefused;
    if (refusal !== undefined) {
      refuse(response, refusal);
      return;
    }
  }
  identities.set(request, identity);
  httpClients.answer(request, response, id);
}

/**
 * Pages of this machine may connect, as the service allows it to all pages.
 * @returns whether the request was a preflight, which is answered
 */
function answersPreflight(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !URL.canParse(origin) || !isLoopback(origin)) return false;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
  response.setHeader('Vary', 'Origin');
  if (request.method !== 'OPTIONS') return false;
  response.writeHead(204, {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers':
      'authorization, content-type, x-requested-with, x-signalr-user-agent',
    'Access-Control-Max-Age': '600',
  });
  response.end();
  return true;
}
