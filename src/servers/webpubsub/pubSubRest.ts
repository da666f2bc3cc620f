import { performance } from 'node:perf_hooks';
import {
  accepted,
  requireGroupName,
  commonRoutes,
  requireConnection,
  handlerRoutes,
  badRequest,
  joinGroup,
  noContent,
  jsonBody,
  ok,
  RestError,
  route,
  type RestAnswer,
  type RestApi,
  type RestCall,
} from '../service/rest';
import { tooManyGroupsText } from '../hub/hubGroups';
import { deliverTo, type PubSubClient, type PubSubHost, type PubSubHub, Delivery } from './client';
import { FilterError, parseFilter } from './filter';
import { permissionNames, type Permission } from './permissions';
import { readPayload, payloadProblem, systemEvents, type EventHandler } from './pubSubUpstream';

type Call = RestCall<PubSubHub>;
type Run = (call: Call) => RestAnswer;

class ParameterError extends RestError {
  constructor(parameter: string, message: string) {
    const headers = { 'Content-Type': 'application/problem+json; charset=utf-8' };
    super(400, message, { target: parameter, headers });
  }
}

/** As the service answered the tests of its JavaScript SDK. */
function errorBody(error: RestError, code: string): object {
  const { status, message, details } = error;
  const { target = 'Request' } = details;
  if (!(error instanceof ParameterError))
    return { code, message, target, details: null, innererror: null };
  const title = 'One or more validation errors occurred.';
  const problem = { type: null, title, status, detail: null, instance: null, extensions: {} };
  return { code, message, target, errors: { [target]: [message] }, ...problem };
}

const changeGroups =
  (change: (hub: PubSubHub, client: PubSubClient, group: string) => void): Run =>
  (call) => {
    const { groups, isWanted } = groupsAndFilter(call);
    for (const client of [...call.hub.clients.values()].filter(isWanted))
      for (const group of groups) change(call.hub, client, group);
    return ok;
  };

const handlerForm = `{"url":…}, if need be with userEvents: "*" or names with commas between, and with systemEvents: a list of ${systemEvents.join(', ')}`;

function handlerIn(fields: Readonly<Record<string, unknown>>): EventHandler | undefined {
  const { url, userEvents, systemEvents: asked = systemEvents } = fields;
  const wanted = systemEvents.filter((event) => Array.isArray(asked) && asked.includes(event));
  const areEvents = Array.isArray(asked) && asked.length === wanted.length;
  if (typeof url !== 'string' || !areEvents) return undefined;
  if (userEvents === undefined) return { url, systemEvents: wanted };
  return typeof userEvents === 'string' ? { url, userEvents, systemEvents: wanted } : undefined;
}

/** Permissions have a code of their own for unknown connections. */
const permittee = (call: Call): PubSubClient =>
  requireConnection<PubSubClient, PubSubHub>(call, 'Info.Connection.NotExisted');

export const webPubSubRest: RestApi<PubSubHub, PubSubHost> = {
  codes: {
    400: 'Error.BadRequest',
    401: 'Unauthorized',
    403: 'Forbidden',
    404: 'NotFound',
    405: 'MethodNotAllowed',
    413: 'PayloadTooLarge',
    415: 'UnsupportedMediaType',
  },
  errorBody,
  issuesKeys: false,
  resolvePath: (path) => {
    const version = path.query.get('api-version') ?? '';
    if (path.isSettings || /^20[0-9]{2}-[0-9]{2}-[0-9]{2}(-preview)?$/.test(version)) return path;
    const text = 'The query has to have an api-version, such as 2024-12-01.';
    throw new RestError(400, text, { code: 'InvalidApiVersion' });
  },
  routes: [
    ...commonRoutes<PubSubClient, PubSubHub, PubSubHost>({
      sendTo: (receivers) => (call, host) => {
        const delivery = deliveryIn(call);
        host.countDelivered(deliverTo(receivers(call), delivery, wantedBy(call)));
        return accepted;
      },
      close: (client, reason) => client.end(reason ?? ''),
      wantedBy,
      removed: noContent,
    }),
    route('GET', 'groups/{group}/connections', listMembers),
    route('PUT', 'users/{user}/groups/{group}', ({ hub, names }) => {
      for (const client of hub.withUserId(names.user)) joinGroup(hub, client, names.group);
      return ok;
    }),
    route('DELETE', 'users/{user}/groups/{group}', ({ hub, names }) => {
      for (const client of hub.withUserId(names.user)) hub.groups.leave(client, names.group);
      return noContent;
    }),
    route('DELETE', 'users/{user}/groups', ({ hub, names }) => {
      for (const client of hub.withUserId(names.user)) hub.groups.leaveAll(client);
      return noContent;
    }),
    route('POST', ':addToGroups', changeGroups(joinGroup)),
    route(
      'POST',
      ':removeFromGroups',
      changeGroups(({ groups }, client, group) => groups.leave(client, group)),
    ),
    route('PUT', 'permissions/{permission}/connections/{connection}', (call) => {
      const client = permittee(call);
      const granted = client.permissions.granting(permissionOf(call), targetOf(call));
      if (granted === undefined) throw badRequest(tooManyGroupsText);
      client.permissions = granted;
      return ok;
    }),
    route('DELETE', 'permissions/{permission}/connections/{connection}', (call) => {
      const [permission, target] = [permissionOf(call), targetOf(call)];
      for (const client of call.hub.withConnectionIds([call.names.connection]))
        client.permissions = client.permissions.revoking(permission, target);
      return noContent;
    }),
    route('HEAD', 'permissions/{permission}/connections/{connection}', (call) => {
      const { permissions: own } = permittee(call);
      return own.allows(permissionOf(call), targetOf(call)) ? ok : { status: 404 };
    }),
    route('POST', ':generateToken', generateToken),
  ],
  settingsRoutes: handlerRoutes<PubSubClient, EventHandler>(handlerIn, handlerForm, ok),
};

