import type { IncomingMessage, ServerResponse } from 'node:http';
import { SignJWT } from 'jose';
import { isHubName } from '../../base/serviceLimits';
import { answerJson } from '../http/httpAnswers';
import { pathAndQuery } from '../http/hubRequests';
import { readBody } from '../http/requestBody';
import { type TokenCheck, bearerToken } from '../service/tokenCheck';
import { badName, findRoute, type RestAnswer, type RestRoute } from './signalrRoutes';
import type { ServiceHub, FrameSource } from './serviceHub';
import { isUtf8 } from 'node:buffer';
import { recordSeparator } from '../../wire/hub/hubMessage';
import { jsonProtocol } from '../hubProtocol/jsonProtocol';
import { skipSpace, stringAt, walk } from '../../wire/hub/jsonScan';
import { messagePackProtocol } from '../hubProtocol/messagePackProtocol';

/** What the REST API is served from. */
export interface RestContext {
  readonly accessTokens: TokenCheck;
  /** The key that new client tokens are signed with. */
  readonly accessKey: string;
  hub(name: string): ServiceHub;
  /** All URLs under which a path of this server can be asked for. */
  urlsOf(path: string): string[];
  nowMs(): number;
}

/** Longest body of a request. */
const maxBodyBytes = 1024 * 1024;
const longestTokenMinutes = 24 * 60;

/** Answers a request as the services do: codes stand in a header and in the body. */
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

const noPath: RestAnswer = {
  status: 404,
  code: 'Error.Path.NotFound',
  message: 'The REST API has no such path.',
};
const badHub: RestAnswer = {
  status: 400,
  code: 'Error.Request.Invalid',
  message: 'This is no name of a hub.',
};
const tooLong: RestAnswer = {
  status: 413,
  code: 'Error.Request.TooLarge',
  message: `A body has at most ${maxBodyBytes} bytes.`,
};

/** The parts of a path, decoded; undefined when it cannot be. */
export function partsOf(path: string): string[] | undefined {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Hub and application as one name, as app servers with an application name call their hubs. */
function hubNameOf(hub: string, query: URLSearchParams): string | undefined {
  const application = query.get('application');
  const name = application === null ? hub : `${application}_${hub}`;
  return isHubName(name) ? name.toLowerCase() : undefined;
}

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
    const code = codes[token.status];
    if (token.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
    answer(response, { status: token.status, code, message: token.text });
    return;
  }
  if (isLending(parts) && method === 'GET') {
    const { id, text } = context.accessTokens.lend();
    answerJson(response, { KeyId: id, AccessKey: text });
    return;
  }
  if (first !== 'hubs') {
    answer(response, noPath);
    return;
  }
  const name = hubNameOf(hubPart, query);
  if (name === undefined) answer(response, badHub);
  else if (method === 'POST' && rest.length === 1 && rest[0] === ':generateToken')
    answerJson(response, { token: await clientToken(context, name, query) });
  else serve(context, { name, rest, query }, request, response);
}

const codes = {
  401: 'Error.Unauthorized',
  403: 'Error.Forbidden',
  413: 'Error.Request.TooLarge',
} as const;

/** `/api/v1/auth/accessKey`, without what all paths begin with. */
const isLending = (parts: readonly string[] | undefined): boolean =>
  parts?.join('/').toLowerCase() === 'auth/accesskey';

interface Asked {
  readonly name: string;
  readonly rest: readonly string[];
  readonly query: URLSearchParams;
}

function serve(
  context: RestContext,
  { name, rest, query }: Asked,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const found = findRoute(request.method ?? '', rest);
  if (found === undefined || !('route' in found)) {
    if (found !== undefined) response.setHeader('Allow', found.join(', '));
    const message = 'This path has no such method.';
    const code = 'Error.Method.NotAllowed';
    answer(response, found === undefined ? noPath : { status: 405, code, message });
    return;
  }
  const { route, names } = found;
  const bad = badName(route, names);
  if (bad !== undefined) {
    answer(response, bad);
    return;
  }
  const call = { hub: context.hub(name), names, query, nowMs: context.nowMs() };
  const take = (body: Buffer): void => answer(response, run(route, call, body));
  if (route.sends) {
    readBody(request, response, maxBodyBytes, take, () => answer(response, tooLong));
  } else {
    request.resume();
    take(Buffer.alloc(0));
  }
}

function run(route: RestRoute, call: Parameters<RestRoute['run']>[0], body: Buffer): RestAnswer {
  if (!route.sends) return route.run(call, { in: () => undefined });
  const message = readRestMessage(body);
  return typeof message === 'string'
    ? { status: 400, code: 'Error.Request.Invalid', message }
    : route.run(call, message);
}

/** A token for a client, as asked for in the query. */
async function clientToken(
  context: RestContext,
  hub: string,
  query: URLSearchParams,
): Promise<string> {
  const asked = Number(query.get('minutesToExpire') ?? NaN);
  const minutes = asked >= 1 && asked <= longestTokenMinutes ? Math.floor(asked) : 60;
  const userId = query.get('userId');
  const roles = query.getAll('role');
  const [audience = ''] = context.urlsOf(`/client/?hub=${hub}`);
  return new SignJWT({
    ...(userId !== null && { 'asrs.s.uid': userId }),
    ...(roles.length > 0 && { role: roles }),
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(`${minutes}m`)
    .sign(new TextEncoder().encode(context.accessKey));
}

/** A message given as JSON; it is written once for each hub protocol that a receiver speaks. */
class RestMessage implements FrameSource {
  private readonly frames = new Map<string, Buffer | undefined>();

  constructor(
    private readonly target: string,
    /** The list of arguments as it came. */
    private readonly bytes: Buffer,
  ) {}

  in(protocolName: string): Buffer | undefined {
    if (!this.frames.has(protocolName)) this.frames.set(protocolName, this.frameIn(protocolName));
    return this.frames.get(protocolName);
  }

  private frameIn(protocolName: string): Buffer | undefined {
    const { target, bytes } = this;
    if (protocolName === jsonProtocol.name) {
      return jsonProtocol.invocationFrame(target, bytes, 0, bytes.length);
    }
    if (protocolName !== messagePackProtocol.name) return undefined;
    const encoded = messagePackProtocol.encodeArguments(JSON.parse(bytes.toString('utf8')));
    return messagePackProtocol.invocationFrame(target, encoded, 0, encoded.length);
  }
}

const noArguments = Buffer.from('[]');

/**
 * Reads the body `{"target":"name","arguments":[…]}` of a send.
 * @returns what is wrong with it, when it is none
 */
export function readRestMessage(body: Buffer): FrameSource | string {
  if (!isUtf8(body)) return 'The body is no UTF-8 text.';
  // It ends a message of the hub protocol, and is not allowed in JSON anyway.
  if (body.includes(recordSeparator)) return 'The body is no JSON.';
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return 'The body is no JSON.';
  }
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
  return new RestMessage(target, bytes);
}
