import { SignJWT } from 'jose';
import { noMoreGroups } from '../hub/hubGroups';
import type { Client } from './client';
import { systemEvents } from './cloudEvent';
import { deliverTo } from './pubSubHub';
import { permissions, type Permission } from './permissions';
import {
  badRequest,
  RestError,
  type RestAnswer,
  connectionAt,
  connectionOf,
  deliveryIn,
  groupOf,
  groupsAndFilter,
  numberOf,
  objectIn,
  wantedBy,
  type RestCall,
} from './restCall';
import type { HandlerSettings, Upstream } from './pubSubUpstream';

/** What REST calls are carried out with. */
export interface RestContext {
  readonly upstream: Upstream;
  readonly accessKey: string;
  /** Audience of tokens for clients of a hub. */
  clientUrl(hub: string): string;
  delivered(count: number): void;
}

type Method = 'DELETE' | 'GET' | 'HEAD' | 'POST' | 'PUT';
type Carry = (call: RestCall, context: RestContext) => RestAnswer | Promise<RestAnswer>;

/** A route: `*` in its path is a name. */
export interface RestRoute {
  readonly method: Method;
  /** Behind `/api/hubs/{hub}/`, or behind `/emulator/hubs/{hub}/`. */
  readonly path: readonly string[];
  readonly carry: Carry;
}

const route = (method: Method, path: string, carry: Carry): RestRoute => ({
  method,
  path: path.split('/'),
  carry,
});

const ok: RestAnswer = { status: 200 };
const accepted: RestAnswer = { status: 202 };
const noContent: RestAnswer = { status: 204 };

const exists = (isThere: boolean, what: string): RestAnswer =>
  isThere ? ok : { status: 404, headers: { 'x-ms-error-code': `Warning.${what}.NotExisted` } };

/** Who a route is about. */
type Receivers = (call: RestCall) => Iterable<Client>;
const everyone: Receivers = ({ hub }) => hub.clients.values();
const inGroup: Receivers = (call) => call.hub.groups.membersOf(groupOf(call));
const ofUser: Receivers = ({ hub, names }) => hub.ofUser(names[0]!);
// One that is not there is nobody, and no error.
const theConnection: Receivers = (call) => {
  const client = connectionAt(call, 0);
  return client === undefined ? [] : [client];
};

const sendTo =
  (receivers: Receivers, groupIn?: (call: RestCall) => string): Carry =>
  (call, context) => {
    const delivery = deliveryIn(call, groupIn?.(call));
    context.delivered(deliverTo(receivers(call), delivery, wantedBy(call)));
    return accepted;
  };

const close =
  (receivers: Receivers): Carry =>
  (call) => {
    const isWanted = wantedBy(call);
    const reason = call.query.get('reason') ?? '';
    // Closing takes them out of what is gone through.
    for (const client of [...receivers(call)]) if (isWanted(client)) client.end(reason);
    return noContent;
  };

const leaveAllGroups =
  (receivers: Receivers): Carry =>
  (call) => {
    for (const client of receivers(call)) call.hub.groups.leaveAll(client);
    return noContent;
  };

function join({ hub }: RestCall, client: Client, group: string): void {
  if (!hub.groups.join(client, group)) throw new RestError(400, badRequest, noMoreGroups);
}

const changeGroups =
  (change: 'join' | 'leave'): Carry =>
  (call) => {
    const { groups, isWanted } = groupsAndFilter(call);
    const clients = [...call.hub.clients.values()].filter(isWanted);
    for (const client of clients) {
      for (const group of groups) {
        if (change === 'join') join(call, client, group);
        else call.hub.groups.leave(client, group);
      }
    }
    return ok;
  };

function permissionOf({ names }: RestCall): Permission {
  const permission = permissions.find((name) => name === names[0]);
  if (permission !== undefined) return permission;
  throw new RestError(400, badRequest, 'The permissions are joinLeaveGroup and sendToGroup.');
}

const targetOf = ({ query }: RestCall): string | undefined => query.get('targetName') ?? undefined;

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