const maxPage = 200;

function listMembers({ hub, names, query, url }: Call): RestAnswer {
  const page = numberOf(query, 'maxpagesize', 1, maxPage) ?? maxPage;
  const top = numberOf(query, 'top', 1, 1_000_000_000) ?? Infinity;
  const from = numberOf(query, 'continuationToken', 0, 1_000_000_000) ?? 0;
  const members = [...hub.inGroup(names.group)];
  const to = Math.min(from + page, members.length, top);
  const value = members.slice(from, to).map(({ id, userId }) => ({ connectionId: id, userId }));
  if (to >= members.length || to >= top) return { status: 200, body: { value } };
  const next = new URLSearchParams(query);
  next.set('continuationToken', String(to));
  return { status: 200, body: { value, nextLink: `${url}?${next.toString()}` } };
}

async function generateToken({ hub, query }: Call, host: PubSubHost): Promise<RestAnswer> {
  const clientType = query.get('clientType') ?? 'Default';
  if (clientType.toLowerCase() !== 'default')
    throw badRequest('This server has clients of type Default only.');
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

function permissionOf({ names }: Call): Permission {
  const permission = permissionNames.find((name) => name === names.permission);
  if (permission !== undefined) return permission;
  throw badRequest('The permissions are joinLeaveGroup and sendToGroup.');
}

const targetOf = ({ query }: Call): string | undefined => query.get('targetName') ?? undefined;

function wantedBy({ query }: Call): (client: PubSubClient) => boolean {
  const excluded = new Set(query.getAll('excluded'));
  const filter = filterOf(query.get('filter'), 'filter');
  return (client) => !excluded.has(client.id) && filter(client);
}

function filterOf(text: string | null, parameter: string): (client: PubSubClient) => boolean {
  if (text === null || text.trim() === '') return () => true;
  try {
    return parseFilter(text);
  } catch (error) {
    if (error instanceof FilterError) throw new ParameterError(parameter, error.message);
    throw error;
  }
}

/** @throws RestError */
function deliveryIn({ contentType, body, query, names }: Call): Delivery {
  const payload = readPayload(contentType, body);
  if (contentType === undefined || payload === undefined || payload.dataType === 'protobuf') {
    throw new RestError(
      415,
      'The Content-Type of a message is application/json, text/plain or application/octet-stream.',
    );
  }
  const problem = payloadProblem(payload);
  if (problem !== undefined) throw badRequest(`The body is ${problem}.`);
  const ttlS = numberOf(query, 'messageTtlSeconds', 0, 300) ?? 0;
  const expiresMs = ttlS === 0 ? undefined : performance.now() + ttlS * 1000;
  const group = names.group === '' ? undefined : names.group;
  return new Delivery(
    { from: group === undefined ? 'server' : 'group', group, payload },
    expiresMs,
  );
}

function groupsAndFilter(call: Call): {
  groups: readonly string[];
  isWanted: (client: PubSubClient) => boolean;
} {
  const { groups, filter } = jsonBody(call);
  if (!Array.isArray(groups) || groups.some((group) => typeof group !== 'string'))
    throw badRequest('The body has to name groups, as a list of texts.');
  if (filter !== undefined && filter !== null && typeof filter !== 'string')
    throw badRequest('The filter is not a text.');
  return {
    groups: (groups as string[]).map(requireGroupName),
    isWanted: filterOf(filter ?? null, 'Filter'),
  };
}

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
  throw badRequest(`${name} is a number from ${least} to ${most}.`);
}
