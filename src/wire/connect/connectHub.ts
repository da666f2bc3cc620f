/** The way to a hub: negotiate, tokens and redirects, then a connection of the right kind. */
import type { Endpoint } from '../../base/endpoint';
import { HttpConnection } from '../http/httpConnection';
import type { Attempt, ConnectionContext, HubConnection, Opening } from '../hub/clientConnection';
import { objectIn, type JsonObject } from '../message/jsonScan';
import { ReliableConnection } from '../hub/reliableConnection';
import { WebSocketConnection } from '../hub/webSocketConnection';
import { type SocketAgents, type ConnectStopwatch, bodyOf } from '../socket/socket';
import type { ClientTokens } from './accessTokens';
import { PersonalEndpoints, type OwnEndpoint } from './personalEndpoints';
import {
  StatusFailure,
  ConnectFailure,
  failureOfRequest,
  LeavesLoopback,
  shownText,
  shownUrl,
} from '../connectFailure';
import type { Negotiated } from '../socket/upgrade';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Cookies } from '../socket/cookies';
import { isLoopback } from '../socket/isLoopback';

export interface ConnectContext extends ConnectionContext {
  readonly agents: SocketAgents;
  /** Which of the endpoint's URLs a connection uses; absent: URL i mod count. */
  readonly targetOf?: (index: number) => number;
  readonly open?: OpenConnection;
  readonly tokens?: ClientTokens;
  /** Absent: made of the endpoint for each connection. */
  readonly personal?: PersonalEndpoints;
}

export type OpenConnection = (url: string, opening: Opening) => Promise<HubConnection>;

/**
 * Negotiates (if wanted), connects and shakes hands back to back: servers forget ids soon. @throws ConnectFailure
 */
export async function connectHub(
  index: number,
  context: ConnectContext,
  signal: AbortSignal,
  stopwatch?: ConnectStopwatch,
): Promise<HubConnection> {
  try {
    return await opened(context, { index, signal, stopwatch });
  } catch (error) {
    if (error instanceof StatusFailure && error.request !== 'negotiate')
      error.hasNegotiated = !context.endpoint.skipNegotiation;
    throw error;
  }
}

async function opened(context: ConnectContext, attempt: Attempt): Promise<HubConnection> {
  const { index, signal, stopwatch } = attempt;
  const { agents, listener, options, tokens } = context;
  const personal = context.personal ?? new PersonalEndpoints(context.endpoint);
  const own = await personal.of(index);
  const endpoint =
    tokens === undefined
      ? own.endpoint
      : { ...own.endpoint, accessToken: await tokens.forClient(index, signal) };
  // An application would ask for the token when its client negotiates.
  if (tokens?.areIssued === true) stopwatch?.done('negotiate');
  const url = endpoint.urls[context.targetOf?.(index) ?? index % endpoint.urls.length];
  if (url === undefined) throw new Error('an endpoint needs a URL');
  const opening = { ...attempt, endpoint, listener, options };
  if (context.open !== undefined) return context.open(url, opening);
  const where: Negotiated = endpoint.skipNegotiation
    ? {
        url: withQuery(url, endpoint.query),
        headers: endpoint.headers,
        accessToken: endpoint.accessToken,
      }
    : await negotiate(
        endpoint,
        url,
        agents,
        signal,
        tokens === undefined && endpoint.accessToken !== undefined
          ? { renewAtMs: own.renewAtMs, again: () => personal.of(index) }
          : undefined,
      );
  if (!endpoint.skipNegotiation) stopwatch?.done('negotiate');
  const OverWebSocket =
    options.codec?.recovery !== undefined ? ReliableConnection : WebSocketConnection;
  const Transport = endpoint.transport === undefined ? OverWebSocket : HttpConnection;
  return Transport.open(where, opening);
}

const renewalMs = 10_000;

type Credentials = Omit<Negotiated, 'url' | 'connectionId'> & { readonly cookies: Cookies };

const maximumRedirects = 20;
const maximumAnswerBytes = 256 * 1024;

export function withQuery(url: string, query: Readonly<Record<string, string>>): URL {
  const result = new URL(url);
  for (const [name, value] of Object.entries(query)) result.searchParams.set(name, value);
  return result;
}

