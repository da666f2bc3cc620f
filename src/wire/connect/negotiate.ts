import * as http from 'node:http';
import * as https from 'node:https';
import {
  classOfSystemError,
  ConnectFailure,
  LeavesLoopback,
  shownText,
  StatusFailure,
  textOfSystemError,
} from './connectFailure';
import { Cookies } from './cookies';
import { shownUrl } from './shownUrl';
import type { Endpoint } from '../../base/endpoint';
import { isLoopback } from '../socket/isLoopback';
import { socketAgent } from '../socket/socketAgent';

/** Where and how to open the socket, after all redirects. */
export interface Negotiated {
  /** `http:` or `https:` URL of the hub, with its query and the connection's id. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly accessToken?: string | undefined;
  /** Fetches a new token where an answer to negotiate gave this one, which may expire. */
  readonly renew?: () => Promise<string | undefined>;
  /** What servers have set on the way here; absent when nobody was asked. */
  readonly cookies?: Cookies;
  /** What the hub knows the connection by; absent when nobody was asked. */
  readonly connectionId?: string;
}

/** Time a hub gets to give a new token. */
const renewalMs = 10_000;

type Credentials = Omit<Negotiated, 'url' | 'connectionId'> & { readonly cookies: Cookies };

/** Connections kept open between requests, one pool a worker and purpose. */
export interface NegotiateAgents {
  readonly http: http.Agent;
  readonly https: http.Agent;
}

const maximumRedirects = 20;
const maximumAnswerBytes = 256 * 1024;

/** Pool for negotiations or calls; `destroy` both when they are over. */
export function negotiateAgents(endpoint: Endpoint, maximumSockets: number): NegotiateAgents {
  const pool = {
    keepAlive: true,
    maxSockets: maximumSockets,
    maxFreeSockets: maximumSockets,
    scheduling: 'lifo' as const,
  };
  return {
    http: socketAgent('http:', endpoint, pool),
    https: socketAgent('https:', endpoint, pool),
  };
}

/** The hub's URL with the endpoint's own query added. */
export function withQuery(url: string, query: Readonly<Record<string, string>>): URL {
  const result = new URL(url);
  for (const [name, value] of Object.entries(query)) result.searchParams.set(name, value);
  return result;
}

/**
 * Asks the hub for a connection id and follows redirects, HTTP's and SignalR's own.
 *
 * @throws ConnectFailure with the class of what went wrong
 */
export async function negotiate(
  endpoint: Endpoint,
  hubUrl: string,
  agents: NegotiateAgents,
  signal: AbortSignal,
): Promise<Negotiated> {
  let url = withQuery(hubUrl, endpoint.query);
  const cookies = new Cookies();
  let credentials: Credentials = {
    headers: endpoint.headers,
    accessToken: endpoint.accessToken,
    cookies,
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
        renew: () => renewedToken(endpoint, hubUrl, agents),
      };
    const { connectionId } = said;
    if (said.isFinal)
      return { url, ...credentials, ...(connectionId !== undefined && { connectionId }) };
  }
  throw new ConnectFailure('negotiate', `negotiate: more than ${maximumRedirects} redirects`);
}

/**
 * Negotiates for a new token only; the connection keeps its id.
 *
 * @throws ConnectFailure
 */
export async function renewedToken(
  endpoint: Endpoint,
  hubUrl: string,
  agents: NegotiateAgents,
): Promise<string | undefined> {
  const again = await negotiate(endpoint, hubUrl, agents, AbortSignal.timeout(renewalMs));
  return again.accessToken;
}

/**
 * Reads an answer to negotiate.
 *
 * @returns the hub to ask next, or where to connect to
 * @throws ConnectFailure when it is unusable
 */
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
  if (typeof fields['error'] === 'string')
    throw new ConnectFailure('negotiate', `negotiate: ${shownText(fields['error'])}`);
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
    throw new ConnectFailure(
      'negotiate',
      'negotiate: the server redirects to something that is no URL',
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ConnectFailure(
      'negotiate',
      `negotiate: the server redirects to ${url.protocol} which is not supported`,
    );
  }
  if (staysOnLoopback === true && !isLoopback(url.href)) throw new LeavesLoopback(url.host);
  url.pathname = url.pathname.replace(/\/negotiate$/, '');
  return url;
}

