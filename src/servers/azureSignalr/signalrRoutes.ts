import { noMoreGroups } from '../hub/hubGroups';
import type { FrameSource, ServiceClient, ServiceHub } from './serviceHub';
import { idIn } from './serviceHub';
import { isGroupName, isUserId } from './serviceNames';

/** One request to the REST API, past its token. */
export interface RestCall {
  readonly hub: ServiceHub;
  /** Names in the path, in their order. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly nowMs: number;
}

/** What a request is answered with; a code says what the services call it. */
export interface RestAnswer {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
}

type Run = (call: RestCall, message: FrameSource) => RestAnswer;

export interface RestRoute {
  readonly method: string;
  /** Behind the hub; `{…}` is a name. */
  readonly path: readonly string[];
  /** It has a body with a message. */
  readonly sends: boolean;
  readonly run: Run;
}

const accepted: RestAnswer = { status: 202 };
const done: RestAnswer = { status: 200 };
const noContent: RestAnswer = { status: 204 };
const noGroup = absent('Warning.Group.NotExisted', 'There is nobody in this group.');
const noUser = absent('Warning.User.NotExisted', 'This user has no connection.');
const notThere = absent('Warning.Connection.NotExisted', 'There is no such connection.');
const noConnection = absent('Error.Connection.NotExisted', 'There is no such connection.');
const notInGroup = absent('Info.User.NotInGroup', 'The user is not in this group.');

function absent(code: string, message: string): RestAnswer {
  return { status: 404, code, message };
}

function badRequest(message: string): RestAnswer {
  return { status: 400, code: 'Error.Request.Invalid', message };
}

const isExcluded = ({ query }: RestCall): ((client: ServiceClient) => boolean) =>
  idIn(query.getAll('excluded'));

function closeAll(call: RestCall, clients: Iterable<ServiceClient>): RestAnswer {
  const stays = isExcluded(call);
  const reason = call.query.get('reason') ?? undefined;
  for (const client of [...clients]) if (!stays(client)) client.close(reason);
  return noContent;
}

/** Longest time a user stays in a group by a `ttl`. */
const longestTtlS = 366 * 24 * 3600;

function addUser({ hub, names, query, nowMs }: RestCall): RestAnswer {
  const [userId, group] = names as [string, string];
  if (!isUserId(userId)) return badRequest('A user id has 1 to 1,024 characters.');
  const ttl = query.get('ttl');
  const seconds = ttl === null ? Infinity : /^[0-9]{1,9}$/.test(ttl) ? Number(ttl) : NaN;
  if (ttl !== null && !(seconds <= longestTtlS))
    return badRequest('The ttl is no number of seconds.');
  const isAdded = hub.userGroups.add(userId, group, nowMs + seconds * 1000);
  return isAdded ? done : badRequest('The emulator remembers no more users in groups.');
}

function joinGroup({ hub, names }: RestCall): RestAnswer {
  const [group, id] = names as [string, string];
  const client = hub.clients.get(id);
  if (client === undefined) return noConnection;
  return hub.groups.join(client, group) ? done : badRequest(noMoreGroups);
}

function leaveGroup({ hub, names }: RestCall): RestAnswer {
  const [group, id] = names as [string, string];
  const client = hub.clients.get(id);
  // Who is gone is in no group: cleaning up after it is no error.
  if (client !== undefined) hub.groups.leave(client, group);
  return done;
}

function send(
  call: RestCall,
  receivers: Iterable<ServiceClient>,
  message: FrameSource,
): RestAnswer {
  call.hub.send(receivers, message, isExcluded(call));
  return accepted;
}

/** As the REST API of 2022-06-01 lists them. */
const rows: readonly (readonly [method: string, path: string, run: Run])[] = [
  ['POST', ':send', (call, message) => send(call, call.hub.clients.values(), message)],
  [
    'POST',
    'groups/{group}/:send',
    (call, message) => send(call, call.hub.inGroup(call.names[0]!, call.nowMs), message),
  ],
  [
    'POST',
    'users/{user}/:send',
    (call, message) => send(call, call.hub.ofUser(call.names[0]!), message),
  ],
  [
    'POST',
    'connections/{connection}/:send',
    (call, message) => send(call, call.hub.ofIds(call.names), message),
  ],
  ['PUT', 'groups/{group}/connections/{connection}', joinGroup],
  ['DELETE', 'groups/{group}/connections/{connection}', leaveGroup],
  [
    'DELETE',
    'connections/{connection}/groups',
    ({ hub, names }) => {
      for (const client of hub.ofIds(names)) hub.groups.leaveAll(client);
      return done;
    },
  ],
  ['PUT', 'users/{user}/groups/{group}', addUser],
  [
    'DELETE',
    'users/{user}/groups/{group}',
    ({ hub, names }) => {
      hub.userGroups.remove(names[0]!, names[1]!);
      return noContent;
    },
  ],
  [
    'DELETE',
    'users/{user}/groups',
    ({ hub, names }) => {
      hub.userGroups.removeAll(names[0]!);
      return noContent;
    },
  ],
  [
    'HEAD',
    'users/{user}/groups/{group}',
    ({ hub, names, nowMs }) =>
      hub.userGroups.has(names[0]!, names[1]!, nowMs) ? done : notInGroup,
  ],
  [
    'HEAD',
    'connections/{connection}',
    ({ hub, names }) => (hub.clients.has(names[0]!) ? done : notThere),
  ],
  ['HEAD', 'users/{user}', ({ hub, names }) => (hub.hasUser(names[0]!) ? done : noUser)],
  [
    'HEAD',
    'groups/{group}',
    ({ hub, names, nowMs }) => (hub.hasGroup(names[0]!, nowMs) ? done : noGroup),
  ],
  [
    'DELETE',
    'connections/{connection}',
    (call) => {
      closeAll(call, call.hub.ofIds(call.names));
      return done;
    },
  ],
  ['POST', ':closeConnections', (call) => closeAll(call, call.hub.clients.values())],
  [
    'POST',
    'groups/{group}/:closeConnections',
    (call) => closeAll(call, call.hub.inGroup(call.names[0]!, call.nowMs)),
  ],
  [
    'POST',
    'users/{user}/:closeConnections',
    (call) => closeAll(call, call.hub.ofUser(call.names[0]!)),
  ],
];

const routes: readonly RestRoute[] = rows.map(([method, path, run]) => {
  const parts = path.split('/');
  return { method, path: parts, sends: parts.at(-1) === ':send', run };
});

/** The names in a path that fits a route; undefined when it does not. */
function namesIn(route: RestRoute, parts: readonly string[]): string[] | undefined {
  if (route.path.length !== parts.length) return undefined;
  const names: string[] = [];
  for (const [index, part] of route.path.entries()) {
    if (part.startsWith('{')) names.push(parts[index]!);
    else if (part !== parts[index]) return undefined;
  }
  return names;
}

/**
 * The route of a request.
 * @param parts of the path behind the hub, decoded; sends of the first version have no `:send`
 * @returns the methods that the path has when this is none of them; undefined for no such path
 */
export function findRoute(
  method: string,
  parts: readonly string[],
): { readonly route: RestRoute; readonly names: string[] } | readonly string[] | undefined {
  const isOldSend = method === 'POST' && parts.at(-1)?.startsWith(':') !== true;
  const full = isOldSend ? [...parts, ':send'] : parts;
  // The checks are served as GET too.
  const asked = method === 'GET' ? 'HEAD' : method;
  const methods: string[] = [];
  for (const route of routes) {
    const names = namesIn(route, full);
    if (names === undefined) continue;
    if (route.method === asked) return { route, names };
    methods.push(route.method);
  }
  return methods.length > 0 ? methods : undefined;
}

/** What is wrong with the names of a request; undefined when they are good. */
export function badName(route: RestRoute, names: readonly string[]): RestAnswer | undefined {
  const places = route.path.filter((part) => part.startsWith('{'));
  const group = names[places.indexOf('{group}')];
  if (group !== undefined && !isGroupName(group)) return badRequest('This is no name of a group.');
  return names.includes('') ? badRequest('A name in the path is empty.') : undefined;
}