/** How the connection's own token is renewed. */
interface OwnRenewal {
  readonly renewAtMs: number | undefined;
  readonly again: () => Promise<OwnEndpoint>;
}

/** Asks the hub for a connection id and follows redirects, HTTP's and SignalR's own. @throws ConnectFailure */
export async function negotiate(
  endpoint: Endpoint,
  hubUrl: string,
  agents: SocketAgents,
  signal: AbortSignal,
  own?: OwnRenewal,
): Promise<Negotiated> {
  let url = withQuery(hubUrl, endpoint.query);
  const cookies = new Cookies();
  let credentials: Credentials = {
    headers: endpoint.headers,
    accessToken: endpoint.accessToken,
    cookies,
    ...(own?.renewAtMs !== undefined && {
      renewAtMs: own.renewAtMs,
      renew: async () => {
        const { endpoint: now, renewAtMs } = await own.again();
        return { accessToken: now.accessToken, renewAtMs };
      },
    }),
  };
  for (let redirects = 0; redirects <= maximumRedirects; redirects++) {
    const answer = await post(negotiateUrl(url), credentials, agents, signal);
    if (answer.location !== undefined) {
      const next = redirectedHub(endpoint, url, answer.location);
      // Credentials were given for one origin; an HTTP redirect must not carry them to another.
      if (next.origin !== url.origin) credentials = { headers: {}, cookies };
      url = next;
      continue;
    }
    const said = readNegotiation(answer.body, endpoint, url);
    url = said.url;
    if (said.accessToken !== undefined)
      credentials = {
        ...credentials,
        accessToken: said.accessToken,
        renewAtMs: undefined,
        // With a token of its own that is good now, where it has one.
        renew: async () => {
          const asking = own === undefined ? endpoint : (await own.again()).endpoint;
          return { accessToken: await renewedToken(asking, hubUrl, agents) };
        },
      };
    const { connectionId } = said;
    if (said.isFinal)
      return { url, ...credentials, ...(connectionId !== undefined && { connectionId }) };
  }
  throw failure(`more than ${maximumRedirects} redirects`);
}

/** Negotiates for a new token only; the connection keeps its id. @throws ConnectFailure */
export async function renewedToken(
  endpoint: Endpoint,
  hubUrl: string,
  agents: SocketAgents,
): Promise<string | undefined> {
  const again = await negotiate(endpoint, hubUrl, agents, AbortSignal.timeout(renewalMs));
  return again.accessToken;
}

/** @returns the hub to ask next, or where to connect to. @throws ConnectFailure when the answer is unusable */
export function readNegotiation(
  body: string,
  endpoint: Endpoint,
  hub: URL,
): {
  readonly url: URL;
  readonly accessToken?: string;
  readonly connectionId?: string;
  readonly isFinal: boolean;
} {
  const fields = answerFields(body);
  if (typeof fields['error'] === 'string') throw failure(shownText(fields['error']));
  if (typeof fields['url'] !== 'string') {
    const { connectionId } = fields;
    return {
      url: withId(hub, fields, endpoint.transport ?? 'WebSockets'),
      isFinal: true,
      ...(typeof connectionId === 'string' && { connectionId }),
    };
  }
  const url = redirectedHub(endpoint, hub, fields['url']);
  const { accessToken } = fields;
  return { url, isFinal: false, ...(typeof accessToken === 'string' ? { accessToken } : {}) };
}

