import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../../base/endpoint';
import {
  ConnectFailure,
  failureFromRequestError,
  RedirectNotAllowed,
  shownText,
  shownUrl,
  StatusFailure,
} from '../connectFailure';
import type { Cookies } from '../socket/cookies';
import { isAllowedHost } from '../socket/hosts';
import type { SocketAgents } from '../socket/socket';
import type { Negotiated } from '../socket/upgrade';

export type Credentials = Omit<Negotiated, 'url' | 'connectionId'> & { readonly cookies: Cookies };

export const maximumRedirects = 20;
const maximumAnswerBytes = 256 * 1024;

export function withQuery(url: string, query: Readonly<Record<string, string>>): URL {
  const result = new URL(url);
  for (const [name, value] of Object.entries(query)) result.searchParams.set(name, value);
  return result;
}

/** The hub that a redirect leads to; an HTTP redirect names the negotiate page itself. */
export function redirectedHub({ allowedHosts }: Endpoint, from: URL, to: string): URL {
  if (!URL.canParse(to, from.href))
    throw negotiationFailure('the server redirects to something that is not a URL');
  const url = new URL(to, from);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw negotiationFailure(`the server redirects to ${url.protocol} which is not supported`);
  }
  if (allowedHosts !== undefined && !isAllowedHost(url.href, allowedHosts))
    throw new RedirectNotAllowed(url.host);
  url.pathname = url.pathname.replace(/\/negotiate$/, '');
  return url;
}

interface Question {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly what?: string;
}

interface Answer {
  readonly body: string;
  readonly location?: string;
}

/** @throws ConnectFailure for any status but 200 and redirects */
export async function sendWholeRequest(
  { method, url, what = 'negotiate' }: Question,
  { headers: given, accessToken, cookies }: Credentials,
  agents: SocketAgents,
  signal: AbortSignal,
): Promise<Answer> {
  const headers: Record<string, string> = {
    ...given,
    ...(method === 'POST' && { 'Content-Length': '0' }),
    'X-Requested-With': 'XMLHttpRequest',
    ...(accessToken !== undefined && { Authorization: `Bearer ${accessToken}` }),
  };
  addCookies(headers, cookies.headerFor(url));
  try {
    const tooLong = () => new ConnectFailure('negotiate', `${what}: the answer does not end`);
    const bounds = { signal, maximumBytes: maximumAnswerBytes, tooLong };
    const answer = await agents.exchange(url, { method, headers, ...bounds });
    const { statusCode: status = 0, headers: said } = answer.response;
    cookies.take(said['set-cookie'] ?? [], url);
    const body = answer.body.toString('utf8');
    if (status === 200) return { body };
    if (isRedirect(status) && said.location !== undefined)
      return { body: '', location: said.location };
    throw statusFailure(what, status, url, said, body);
  } catch (error) {
    throw failureFromRequestError(error, what, url, signal.aborted);
  }
}

export const negotiationFailure = (text: string): ConnectFailure =>
  new ConnectFailure('negotiate', `negotiate: ${text}`);

/** Redirects that `fetch` follows with the same method. */
export const isRedirect = (status: number): boolean => [301, 302, 307, 308].includes(status);

/** Adds to a configured `Cookie` header, whatever its letter case. */
export function addCookies(headers: Record<string, string>, cookies: string | undefined): void {
  if (cookies === undefined) return;
  const name = Object.keys(headers).find((key) => key.toLowerCase() === 'cookie') ?? 'Cookie';
  headers[name] = headers[name] === undefined ? cookies : `${headers[name]}; ${cookies}`;
}

function statusFailure(
  what: string,
  status: number,
  url: URL,
  { 'content-type': type = 'text/plain', 'retry-after': retryAfter }: IncomingHttpHeaders,
  body: string,
): ConnectFailure {
  // Services explain errors in plain text, the SDK of app servers without a content type.
  const said = /^text\/plain\b/i.test(type) ? shownText(body) : '';
  const message = `${what}: ${shownUrl(url.href)} answered ${status}${said === '' ? '' : `: ${said}`}`;
  return new StatusFailure(status, 'negotiate', message, retryAfter);
}

export interface Negotiation<Terms = never> {
  readonly url: URL;
  readonly accessToken?: string;
  readonly connectionId?: string;
  readonly isFinal: boolean;
  readonly terms?: Terms;
}

export interface NegotiationProtocol<Terms = never> {
  readonly method: 'GET' | 'POST';
  readonly urlOf: (hub: URL) => URL;
  /** @throws ConnectFailure when the response is unusable */
  readonly read: (body: string, endpoint: Endpoint, hub: URL) => Negotiation<Terms>;
}

const probeHeader = 'X-SignalR-Bench-Probe';

/** For connections that only ask: test hubs keep their configured faults for the load. */
export const asProbe = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  headers: { ...endpoint.headers, [probeHeader]: '1' },
});

/** @param headers in lower case, as Node gives them */
export const isProbe = (headers: Readonly<Record<string, unknown>>): boolean =>
  headers[probeHeader.toLowerCase()] !== undefined;
