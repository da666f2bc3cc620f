import type { IncomingMessage, ServerResponse } from 'node:http';
import { isHubName } from '../../base/serviceTraits';
import {
  bearerToken,
  pathAndQuery,
  readBody,
  reply,
  type Terminable,
  guardAsync,
} from '../http/loopbackServer';
import { tooManyGroupsText, type HubClients, type HubMember } from '../hub/hubGroups';
import { isGroupName, parseJson, decodePath, type Emulator } from './emulator';
import type { UpstreamHandlers } from './upstreamCalls';

export interface RestHost<Hub> extends Pick<
  Emulator<Terminable>,
  'accessTokens' | 'clientToken' | 'urlsOf'
> {
  hub(name: string): Hub;
}

export interface RestCall<Hub> {
  readonly hub: Hub;
  readonly names: Readonly<Record<PathName, string>>;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: Buffer;
  readonly url: string;
}

type PathName = 'group' | 'user' | 'connection' | 'permission';
const noNames = { group: '', user: '', connection: '', permission: '' };

export interface RestAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

export const ok: RestAnswer = { status: 200 };
export const accepted: RestAnswer = { status: 202 };
export const noContent: RestAnswer = { status: 204 };

interface RestErrorDetails {
  readonly code?: string;
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export class RestError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly details: RestErrorDetails = {},
  ) {
    super(message);
  }
}

export const badRequest = (message: string): RestError => new RestError(400, message);

type Run<Hub, Host> = (call: RestCall<Hub>, host: Host) => RestAnswer | Promise<RestAnswer>;

interface Route<Hub, Host> {
  readonly method: string;
  readonly path: readonly string[];
  readonly run: Run<Hub, Host>;
}

export const route = <Hub, Host>(
  method: string,
  path: string,
  run: Run<Hub, Host>,
): Route<Hub, Host> => ({ method, path: path.split('/'), run });