function negotiateUrl(hub: URL): URL {
  const url = new URL(hub);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/negotiate`;
  if (!url.searchParams.has('negotiateVersion')) url.searchParams.set('negotiateVersion', '1');
  return url;
}

/** The hub behind a redirect; an HTTP redirect names the negotiate page itself. */
export function redirectedHub({ staysOnLoopback }: Endpoint, from: URL, to: string): URL {
  let url: URL;
  try {
    url = new URL(to, from);
  } catch {
    throw failure('the server redirects to something that is not a URL');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw failure(`the server redirects to ${url.protocol} which is not supported`);
  }
  if (staysOnLoopback === true && !isLoopback(url.href)) throw new LeavesLoopback(url.host);
  url.pathname = url.pathname.replace(/\/negotiate$/, '');
  return url;
}

function answerFields(body: string): JsonObject {
  const fields = objectIn(body);
  if (fields === undefined)
    throw failure('the answer is not a JSON object; is this the URL of a SignalR hub?');
  if ('ProtocolVersion' in fields)
    throw failure('this is an ASP.NET SignalR server; only ASP.NET Core SignalR is supported');
  return fields;
}

function withId(hub: URL, fields: JsonObject, transport: string): URL {
  const version = typeof fields['negotiateVersion'] === 'number' ? fields['negotiateVersion'] : 0;
  const id = version > 0 ? fields['connectionToken'] : fields['connectionId'];
  if (typeof id !== 'string' || id === '') throw failure('the answer has no connection id');
  const offered = transportsOf(fields['availableTransports']);
  if (!offered.includes(transport)) {
    const others = offered.length === 0 ? 'no transport at all' : `only ${offered.join(' and ')}`;
    throw failure(`the server does not offer ${transport}, ${shownText(others)}`);
  }
  const url = new URL(hub);
  url.searchParams.set('id', id);
  return url;
}

function transportsOf(offered: unknown): string[] {
  const entries: unknown[] = Array.isArray(offered) ? offered : [];
  return entries
    .map((entry) => (entry as { transport?: unknown } | null)?.transport)
    .filter((name) => typeof name === 'string');
}

interface Answer {
  readonly body: string;
  readonly location?: string;
}

async function post(
  url: URL,
  { headers: given, accessToken, cookies }: Credentials,
  agents: SocketAgents,
  signal: AbortSignal,
): Promise<Answer> {
  const headers: Record<string, string> = {
    ...given,
    'Content-Length': '0',
    'X-Requested-With': 'XMLHttpRequest',
    ...(accessToken !== undefined && { Authorization: `Bearer ${accessToken}` }),
  };
  addCookies(headers, cookies.headerFor(url));
  try {
    const { response, content } = await new Promise<{
      response: IncomingMessage;
      content: Buffer;
    }>((resolve, reject) => {
      const request = agents.request(url, { method: 'POST', headers, signal });
      request.on('error', reject);
      // Without a listener the request would end without a word.
      request.on('upgrade', (_response, socket) => {
        socket.destroy();
        reject(failure('the server switches to another protocol'));
      });
      request.on('response', (response) => {
        const tooLong = () => failure('the answer does not end');
        bodyOf(response, maximumAnswerBytes, tooLong).then(
          (content) => resolve({ response, content }),
          reject,
        );
      });
      request.end();
    });
    const { statusCode: status = 0, headers: said } = response;
    cookies.take(said['set-cookie'] ?? [], url);
    const body = content.toString('utf8');
    if (status === 200) return { body };
    if (isRedirect(status) && said.location !== undefined)
      return { body: '', location: said.location };
    throw statusFailure(status, url, said, body);
  } catch (error) {
    throw failureOfRequest(error, 'negotiate', url, signal.aborted);
  }
}

const failure = (text: string): ConnectFailure =>
  new ConnectFailure('negotiate', `negotiate: ${text}`);

/** Whether an answer sends the same request elsewhere, as far as `fetch` of a client would follow. */
export const isRedirect = (status: number): boolean => [301, 302, 307, 308].includes(status);

/** Adds what servers have set to a configured `Cookie` header, whatever its letter case. */
export function addCookies(headers: Record<string, string>, cookies: string | undefined): void {
  if (cookies === undefined) return;
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'cookie') ?? 'Cookie';
  headers[name] = headers[name] === undefined ? cookies : `${headers[name]}; ${cookies}`;
}

function statusFailure(
  status: number,
  url: URL,
  { 'content-type': type = 'text/plain', 'retry-after': retryAfter }: IncomingHttpHeaders,
  body: string,
): ConnectFailure {
  // Services say in plain text what is wrong, the SDK of app servers without a content type.
  const said = /^text\/plain\b/i.test(type) ? shownText(body) : '';
  const message = `negotiate: ${shownUrl(url.href)} answered ${status}${said === '' ? '' : `: ${said}`}`;
  return new StatusFailure(status, 'negotiate', message, retryAfter);
}
