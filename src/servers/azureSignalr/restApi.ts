import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isHubName } from '../../base/serviceLimits';
import { recordSeparator } from '../../wire/message/hubMessage';
import { skipSpace, stringAt, walk } from '../../wire/message/jsonScan';
import { answerJson, pathAndQuery, readBody } from '../http/loopbackServer';
import { noMoreGroups } from '../hub/hubGroups';
import { jsonProtocol } from '../hubProtocol/jsonProtocol';
import { invocationFrames, type FrameSource } from '../hubProtocol/protocols';
import {
  findRoute,
  isGroupName,
  isUserId,
  jsonIn,
  partsOf,
  route,
  type Route,
} from '../service/emulator';
import { bearerToken, type TokenCheck } from '../service/tokenCheck';
import { idIn, type ServiceClient, type ServiceHub } from './serviceHub';

/** What the REST API is served from. */
export interface RestContext {
  readonly accessTokens: TokenCheck;
  hub(name: string): ServiceHub;
  /** All URLs under which a path of this server can be asked for. */
  urlsOf(path: string): readonly string[];
  clientToken(
    path: string,
    claims: Readonly<Record<string, unknown>>,
    minutes: number,
  ): Promise<string>;
}

/** One request to the REST API, past its token. */
interface RestCall {
  readonly hub: ServiceHub;
  /** Names in the path, in their order. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
}

/** What a request is answered with; a code says what the services call it. */
interface RestAnswer {
  readonly status: number;
  readonly code?: string;
  readonly message?: string;
}

type Run = (call: RestCall, message: FrameSource) => RestAnswer;
/** Whom a request is about. */
type Receivers = (call: RestCall) => Iterable<ServiceClient>;

const invalid = 'Error.Request.Invalid';
const badRequest = (message: string): RestAnswer => ({ status: 400, code: invalid, message });
const absent = (code: string, message: string): RestAnswer => ({ status: 404, code, message });

const accepted: RestAnswer = { status: 202 };
const done: RestAnswer = { status: 200 };
const noContent: RestAnswer = { status: 204 };
const noGroup = absent('Warning.Group.NotExisted', 'There is nobody in this group.');
const noUser = absent('Warning.User.NotExisted', 'This user has no connection.');
const notThere = absent('Warning.Connection.NotExisted', 'There is no such connection.');
const noConnection = absent('Error.Connection.NotExisted', 'There is no such connection.');
const notInGroup = absent('Info.User.NotInGroup', 'The user is not in this group.');
const noPath = absent('Error.Path.NotFound', 'The REST API has no such path.');

/** Longest body of a request. */
const maxBodyBytes = 1024 * 1024;
const longestTokenMinutes = 24 * 60;
/** Longest time a user stays in a group by a `ttl`. */
const longestTtlS = 366 * 24 * 3600;

const everyone: Receivers = ({ hub }) => hub.clients.values();
const inGroup: Receivers = ({ hub, names }) => hub.inGroup(names[0]!);
const ofUser: Receivers = ({ hub, names }) => hub.ofUser(names[0]!);
const theConnection: Receivers = ({ hub, names }) => hub.ofIds(names);

const sendTo =
  (receivers: Receivers): Run =>
  (call, message) => {
    call.hub.send(receivers(call), message, idIn(call.query.getAll('excluded')));
    return accepted;
  };

const close =
  (receivers: Receivers, answered = noContent): Run =>
  (call) => {
    const { query } = call;
    call.hub.closeAll(receivers(call), query.get('reason') ?? undefined, query.getAll('excluded'));
    return answered;
  };

function addUser({ hub, names: [userId = '', group = ''], query }: RestCall): RestAnswer {
  if (!isUserId(userId)) return badRequest('A user id has 1 to 1,024 characters.');
  const ttl = query.get('ttl');
  const seconds = ttl === null ? Infinity : /^[0-9]{1,9}$/.test(ttl) ? Number(ttl) : NaN;
  if (ttl !== null && !(seconds <= longestTtlS))
    return badRequest('The ttl is no number of seconds.');
  const isAdded = hub.userGroups.add(userId, group, seconds);
  return isAdded ? done : badRequest('The emulator remembers no more users in groups.');
}

function joinGroup({ hub, names: [group = '', id = ''] }: RestCall): RestAnswer {
  const client = hub.clients.get(id);
  if (client === undefined) return noConnection;
  return hub.groups.join(client, group) ? done : badRequest(noMoreGroups);
}

/** As the REST API of 2022-06-01 lists them; those that end with `:send` have a message in their body. */
const routes: readonly Route<Run>[] = [
  route('POST', ':send', sendTo(everyone)),
  route('POST', 'groups/{group}/:send', sendTo(inGroup)),
  route('POST', 'users/{user}/:send', sendTo(ofUser)),
  route('POST', 'connections/{connection}/:send', sendTo(theConnection)),
  route('PUT', 'groups/{group}/connections/{connection}', joinGroup),
  route('DELETE', 'groups/{group}/connections/{connection}', ({ hub, names: [group, id] }) => {
    const client = hub.clients.get(id!);
    // Who is gone is in no group: cleaning up after it is no error.
    if (client !== undefined) hub.groups.leave(client, group!);
    return done;
  }),
  route('DELETE', 'connections/{connection}/groups', (call) => {
    for (const client of theConnection(call)) call.hub.groups.leaveAll(client);
    return done;
  }),
  route('PUT', 'users/{user}/groups/{group}', addUser),
  route('DELETE', 'users/{user}/groups/{group}', ({ hub, names: [userId, group] }) => {
    hub.userGroups.remove(userId!, group!);
    return noContent;
  }),
  route('DELETE', 'users/{user}/groups', ({ hub, names: [userId] }) => {
    hub.userGroups.removeAll(userId!);
    return noContent;
  }),
  route('HEAD', 'users/{user}/groups/{group}', ({ hub, names: [userId, group] }) =>
    hub.userGroups.has(userId!, group!) ? done : notInGroup,
  ),
  route('HEAD', 'connections/{connection}', ({ hub, names: [id] }) =>
    hub.clients.has(id!) ? done : notThere,
  ),
  route('HEAD', 'users/{user}', ({ hub, names: [userId] }) =>
    hub.ofUser(userId!).size > 0 ? done : noUser,
  ),
  route('HEAD', 'groups/{group}', ({ hub, names: [group] }) =>
    hub.hasGroup(group!) ? done : noGroup,
  ),
  route('DELETE', 'connections/{connection}', close(theConnection, done)),
  route('POST', ':closeConnections', close(everyone)),
  route('POST', 'groups/{group}/:closeConnections', close(inGroup)),
  route('POST', 'users/{user}/:closeConnections', close(ofUser)),
];

const codes = {
  401: 'Error.Unauthorized',
  403: 'Error.Forbidden',
  413: 'Error.Request.TooLarge',
} as const;
const tooLong: RestAnswer = {
  status: 413,
  code: codes[413],
  message: `A body has at most ${maxBodyBytes} bytes.`,
};

/** Answers a request to a path that begins with `/api/`. */
export async function answerRest(
  context: RestContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = '', url = '' } = request;
  const { path, query } = pathAndQuery(request);
  const parts = partsOf(path.replace(/^\/api(\/v1)?\//i, '').replace(/\/$/, ''));
  const [first, hubPart = '', ...rest] = parts ?? [];
  if (first === 'health' && parts?.length === 1) {
    answer(response, { status: method === 'HEAD' || method === 'GET' ? 200 : 405 });
    return;
  }
  const bearer = bearerToken(request.headers.authorization, new URLSearchParams());
  const token = await context.accessTokens.checkApplication(bearer, context.urlsOf(url));
  if (response.destroyed) return;
  if ('status' in token) {
    if (token.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    answer(response, { status: token.status, code: codes[token.status], message: token.text });
    return;
  }
  if (method === 'GET' && parts?.join('/').toLowerCase() === 'auth/accesskey') {
    const { id, text } = context.accessTokens.lend();
    answerJson(response, { KeyId: id, AccessKey: text });
    return;
  }
  if (first !== 'hubs') {
    answer(response, noPath);
    return;
  }
  // App servers with an application name call their hubs by both in one.
  const application = query.get('application');
  const name = application === null ? hubPart : `${application}_${hubPart}`;
  const hub = name.toLowerCase();
  if (!isHubName(name)) answer(response, badRequest('This is no name of a hub.'));
  else if (method === 'POST' && rest.length === 1 && rest[0] === ':generateToken')
    answerJson(response, { token: await clientToken(context, hub, query) });
  else serve(context, { hub, rest, query }, request, response);
}

/** Answers as the services do: codes stand in a header and in the body. */
function answer(response: ServerResponse, { status, code, message }: RestAnswer): void {
  if (code === undefined) {
    // An answer without content must not state its length.
    if (status !== 204) response.setHeader('Content-Length', 0);
    response.writeHead(status).end();
    return;
  }
  const body = JSON.stringify({ code, message, target: null, details: [] });
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'x-ms-error-code': code,
    ...(status === 413 && { Connection: 'close' }),
  });
  response.end(body);
}

interface Asked {
  readonly hub: string;
  /** What of the path stands behind the hub. */
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

function serve(
  context: RestContext,
  { hub, rest, query }: Asked,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = '' } = request;
  // Sends of the first version have no `:send`, and what is asked by HEAD may be asked by GET too.
  const isOldSend = method === 'POST' && rest.at(-1)?.startsWith(':') !== true;
  const asked = method === 'GET' ? 'HEAD' : method;
  const found = findRoute(routes, asked, isOldSend ? [...rest, ':send'] : rest);
  if (!('route' in found)) {
    if (found.length > 0) response.setHeader('Allow', found.join(', '));
    const message = 'This path has no such method.';
    const code = 'Error.Method.NotAllowed';
    answer(response, found.length === 0 ? noPath : { status: 405, code, message });
    return;
  }
  const { names } = found;
  const { path, run } = found.route;
  const group = names[path.filter((part) => part.startsWith('{')).indexOf('{group}')];
  if (group !== undefined && !isGroupName(group)) {
    answer(response, badRequest('This is no name of a group.'));
  } else if (names.includes('')) {
    answer(response, badRequest('A name in the path is empty.'));
  } else {
    const call = { hub: context.hub(hub), names, query };
    if (path.at(-1) !== ':send') {
      request.resume();
      answer(response, run(call, { in: () => undefined }));
      return;
    }
    const take = (body: Buffer): void => {
      const message = readRestMessage(body);
      answer(response, typeof message === 'string' ? badRequest(message) : run(call, message));
    };
    readBody(request, response, maxBodyBytes, take, () => answer(response, tooLong));
  }
}

/** A token for a client, as asked for in the query. */
function clientToken(context: RestContext, hub: string, query: URLSearchParams): Promise<string> {
  const asked = Number(query.get('minutesToExpire') ?? NaN);
  const minutes = asked >= 1 && asked <= longestTokenMinutes ? Math.floor(asked) : 60;
  const userId = query.get('userId');
  const role = query.getAll('role');
  const claims = {
    ...(userId !== null && { 'asrs.s.uid': userId }),
    ...(role.length > 0 && { role }),
  };
  return context.clientToken(`/client/?hub=${hub}`, claims, minutes);
}

const noArguments = Buffer.from('[]');

/**
 * Reads the body `{"target":"name","arguments":[…]}` of a send.
 * @returns what is wrong with it, when it is none
 */
function readRestMessage(body: Buffer): FrameSource | string {
  if (!isUtf8(body)) return 'The body is no UTF-8 text.';
  // The separator ends a message of the hub protocol, and is not allowed in JSON anyway.
  const parsed = body.includes(recordSeparator) ? undefined : jsonIn(body);
  if (parsed === undefined) return 'The body is no JSON.';
  if (typeof parsed !== 'object' || parsed === null) return 'The body is no JSON object.';
  let target: string | undefined;
  let list: Buffer | undefined;
  const end = walk(body, skipSpace(body, 0), body.length, (keyStart, keyEnd, start, valueEnd) => {
    // .NET reads member names in any case.
    const key = stringAt(body, keyStart, keyEnd).toLowerCase();
    if (key === 'target' && body[start] === 0x22) target = stringAt(body, start, valueEnd);
    if (key === 'arguments') list = body.subarray(start, valueEnd);
  });
  if (end < 0) return 'The body is nested too deeply.';
  if (target === undefined || target === '') return 'The body has no target.';
  const bytes = list === undefined || list.equals(Buffer.from('null')) ? noArguments : list;
  if (bytes[0] !== 0x5b) return 'The arguments are no list.';
  return invocationFrames(jsonProtocol, target, bytes, 0, bytes.length);
}
