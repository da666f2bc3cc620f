import type { IncomingMessage, ServerResponse } from 'node:http';
import { isHubName } from '../../base/serviceLimits';
import { pathAndQuery } from '../http/hubRequests';
import { readBody } from '../http/requestBody';
import { bearerToken, type TokenCheck } from '../service/tokenCheck';
import type { PubSubHub } from './pubSubHub';
import { badRequest, errorAnswer, RestError, writeAnswer, type RestAnswer } from './restCall';
import { dataPlane, ownRoutes, type RestContext, type RestRoute } from './pubSubRoutes';

/** What REST calls are answered from. */
export interface RestHost extends RestContext {
  readonly tokens: TokenCheck;
  /** The hub of that name; one without clients is made up for the call. */
  hub(name: string): PubSubHub;
  /** URLs under which this path is reached, for the audience of tokens. */
  urlsOf(path: string): readonly string[];
}

/** Largest body, as of the service. */
const maxBodyBytes = 1024 * 1024;

/** Answers one HTTP request that is no upgrade. */
export function answerRest(
  host: RestHost,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const answer = (given: RestAnswer): void => writeAnswer(response, given);
  readBody(
    request,
    response,
    maxBodyBytes,
    (body) => {
      void answerOf(host, request, body).then(answer);
    },
    () => {
      const text = `The body of a request has at most ${maxBodyBytes} bytes.`;
      // What is left of the body is not read.
      const headers = { Connection: 'close' };
      const refusal = errorAnswer(new RestError(413, 'PayloadTooLarge', text));
      answer({ ...refusal, headers: { ...refusal.headers, ...headers } });
    },
  );
}

async function answerOf(
  host: RestHost,
  request: IncomingMessage,
  body: Buffer,
): Promise<RestAnswer> {
  try {
    return await carryOut(host, request, body);
  } catch (error) {
    if (error instanceof RestError) return errorAnswer(error);
    throw error;
  }
}

const notFound = new RestError(404, 'NotFound', 'There is nothing at this path.');

async function carryOut(
  host: RestHost,
  request: IncomingMessage,
  body: Buffer,
): Promise<RestAnswer> {
  const { path, query } = pathAndQuery(request);
  if (/^\/api\/health\/?$/.test(path)) return { status: 200 };
  const found = /^\/(api|emulator)\/hubs\/([^/]+)\/(.+?)\/?$/.exec(path);
  if (found === null) throw notFound;
  const token = bearerToken(request.headers.authorization, new URLSearchParams());
  const checked = await host.tokens.checkApplication(token, host.urlsOf(request.url ?? ''));
  if ('status' in checked)
    throw new RestError(
      checked.status,
      checked.status === 403 ? 'Forbidden' : 'Unauthorized',
      checked.text,
    );
  const [, area, hubText = '', rest = ''] = found;
  const isOwn = area === 'emulator';
  const { route, names } = findRoute(isOwn ? ownRoutes : dataPlane, request.method, rest);
  if (!isOwn && !/^20[0-9]{2}-[0-9]{2}-[0-9]{2}(-preview)?$/.test(query.get('api-version') ?? '')) {
    const text = 'The query has to have an api-version, such as 2024-12-01.';
    throw new RestError(400, 'InvalidApiVersion', text);
  }
  const hubName = decoded(hubText);
  if (!isHubName(hubName)) {
    throw new RestError(400, badRequest, 'This is no name of a hub.');
  }
  const call = {
    hub: host.hub(hubName),
    names,
    query,
    contentType: request.headers['content-type'],
    body,
    url: host.urlsOf(path)[0] ?? '',
  };
  return route.carry(call, host);
}

/** @throws RestError when there is none */
function findRoute(
  routes: readonly RestRoute[],
  method: string | undefined,
  rest: string,
): { route: RestRoute; names: string[] } {
  const parts = rest.split('/');
  const fits = ({ path }: RestRoute): boolean =>
    path.length === parts.length &&
    path.every((part, index) => part === '*' || part === decoded(parts[index]!));
  const atPath = routes.filter(fits);
  const route = atPath.find((candidate) => candidate.method === method);
  if (route !== undefined) {
    const names = parts.filter((_, index) => route.path[index] === '*').map(decoded);
    return { route, names };
  }
  if (atPath.length === 0) throw notFound;
  throw new RestError(405, 'MethodNotAllowed', 'This path has no such method.');
}

/** @throws RestError when it is badly encoded */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RestError(400, badRequest, 'The path is badly encoded.');
  }
}