function answerFields(body: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null) {
    throw new ConnectFailure(
      'negotiate',
      'negotiate: the answer is no JSON object; is this the URL of a SignalR hub?',
    );
  }
  const fields = value as Readonly<Record<string, unknown>>;
  if ('ProtocolVersion' in fields) {
    throw new ConnectFailure(
      'negotiate',
      'negotiate: this is an ASP.NET SignalR server; only ASP.NET Core SignalR is supported',
    );
  }
  return fields;
}

function withId(hub: URL, fields: Readonly<Record<string, unknown>>, transport: string): URL {
  const version = typeof fields['negotiateVersion'] === 'number' ? fields['negotiateVersion'] : 0;
  const id = version > 0 ? fields['connectionToken'] : fields['connectionId'];
  if (typeof id !== 'string' || id === '')
    throw new ConnectFailure('negotiate', 'negotiate: the answer has no connection id');
  const offered = transportsOf(fields['availableTransports']);
  if (!offered.includes(transport)) {
    const others = offered.length === 0 ? 'no transport at all' : `only ${offered.join(' and ')}`;
    throw new ConnectFailure(
      'negotiate',
      `negotiate: the server does not offer ${transport}, ${shownText(others)}`,
    );
  }
  const url = new URL(hub);
  url.searchParams.set('id', id);
  return url;
}

/** Names of the transports in an answer to negotiate. */
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

function post(
  url: URL,
  credentials: Credentials,
  agents: NegotiateAgents,
  signal: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === 'https:';
    const fail = (error: unknown): void => {
      if (error instanceof ConnectFailure) reject(error);
      else if (signal.aborted)
        reject(
          new ConnectFailure('timeout', `negotiate: no answer from ${shownUrl(url.href)} in time`),
        );
      else
        reject(
          new ConnectFailure(
            classOfSystemError(error, 'negotiate'),
            `negotiate: ${textOfSystemError(error)}`,
          ),
        );
    };
    const headers: Record<string, string> = {
      ...credentials.headers,
      'Content-Length': '0',
      'X-Requested-With': 'XMLHttpRequest',
    };
    if (credentials.accessToken !== undefined)
      headers['Authorization'] = `Bearer ${credentials.accessToken}`;
    addCookies(headers, credentials.cookies.headerFor(url));
    let request: http.ClientRequest;
    try {
      request = (secure ? https : http).request(url, {
        method: 'POST',
        agent: secure ? agents.https : agents.http,
        headers,
        signal,
      });
    } catch (error) {
      reject(unsendable(error));
      return;
    }
    request.on('error', fail);
    // Without a listener the request would end without a word.
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      fail(new ConnectFailure('negotiate', 'negotiate: the server switches to another protocol'));
    });
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      credentials.cookies.take(response.headers['set-cookie'] ?? [], url);
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > maximumAnswerBytes)
          request.destroy(new ConnectFailure('negotiate', 'negotiate: the answer does not end'));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        const { location } = response.headers;
        const body = Buffer.concat(chunks).toString('utf8');
        if (status === 200) resolve({ body });
        else if (
          (status === 307 || status === 308 || status === 302 || status === 301) &&
          location !== undefined
        )
          resolve({ body: '', location });
        else reject(statusFailure(status, url, response.headers, body));
      });
    });
    request.end();
  });
}

/** Adds what servers have set to a configured `Cookie` header, whatever its letter case. */
export function addCookies(headers: Record<string, string>, cookies: string | undefined): void {
  if (cookies === undefined) return;
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'cookie') ?? 'Cookie';
  headers[name] = headers[name] === undefined ? cookies : `${headers[name]}; ${cookies}`;
}

/** What Node says before it sends anything: headers and tokens come from outside, so it is no defect. */
export function unsendable(error: unknown): Error {
  const { code } = error as { code?: unknown };
  if (code !== 'ERR_INVALID_CHAR' && code !== 'ERR_INVALID_HTTP_TOKEN') {
    return error instanceof Error ? error : new Error(String(error));
  }
  return new ConnectFailure(
    'negotiate',
    'negotiate: a configured header or token contains a line break or control character',
  );
}

function statusFailure(
  status: number,
  url: URL,
  { 'content-type': type = 'text/plain', 'retry-after': retryAfter }: http.IncomingHttpHeaders,
  body: string,
): ConnectFailure {
  // Services say in plain text what is wrong, the SDK of app servers without a content type.
  const said = /^text\/plain\b/i.test(type) ? shownText(body) : '';
  const message = `negotiate: ${shownUrl(url.href)} answered ${status}${said === '' ? '' : `: ${said}`}`;
  return new StatusFailure(status, 'negotiate', message, retryAfter);
}