async function generateToken({ hub, query }: RestCall, context: RestContext): Promise<RestAnswer> {
  const clientType = query.get('clientType') ?? 'Default';
  if (clientType.toLowerCase() !== 'default') {
    throw new RestError(400, badRequest, 'This server has clients of type Default only.');
  }
  const minutes = numberOf(query, 'minutesToExpire', 1, 1_000_000) ?? 60;
  const userId = query.get('userId');
  const [role, group] = [query.getAll('role'), query.getAll('group')];
  const token = await new SignJWT({
    ...(userId !== null && { sub: userId }),
    ...(role.length > 0 && { role }),
    ...(group.length > 0 && { 'webpubsub.group': group }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(context.clientUrl(hub.name))
    .setIssuedAt()
    .setExpirationTime(`${minutes} minutes`)
    .sign(Buffer.from(context.accessKey, 'utf8'));
  return { status: 200, body: { token } };
}

/** One handler, or a list of them in `handlers`; undefined for anything else. */
function handlersIn(body: Readonly<Record<string, unknown>>): HandlerSettings[] | undefined {
  const { handlers = [body] } = body;
  if (!Array.isArray(handlers)) return undefined;
  const read = handlers.map((each) => handlerIn(each as unknown));
  return read.includes(undefined) ? undefined : (read as HandlerSettings[]);
}

function handlerIn(value: unknown): HandlerSettings | undefined {
  const fields = (typeof value === 'object' ? value : null) as Readonly<
    Record<string, unknown>
  > | null;
  const { url, userEvents, systemEvents: asked = systemEvents } = fields ?? {};
  const wanted = systemEvents.filter((event) => Array.isArray(asked) && asked.includes(event));
  const areEvents = Array.isArray(asked) && asked.length === wanted.length;
  if (typeof url !== 'string' || !areEvents) return undefined;
  if (userEvents === undefined) return { url, systemEvents: wanted };
  return typeof userEvents === 'string' ? { url, userEvents, systemEvents: wanted } : undefined;
}

const handlerForm = `{"url":…}, if need be with userEvents: "*" or names with commas between, and with systemEvents: a list of ${systemEvents.join(', ')}`;

async function registerHandlers(call: RestCall, { upstream }: RestContext): Promise<RestAnswer> {
  const handlers = handlersIn(objectIn(call));
  const problem =
    handlers === undefined
      ? `The body has to be ${handlerForm}; or {"handlers":[…]} with several of these, of which the first that wants an event gets it.`
      : await upstream.register(call.hub.name, handlers);
  if (problem !== undefined) throw new RestError(400, 'InvalidEventHandler', problem);
  return ok;
}

/** The data plane of the service. */
export const dataPlane: readonly RestRoute[] = [
  route('POST', ':send', sendTo(everyone)),
  route('POST', 'groups/*/:send', sendTo(inGroup, groupOf)),
  route('POST', 'users/*/:send', sendTo(ofUser)),
  route('POST', 'connections/*/:send', sendTo(theConnection)),
  route('POST', ':closeConnections', close(everyone)),
  route('POST', 'groups/*/:closeConnections', close(inGroup)),
  route('POST', 'users/*/:closeConnections', close(ofUser)),
  route('DELETE', 'connections/*', close(theConnection)),
  route('HEAD', 'connections/*', ({ hub, names }) =>
    exists(hub.clients.has(names[0]!), 'Connection'),
  ),
  route('HEAD', 'users/*', ({ hub, names }) => exists(hub.ofUser(names[0]!).size > 0, 'User')),
  route('HEAD', 'groups/*', (call) =>
    exists(inGroup(call)[Symbol.iterator]().next().done !== true, 'Group'),
  ),
  route('GET', 'groups/*/connections', listMembers),
  route('PUT', 'groups/*/connections/*', (call) => {
    join(call, connectionOf(call, 1, 'Error.Connection.NotExisted'), groupOf(call));
    return ok;
  }),
  route('DELETE', 'groups/*/connections/*', (call) => {
    const client = connectionAt(call, 1);
    if (client !== undefined) call.hub.groups.leave(client, groupOf(call));
    return noContent;
  }),
  route('PUT', 'users/*/groups/*', (call) => {
    for (const client of ofUser(call)) join(call, client, groupOf(call, 1));
    return ok;
  }),
  route('DELETE', 'users/*/groups/*', (call) => {
    for (const client of ofUser(call)) call.hub.groups.leave(client, groupOf(call, 1));
    return noContent;
  }),
  route('DELETE', 'users/*/groups', leaveAllGroups(ofUser)),
  route('DELETE', 'connections/*/groups', leaveAllGroups(theConnection)),
  route('POST', ':addToGroups', changeGroups('join')),
  route('POST', ':removeFromGroups', changeGroups('leave')),
  route('PUT', 'permissions/*/connections/*', (call) => {
    const client = connectionOf(call, 1, 'Info.Connection.NotExisted');
    const granted = client.permissions.granting(permissionOf(call), targetOf(call));
    if (granted === undefined) throw new RestError(400, badRequest, noMoreGroups);
    client.permissions = granted;
    return ok;
  }),
  route('DELETE', 'permissions/*/connections/*', (call) => {
    const [permission, target] = [permissionOf(call), targetOf(call)];
    const client = connectionAt(call, 1);
    if (client !== undefined) client.permissions = client.permissions.revoking(permission, target);
    return noContent;
  }),
  route('HEAD', 'permissions/*/connections/*', (call) => {
    const client = connectionOf(call, 1, 'Info.Connection.NotExisted');
    return client.permissions.allows(permissionOf(call), targetOf(call)) ? ok : { status: 404 };
  }),
  route('POST', ':generateToken', generateToken),
];

/** What only the emulator has: event handlers, which the service has in its settings. */
export const ownRoutes: readonly RestRoute[] = [
  route('PUT', 'handler', registerHandlers),
  route('DELETE', 'handler', ({ hub }, { upstream }) =>
    upstream.unregister(hub.name) ? noContent : { status: 404 },
  ),
];
