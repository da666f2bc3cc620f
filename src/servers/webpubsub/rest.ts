import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { isHubName } from '../../base/serviceLimits';
import { pathAndQuery, readBody } from '../http/loopbackServer';
import { noMoreGroups } from '../hub/hubGroups';
import {
  findRoute,
  handlersIn,
  isGroupName,
  jsonIn,
  partsOf,
  route,
  type Route,
} from '../service/emulator';
import { bearerToken, type TokenCheck } from '../service/tokenCheck';
import { deliverTo, type Client, type PubSubHub } from './client';
import { Delivery } from './delivery';
import { FilterError, parseFilter } from './filter';
import { permissions, type Permission } from './permissions';
import {
  payloadOfBody,
  payloadProblem,
  systemEvents,
  type HandlerSettings,
  type Upstream,
} from './pubSubUpstream';

/** What REST calls are answered from. */
export interface RestHost {
  readonly accessTokens: TokenCheck;
  readonly upstream: Upstream;
  /** The hub of that name; one without clients is made up for the call. */
  hub(name: string): PubSubHub;
  /** URLs under which this path is reached, for the audience of tokens. */
  urlsOf(path: string): readonly string[];
  clientToken(
    path: string,
    claims: Readonly<Record<string, unknown>>,
    minutes: number,
  ): Promise<string>;
  delivered(count: number): void;
}

/** A REST call whose token was accepted. */
interface RestCall {
  readonly hub: PubSubHub;
  /** What stands for the names in the path, decoded. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: Buffer;
  /** Whole URL without its query. */
  readonly url: string;
}

interface RestAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A call that is refused: the code is for programs, the sentence for people. */
class RestError extends Error {
  /** @param target what of the request is at fault */
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly target = 'Request',
  ) {
    super(message);
  }
}

/** What the service calls everything that is wrong with a request. */
const badRequest = 'Error.BadRequest';
const invalid = (message: string): RestError => new RestError(400, badRequest, message);

/** A parameter that is refused for its form. */
class ParameterError extends RestError {
  constructor(parameter: string, message: string) {
    super(400, badRequest, message, parameter);
  }
}

const ok: RestAnswer = { status: 200 };
const accepted: RestAnswer = { status: 202 };
const noContent: RestAnswer = { status: 204 };
const notFound = new RestError(404, 'NotFound', 'There is nothing at this path.');

/** Largest body, as of the service. */
const maxBodyBytes = 1024 * 1024;

/** Answers one HTTP request that is no upgrade. */
export function answerRest(
  host: RestHost,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const take = (body: Buffer): void => {
    void carryOut(host, request, body)
      .catch((error: unknown) => {
        if (error instanceof RestError) return errorAnswer(error);
        throw error;
      })
      .then((answer) => writeAnswer(response, answer));
  };
  readBody(request, response, maxBodyBytes, take, () => {
    const text = `The body of a request has at most ${maxBodyBytes} bytes.`;
    const refusal = errorAnswer(new RestError(413, 'PayloadTooLarge', text));
    // What is left of the body is not read.
    writeAnswer(response, { ...refusal, headers: { ...refusal.headers, Connection: 'close' } });
  });
}

/** @throws RestError when it is refused */
async function carryOut(
  host: RestHost,
  request: IncomingMessage,
  body: Buffer,
): Promise<RestAnswer> {
  const { path, query } = pathAndQuery(request);
  if (/^\/api\/health\/?$/.test(path)) return ok;
  const found = /^\/(api|emulator)\/hubs\/([^/]+)\/(.+?)\/?$/.exec(path);
  if (found === null) throw notFound;
  const token = bearerToken(request.headers.authorization, new URLSearchParams());
  const checked = await host.accessTokens.checkApplication(token, host.urlsOf(request.url ?? ''));
  if ('status' in checked) {
    const code = checked.status === 403 ? 'Forbidden' : 'Unauthorized';
    throw new RestError(checked.status, code, checked.text);
  }
  const [, area, hubText = '', rest = ''] = found;
  const isOwn = area === 'emulator';
  const parts = partsOf(rest);
  const [hub] = partsOf(hubText) ?? [];
  if (parts === undefined || hub === undefined) throw invalid('The path is badly encoded.');
  const asked = findRoute(isOwn ? ownRoutes : dataPlane, request.method ?? '', parts);
  if (!('route' in asked)) {
    if (asked.length === 0) throw notFound;
    throw new RestError(405, 'MethodNotAllowed', 'This path has no such method.');
  }
  if (!isOwn && !/^20[0-9]{2}-[0-9]{2}-[0-9]{2}(-preview)?$/.test(query.get('api-version') ?? '')) {
    const text = 'The query has to have an api-version, such as 2024-12-01.';
    throw new RestError(400, 'InvalidApiVersion', text);
  }
  if (!isHubName(hub)) throw invalid('This is no name of a hub.');
  const call = {
    hub: host.hub(hub),
    names: asked.names,
    query,
    contentType: request.headers['content-type'],
    body,
    url: host.urlsOf(path)[0]!,
  };
  return asked.route.run(call, host);
}

