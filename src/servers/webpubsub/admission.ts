import type { IncomingMessage } from 'node:http';
import { isHubName } from '../../base/serviceTraits';
import { subprotocolNamed } from '../../wire/webpubsub/pubSubMessage';
import { bearerToken, pathAndQuery } from '../http/loopbackServer';
import type { Refusal } from '../http/ownRequests';
import { mostGroups } from '../hub/hubGroups';
import {
  isGroupName,
  jsonIn,
  partsOf,
  claimTexts,
  textsOf,
  type TokenClaims,
} from '../service/emulator';
import type { Admission, PubSubHost } from './client';
import { goodAnswer, stateIn } from './clientRequests';
import { systemEvent, type Upstream } from './pubSubUpstream';

export interface ConnectRequest {
  readonly hub: string;
  readonly query: URLSearchParams;
  readonly offered: readonly string[];
}

const notFound: Refusal = { status: 404, text: 'There is no client endpoint at this path.' };

export function readConnect(request: IncomingMessage): ConnectRequest | Refusal {
  const { path, query } = pathAndQuery(request);
  const inPath = /^\/client\/hubs\/([^/]+)\/?$/.exec(path)?.[1];
  if (inPath === undefined && !/^\/client\/?$/.test(path)) return notFound;
  const hubs = inPath === undefined ? query.getAll('hub') : (partsOf(inPath) ?? []);
  const [hub = ''] = hubs;
  if (hubs.length !== 1 || !isHubName(hub)) {
    return { status: 400, text: 'The URL has to name one hub.' };
  }
  const offered = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return { hub, query, offered };
}

export async function admit(
  host: PubSubHost,
  request: IncomingMessage,
  connect: ConnectRequest,
  connectionId: string,
): Promise<Admission | Refusal> {
  const { hub, query, offered } = connect;
  const token = bearerToken(request, query);
  const isAnonymous = token === undefined && host.allowAnonymous;
  // Tokens name the path of the hub also when the connect has it in the query.
  const urls = [...host.urlsOf(`/client/hubs/${hub}`), ...host.urlsOf(`/client/?hub=${hub}`)];
  const checked = isAnonymous ? { claims: {} } : await host.accessTokens.check(token, urls);
  if ('status' in checked) return checked;
  const { claims } = checked;
  const own = admissionOf(claims, offered);
  if (host.upstream.wants(hub, 'sys', 'connect')) {
    return askHandler(host.upstream, request, { ...connect, connectionId }, claims, own);
  }
  if (offered.length > 1) {
    const text = 'Only an event handler can choose between several subprotocols; offer one.';
    return { status: 400, text };
  }
  return own;
}

function admissionOf(claims: TokenClaims, offered: readonly string[]): Admission {
  const [userId] = textsOf(claims['sub']);
  const subprotocol = offered.length === 1 ? subprotocolNamed(offered[0]!) : undefined;
  return {
    userId,
    roles: textsOf(claims['role']),
    groups: textsOf(claims['webpubsub.group']).filter(isGroupName),
    protocolName: subprotocol?.name,
    subprotocol,
    connectionState: undefined,
  };
}

async function askHandler(
  upstream: Upstream,
  { headers }: IncomingMessage,
  { hub, query, offered, connectionId }: ConnectRequest & { readonly connectionId: string },
  claims: TokenClaims,
  own: Admission,
): Promise<Admission | Refusal> {
  const event = systemEvent('connect', {
    claims: listsOf(Object.entries(claims).map(([name, value]) => [name, claimTexts(value)])),
    query: listsOf([...new Set(query.keys())].map((name) => [name, query.getAll(name)])),
    headers: listsOf(Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat()])),
    subprotocols: offered,
    clientCertificates: [],
  });
  const answer = await upstream.send(event, {
    hub,
    connectionId,
    userId: own.userId,
    subprotocol: own.subprotocol?.name,
    connectionState: undefined,
  });
  if ('failure' in answer) return { status: 500, text: answer.failure };
  const good = goodAnswer(answer);
  // 1xx and 3xx are no answers to a client.
  if ('failure' in good)
    return { status: answer.status >= 400 ? answer.status : 500, text: good.failure };
  const admission = { ...own, connectionState: stateIn(answer) };
  if (answer.status === 204 || answer.body.length === 0) return admission;
  const changed = changedBy(answer.body, admission, offered);
  return typeof changed === 'string'
    ? { status: 500, text: `The event handler ${changed}.` }
    : changed;
}

/** What is for the service alone stays here. */
const secret = ['authorization', 'access_token', 'cookie'];

const listsOf = (entries: readonly (readonly [string, readonly string[]])[]): object =>
  Object.fromEntries(entries.filter(([name]) => !secret.includes(name.toLowerCase())));

function changedBy(body: Buffer, own: Admission, offered: readonly string[]): Admission | string {
  const parsed = jsonIn(body);
  if (typeof parsed !== 'object' || parsed === null)
    return 'answered connect with something unreadable';
  const { userId, roles, groups, subprotocol } = parsed as Record<string, unknown>;
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' && value !== '' ? value : undefined;
  const chosen = text(subprotocol);
  if (chosen !== undefined && !offered.includes(chosen))
    return 'chose a subprotocol that was not offered';
  const wanted = Array.isArray(groups) ? textsOf(groups) : own.groups;
  if (Array.isArray(groups) && wanted.length > mostGroups)
    return 'put the client into too many groups';
  return {
    ...own,
    userId: text(userId) ?? own.userId,
    roles: Array.isArray(roles) ? textsOf(roles) : own.roles,
    groups: wanted.filter(isGroupName),
    protocolName: chosen ?? own.protocolName,
    subprotocol: chosen === undefined ? own.subprotocol : subprotocolNamed(chosen),
  };
}