interface RestPath {
  readonly isSettings: boolean;
  readonly method: string;
  readonly hub: string;
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

export interface RestApi<Hub, Host> {
  readonly routes: readonly Route<Hub, Host>[];
  /** Under `/emulator/`; the real service has these in its settings. */
  readonly settingsRoutes: readonly Route<Hub, Host>[];
  readonly codes: Readonly<Record<number, string>>;
  /** Whether applications that signed in get keys to sign tokens of clients. */
  readonly issuesKeys: boolean;
  readonly errorBody: (error: RestError, code: string) => object;
  /** @throws RestError */
  readonly resolvePath: (path: RestPath) => RestPath;
}

const maxBodyBytes = 1024 * 1024;

export function answerRest<Hub, Host extends RestHost<Hub>>(
  api: RestApi<Hub, Host>,
  host: Host,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const refuse = (error: unknown): RestAnswer => {
    if (!(error instanceof RestError)) throw error;
    const { status, details } = error;
    const { code = api.codes[status] ?? '' } = details;
    const headers = { 'x-ms-error-code': code, ...details.headers };
    return { status, body: api.errorBody(error, code), headers };
  };
  const take = (body: Buffer): void =>
    guardAsync(
      response,
      carryOut(api, host, request, body)
        .catch(refuse)
        .then((answer) => writeAnswer(response, answer)),
    );
  readBody(request, response, maxBodyBytes, take, () => {
    const text = `The body of a request has at most ${maxBodyBytes} bytes.`;
    const headers = { Connection: 'close' };
    writeAnswer(response, refuse(new RestError(413, text, { headers })));
  });
}

async function carryOut<Hub, Host extends RestHost<Hub>>(
  api: RestApi<Hub, Host>,
  host: Host,
  request: IncomingMessage,
  body: Buffer,
): Promise<RestAnswer> {
  const { path, query } = pathAndQuery(request);
  if (/^\/api(\/v1)?\/health\/?$/i.test(path)) return ok;
  await checkToken(host, request);
  const asksForKey = request.method === 'GET' && /^\/api\/(v1\/)?auth\/accesskey\/?$/i.test(path);
  if (api.issuesKeys && asksForKey) return lendKey(host);
  const found = /^\/(api|emulator)\/(?:v1\/)?hubs\/([^/]+(?:\/.+?)?)\/?$/i.exec(path);
  if (found === null) throw notFound;
  const [hubText, ...parts] = decodePath(found[2]!) ?? [];
  if (hubText === undefined) throw badRequest('The path is badly encoded.');
  const isSettings = found[1]!.toLowerCase() === 'emulator';
  const asked = api.resolvePath({
    isSettings,
    method: request.method ?? '',
    hub: hubText,
    parts,
    query,
  });
  if (!isHubName(asked.hub)) throw badRequest('This is not a name of a hub.');
  const { run, names } = findRoute(isSettings ? api.settingsRoutes : api.routes, asked);
  const contentType = request.headers['content-type'];
  const url = host.urlsOf(path)[0]!;
  return run({ hub: host.hub(asked.hub), names, query, contentType, body, url }, host);
}

const writeAnswer = (response: ServerResponse, { status, body, headers }: RestAnswer): void =>
  reply(response, status, body && JSON.stringify(body), {
    ...(body && { 'Content-Type': 'application/json; charset=utf-8' }),
    ...headers,
  });

const notFound = new RestError(404, 'There is nothing at this path.');

function lendKey({ accessTokens }: Pick<RestHost<unknown>, 'accessTokens'>): RestAnswer {
  const { id, text } = accessTokens.issueKey();
  return { status: 200, body: { KeyId: id, AccessKey: text } };
}

async function checkToken(host: RestHost<unknown>, request: IncomingMessage): Promise<void> {
  const bearer = bearerToken(request);
  const token = await host.accessTokens.checkApplication(bearer, host.urlsOf(request.url ?? ''));
  if (!('status' in token)) return;
  const headers = token.status === 401 ? { 'WWW-Authenticate': 'Bearer' } : undefined;
  throw new RestError(token.status, token.text, { headers });
}

function findRoute<Hub, Host>(
  routes: readonly Route<Hub, Host>[],
  { method, parts }: RestPath,
): { readonly run: Run<Hub, Host>; readonly names: Readonly<Record<PathName, string>> } {
  const atPath = routes.filter(
    ({ path }) =>
      path.length === parts.length &&
      path.every((part, index) => part.startsWith('{') || part === parts[index]),
  );
  if (atPath.length === 0) throw notFound;
  const found = atPath.find((each) => each.method === method);
  if (found === undefined) {
    const headers = { Allow: atPath.map((each) => each.method).join(', ') };
    throw new RestError(405, 'This path has no such method.', { headers });
  }
  const named = found.path.flatMap((part, index) =>
    part.startsWith('{') ? [[part.slice(1, -1), parts[index]!] as const] : [],
  );
  if (named.some(([, name]) => name === '')) throw badRequest('A name in the path is empty.');
  const names = { ...noNames, ...Object.fromEntries(named) };
  if (names.group !== '') requireGroupName(names.group);
  return { run: found.run, names };
}

/** @throws RestError for an invalid name */
export function requireGroupName(name: string): string {
  if (isGroupName(name)) return name;
  throw badRequest('The name of a group has 1 to 1,024 characters and is not blank.');
}

/** @throws RestError when the body is no JSON object */
export function jsonBody({ body }: Pick<RestCall<unknown>, 'body'>): Record<string, unknown> {
  const parsed = parseJson(body);
  if (parsed === undefined) throw badRequest('The body is not JSON.');
  if (typeof parsed !== 'object' || parsed === null)
    throw badRequest('The body is not a JSON object.');
  return parsed as Record<string, unknown>;
}

export type Receivers<Client, Hub> = (call: RestCall<Hub>) => Iterable<Client>;

interface CommonParts<Client, Hub, Host> {
  readonly sendTo: (receivers: Receivers<Client, Hub>) => Run<Hub, Host>;
  readonly close: (client: Client, reason: string | undefined) => void;
  /** Narrows the receivers of the path, by query parameters. @throws RestError */
  readonly wantedBy: (call: RestCall<Hub>) => (client: Client) => boolean;
  /** The answer when a connection was closed, or left groups. */
  readonly removed: RestAnswer;
}

export function commonRoutes<Client extends HubMember, Hub extends HubClients<Client>, Host>({
  sendTo,
  close,
  wantedBy,
  removed,
}: CommonParts<Client, Hub, Host>): Route<Hub, Host>[] {
  const everyone: Receivers<Client, Hub> = ({ hub }) => hub.clients.values();
  const inGroup: Receivers<Client, Hub> = ({ hub, names }) => hub.inGroup(names.group);
  const ofUser: Receivers<Client, Hub> = ({ hub, names }) => hub.withUserId(names.user);
  const connection: Receivers<Client, Hub> = ({ hub, names }) =>
    hub.withConnectionIds([names.connection]);
  const closing =
    (receivers: Receivers<Client, Hub>, answer = noContent): Run<Hub, Host> =>
    (call) => {
      const isWanted = wantedBy(call);
      const reason = call.query.get('reason') ?? undefined;
      for (const client of [...receivers(call)]) if (isWanted(client)) close(client, reason);
      return answer;
    };
  const exists =
    (receivers: Receivers<Client, Hub>, what: string): Run<Hub, Host> =>
    (call) => {
      for (const _client of receivers(call)) return ok;
      const code = `Warning.${what}.NotExisted`;
      throw new RestError(404, `There is no such ${what.toLowerCase()}.`, { code });
    };
  return [
    route('POST', ':send', sendTo(everyone)),
    route('POST', 'groups/{group}/:send', sendTo(inGroup)),
    route('POST', 'users/{user}/:send', sendTo(ofUser)),
    route('POST', 'connections/{connection}/:send', sendTo(connection)),
    route('POST', ':closeConnections', closing(everyone)),
    route('POST', 'groups/{group}/:closeConnections', closing(inGroup)),
    route('POST', 'users/{user}/:closeConnections', closing(ofUser)),
    route('DELETE', 'connections/{connection}', closing(connection, removed)),
    route('HEAD', 'connections/{connection}', exists(connection, 'Connection')),
    route('HEAD', 'users/{user}', exists(ofUser, 'User')),
    route('HEAD', 'groups/{group}', exists(inGroup, 'Group')),
    route('PUT', 'groups/{group}/connections/{connection}', (call) => {
      const client = requireConnection<Client, Hub>(call, 'Error.Connection.NotExisted');
      joinGroup(call.hub, client, call.names.group);
      return ok;
    }),
    route('DELETE', 'groups/{group}/connections/{connection}', (call) => {
      for (const client of connection(call)) call.hub.groups.leave(client, call.names.group);
      return removed;
    }),
    route('DELETE', 'connections/{connection}/groups', (call) => {
      for (const client of connection(call)) call.hub.groups.leaveAll(client);
      return removed;
    }),
  ];
}

/** @param code of the 404; @throws RestError */
export function requireConnection<Client extends HubMember, Hub extends HubClients<Client>>(
  { hub, names: { connection } }: RestCall<Hub>,
  code: string,
): Client {
  const client = hub.clients.get(connection);
  if (client !== undefined) return client;
  throw new RestError(404, `Connection \`${connection}\` is not found.`, {
    code,
    target: 'Connection',
  });
}

/** @throws RestError when the client is in too many groups */
export function joinGroup<Client extends HubMember>(
  { groups }: HubClients<Client>,
  client: Client,
  group: string,
): void {
  if (!groups.join(client, group)) throw badRequest(tooManyGroupsText);
}

export function handlerRoutes<Client extends HubMember, Handler>(
  read: (fields: Readonly<Record<string, unknown>>) => Handler | undefined,
  form: string,
  registered: RestAnswer,
): Route<HubClients<Client>, { readonly upstream: UpstreamHandlers<Handler> }>[] {
  return [
    route('PUT', 'handler', async (call, { upstream }) => {
      const handlers = readHandlers(jsonBody(call), read);
      const problem =
        handlers === undefined
          ? `The body has to be ${form}; or {"handlers":[…]} with several of these, of which the first that wants an event gets it.`
          : await upstream.register(call.hub.name, handlers);
      if (problem !== undefined) throw new RestError(400, problem, { code: 'InvalidEventHandler' });
      return registered;
    }),
    route('DELETE', 'handler', ({ hub }, { upstream }) => {
      if (upstream.unregister(hub.name)) return noContent;
      throw new RestError(404, 'The hub has no handlers of its own.');
    }),
  ];
}

function readHandlers<Handler>(
  body: unknown,
  read: (fields: Readonly<Record<string, unknown>>) => Handler | undefined,
): readonly Handler[] | undefined {
  const { handlers = [body] } = (body ?? {}) as { handlers?: unknown };
  if (!Array.isArray(handlers)) return undefined;
  const all = handlers.flatMap(
    (each: unknown) => read((each ?? {}) as Record<string, unknown>) ?? [],
  );
  return all.length === handlers.length ? all : undefined;
}