function writeAnswer(response: ServerResponse, { status, body, headers }: RestAnswer): void {
  const text = body === undefined ? '' : JSON.stringify(body);
  response.writeHead(status, {
    ...(body !== undefined && { 'Content-Type': 'application/json; charset=utf-8' }),
    // An answer without a body has no length when the status says so (RFC 9110, 8.6).
    ...(status !== 204 && { 'Content-Length': Buffer.byteLength(text) }),
    ...headers,
  });
  response.end(text);
}

/** The forms of the service's errors, as it answered the tests of the SDK for JavaScript. */
function errorAnswer(error: RestError): RestAnswer {
  const { status, code, message, target } = error;
  const headers = { 'x-ms-error-code': code };
  if (!(error instanceof ParameterError)) {
    return { status, body: { code, message, target, details: null, innererror: null }, headers };
  }
  const title = 'One or more validation errors occurred.';
  const problem = { type: null, title, status, detail: null, instance: null, extensions: {} };
  return {
    status,
    body: { code, message, target, errors: { [target]: [message] }, ...problem },
    headers: { ...headers, 'Content-Type': 'application/problem+json; charset=utf-8' },
  };
}

type Run = (call: RestCall, host: RestHost) => RestAnswer | Promise<RestAnswer>;

const exists = (isThere: boolean, what: string): RestAnswer =>
  isThere ? ok : { status: 404, headers: { 'x-ms-error-code': `Warning.${what}.NotExisted` } };

/** Who a route is about. */
type Receivers = (call: RestCall) => Iterable<Client>;
const everyone: Receivers = ({ hub }) => hub.clients.values();
const inGroup: Receivers = (call) => call.hub.groups.membersOf(groupOf(call));
const ofUser = ({ hub, names }: RestCall): ReadonlySet<Client> => hub.ofUser(names[0]!);
// One that is not there is nobody, and no error.
const theConnection: Receivers = (call) => {
  const client = connectionAt(call, 0);
  return client === undefined ? [] : [client];
};

const sendTo =
  (receivers: Receivers, groupIn?: (call: RestCall) => string): Run =>
  (call, host) => {
    const delivery = deliveryIn(call, groupIn?.(call));
    host.delivered(deliverTo(receivers(call), delivery, wantedBy(call)));
    return accepted;
  };

const close =
  (receivers: Receivers): Run =>
  (call) => {
    const isWanted = wantedBy(call);
    const reason = call.query.get('reason') ?? '';
    // Closing takes them out of what is gone through.
    for (const client of [...receivers(call)]) if (isWanted(client)) client.end(reason);
    return noContent;
  };

const leaveAllGroups =
  (receivers: Receivers): Run =>
  (call) => {
    for (const client of receivers(call)) call.hub.groups.leaveAll(client);
    return noContent;
  };

function join({ hub }: RestCall, client: Client, group: string): void {
  if (!hub.groups.join(client, group)) throw invalid(noMoreGroups);
}

const changeGroups =
  (change: (call: RestCall, client: Client, group: string) => void): Run =>
  (call) => {
    const { groups, isWanted } = groupsAndFilter(call);
    for (const client of [...call.hub.clients.values()].filter(isWanted))
      for (const group of groups) change(call, client, group);
    return ok;
  };

/** The data plane of the service. */
const dataPlane: readonly Route<Run>[] = [
  route('POST', ':send', sendTo(everyone)),
  route('POST', 'groups/{group}/:send', sendTo(inGroup, groupOf)),
  route('POST', 'users/{user}/:send', sendTo(ofUser)),
  route('POST', 'connections/{connection}/:send', sendTo(theConnection)),
  route('POST', ':closeConnections', close(everyone)),
  route('POST', 'groups/{group}/:closeConnections', close(inGroup)),
  route('POST', 'users/{user}/:closeConnections', close(ofUser)),
  route('DELETE', 'connections/{connection}', close(theConnection)),
  route('HEAD', 'connections/{connection}', ({ hub, names }) =>
    exists(hub.clients.has(names[0]!), 'Connection'),
  ),
  route('HEAD', 'users/{user}', (call) => exists(ofUser(call).size > 0, 'User')),
  route('HEAD', 'groups/{group}', (call) =>
    exists(inGroup(call)[Symbol.iterator]().next().done !== true, 'Group'),
  ),
  route('GET', 'groups/{group}/connections', listMembers),
  route('PUT', 'groups/{group}/connections/{connection}', (call) => {
    join(call, connectionOf(call, 1, 'Error.Connection.NotExisted'), groupOf(call));
    return ok;
  }),
  route('DELETE', 'groups/{group}/connections/{connection}', (call) => {
    const client = connectionAt(call, 1);
    if (client !== undefined) call.hub.groups.leave(client, groupOf(call));
    return noContent;
  }),
  route('PUT', 'users/{user}/groups/{group}', (call) => {
    for (const client of ofUser(call)) join(call, client, groupOf(call, 1));
    return ok;
  }),
  route('DELETE', 'users/{user}/groups/{group}', (call) => {
    for (const client of ofUser(call)) call.hub.groups.leave(client, groupOf(call, 1));
    return noContent;
  }),
  route('DELETE', 'users/{user}/groups', leaveAllGroups(ofUser)),
  route('DELETE', 'connections/{connection}/groups', leaveAllGroups(theConnection)),
  route('POST', ':addToGroups', changeGroups(join)),
  route(
    'POST',
    ':removeFromGroups',
    changeGroups(({ hub }, client, group) => hub.groups.leave(client, group)),
  ),
  route('PUT', 'permissions/{permission}/connections/{connection}', (call) => {
    const client = connectionOf(call, 1, 'Info.Connection.NotExisted');
    const granted = client.permissions.granting(permissionOf(call), targetOf(call));
    if (granted === undefined) throw invalid(noMoreGroups);
    client.permissions = granted;
    return ok;
  }),
  route('DELETE', 'permissions/{permission}/connections/{connection}', (call) => {
    const [permission, target] = [permissionOf(call), targetOf(call)];
    const client = connectionAt(call, 1);
    if (client !== undefined) client.permissions = client.permissions.revoking(permission, target);
    return noContent;
  }),
  route('HEAD', 'permissions/{permission}/connections/{connection}', (call) => {
    const client = connectionOf(call, 1, 'Info.Connection.NotExisted');
    return client.permissions.allows(permissionOf(call), targetOf(call)) ? ok : { status: 404 };
  }),
  route('POST', ':generateToken', generateToken),
];

/** What only the emulator has: event handlers, which the service has in its settings. */
const ownRoutes: readonly Route<Run>[] = [
  route('PUT', 'handler', registerHandlers),
  route('DELETE', 'handler', ({ hub }, { upstream }) =>
    upstream.unregister(hub.name) ? noContent : { status: 404 },
  ),
];

/** Members of a group on one page, at most. */
const maxPage = 200;

function listMembers(call: RestCall): RestAnswer {
  const { query, url } = call;
  const group = groupOf(call);
  const page = numberOf(query, 'maxpagesize', 1, maxPage) ?? maxPage;
  const top = numberOf(query, 'top', 1, 1_000_000_000) ?? Infinity;
  const from = numberOf(query, 'continuationToken', 0, 1_000_000_000) ?? 0;
  const members = [...call.hub.groups.membersOf(group)];
  const to = Math.min(from + page, members.length, top);
  const value = members.slice(from, to).map(({ id, userId }) => ({ connectionId: id, userId }));
  if (to >= members.length || to >= top) return { status: 200, body: { value } };
  const next = new URLSearchParams(query);
  next.set('continuationToken', String(to));
  return { status: 200, body: { value, nextLink: `${url}?${next.toString()}` } };
}

async function generateToken({ hub, query }: RestCall, host: RestHost): Promise<RestAnswer> {
  const clientType = query.get('clientType') ?? 'Default';
  if (clientType.toLowerCase() !== 'default')
    throw invalid('This server has clients of type Default only.');
  const minutes = numberOf(query, 'minutesToExpire', 1, 1_000_000) ?? 60;
  const userId = query.get('userId');
  const [role, group] = [query.getAll('role'), query.getAll('group')];
  const claims = {
    ...(userId !== null && { sub: userId }),
    ...(role.length > 0 && { role }),
    ...(group.length > 0 && { 'webpubsub.group': group }),
  };
  const token = await host.clientToken(`/client/hubs/${hub.name}`, claims, minutes);
  return { status: 200, body: { token } };
}

const handlerForm = `{"url":…}, if need be with userEvents: "*" or names with commas between, and with systemEvents: a list of ${systemEvents.join(', ')}`;

async function registerHandlers(call: RestCall, { upstream }: RestHost): Promise<RestAnswer> {
  const handlers = handlersIn(objectIn(call), handlerIn);
  const problem =
    handlers === undefined
      ? `The body has to be ${handlerForm}; or {"handlers":[…]} with several of these, of which the first that wants an event gets it.`
      : await upstream.register(call.hub.name, handlers);
  if (problem !== undefined) throw new RestError(400, 'InvalidEventHandler', problem);
  return ok;
}

function handlerIn(fields: Readonly<Record<string, unknown>>): HandlerSettings | undefined {
  const { url, userEvents, systemEvents: asked = systemEvents } = fields;
  const wanted = systemEvents.filter((event) => Array.isArray(asked) && asked.includes(event));
  const areEvents = Array.isArray(asked) && asked.length === wanted.length;
  if (typeof url !== 'string' || !areEvents) return undefined;
  if (userEvents === undefined) return { url, systemEvents: wanted };
  return typeof userEvents === 'string' ? { url, userEvents, systemEvents: wanted } : undefined;
}

function permissionOf({ names }: RestCall): Permission {
  const permission = permissions.find((name) => name === names[0]);
  if (permission !== undefined) return permission;
  throw invalid('The permissions are joinLeaveGroup and sendToGroup.');
}

const targetOf = ({ query }: RestCall): string | undefined => query.get('targetName') ?? undefined;

/** The name at that place of the path. @throws RestError when it is no name of a group */
function groupOf({ names }: RestCall, index = 0): string {
  return checkedGroup(names[index]!);
}

function checkedGroup(name: string): string {
  if (isGroupName(name)) return name;
  throw invalid('The name of a group has 1 to 1,024 characters and is not blank.');
}

/** The connection with the id at that place of the path; undefined when there is none. */
function connectionAt({ hub, names }: RestCall, index: number): Client | undefined {
  return hub.clients.get(names[index]!);
}

/**
 * The connection with the id at that place of the path.
 * @param code of the refusal: the service has one for groups, and one for permissions
 * @throws RestError when there is none
 */
function connectionOf(
  call: RestCall,
  index: number,
  code: 'Error.Connection.NotExisted' | 'Info.Connection.NotExisted',
): Client {
  const client = connectionAt(call, index);
  if (client !== undefined) return client;
  throw new RestError(404, code, `Connection \`${call.names[index]}\` is not found.`, 'Connection');
}

/** Which clients a call is about, besides its path: not the excluded, and only what its filter wants. */
function wantedBy({ query }: RestCall): (client: Client) => boolean {
  const excluded = new Set(query.getAll('excluded'));
  const filter = filterOf(query.get('filter'), 'filter');
  return (client) => !excluded.has(client.id) && filter(client);
}

function filterOf(text: string | null, parameter: string): (client: Client) => boolean {
  if (text === null || text.trim() === '') return () => true;
  try {
    return parseFilter(text);
  } catch (error) {
    if (error instanceof FilterError) throw new ParameterError(parameter, error.message);
    throw error;
  }
}

/**
 * The message in the body of a call, from the application's server or, when it goes to a group, from the group.
 * @throws RestError when it is none
 */
function deliveryIn({ contentType, body, query }: RestCall, group?: string): Delivery {
  const payload = payloadOfBody(contentType, body);
  if (contentType === undefined || payload === undefined || payload.dataType === 'protobuf') {
    throw new RestError(
      415,
      'UnsupportedMediaType',
      'The Content-Type of a message is application/json, text/plain or application/octet-stream.',
    );
  }
  const problem = payloadProblem(payload);
  if (problem !== undefined) throw invalid(`The body is ${problem}.`);
  const ttlS = numberOf(query, 'messageTtlSeconds', 0, 300) ?? 0;
  const expiresMs = ttlS === 0 ? undefined : performance.now() + ttlS * 1000;
  return new Delivery(
    { from: group === undefined ? 'server' : 'group', group, payload },
    expiresMs,
  );
}

/** The JSON object in the body. @throws RestError when it is none */
function objectIn({ body }: RestCall): Readonly<Record<string, unknown>> {
  const parsed = jsonIn(body);
  if (parsed === undefined) throw invalid('The body is no JSON.');
  if (typeof parsed !== 'object' || parsed === null) throw invalid('The body is no JSON object.');
  return parsed as Record<string, unknown>;
}

/** Groups and clients of a call that changes many memberships. @throws RestError */
function groupsAndFilter(call: RestCall): {
  groups: readonly string[];
  isWanted: (client: Client) => boolean;
} {
  const { groups, filter } = objectIn(call);
  if (!Array.isArray(groups) || groups.some((group) => typeof group !== 'string'))
    throw invalid('The body has to name groups, as a list of texts.');
  if (filter !== undefined && filter !== null && typeof filter !== 'string')
    throw invalid('The filter is no text.');
  return {
    groups: (groups as string[]).map(checkedGroup),
    isWanted: filterOf(filter ?? null, 'Filter'),
  };
}

/** A whole number of the query. @throws RestError when it is none from `least` to `most` */
function numberOf(
  query: URLSearchParams,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = /^[0-9]{1,9}$/.test(text) ? Number(text) : -1;
  if (value >= least && value <= most) return value;
  throw invalid(`${name} is a number from ${least} to ${most}.`);
}
