/** Headers are passed unchanged, except those that would lead past the proxy. */
import { isLoopbackHost } from '../../base/endpoint';
import type { IncomingMessage } from 'node:http';
import type { ProxiedServer } from './proxiedServers';

export type HeaderList = readonly string[];

/** Of one connection, not of the message (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
]);

function* pairs(list: HeaderList): Generator<readonly [name: string, value: string]> {
  for (let at = 0; at + 1 < list.length; at += 2) yield [list[at]!, list[at + 1]!];
}

interface RequestWay {
  readonly url: URL;
  readonly target: string;
  /** An answer that is read must not be compressed. */
  readonly isRead: boolean;
}

/** The hub sees its own host, and its own origin for pages of the proxy. */
export function requestHeaders(
  request: IncomingMessage,
  { url, target, isRead }: RequestWay,
): string[] {
  const own = ownOrigin(request);
  const passed: string[] = ['Host', url.host];
  for (const [name, value] of pairs(request.rawHeaders)) {
    const lower = name.toLowerCase();
    if (hopByHop.has(lower) || lower === 'host') continue;
    if (lower === 'accept-encoding' && isRead) passed.push(name, 'identity');
    else if (lower === 'origin' && value === own) passed.push(name, target);
    else if (lower === 'referer' && value.startsWith(`${own}/`))
      passed.push(name, target + value.slice(own.length));
    else passed.push(name, value);
  }
  return passed;
}

/** Without extensions: compressed frames cannot be read. */
export function upgradeHeaders(
  request: IncomingMessage,
  way: Omit<RequestWay, 'isRead'>,
  isRead: boolean,
): string[] {
  const passed: string[] = [];
  for (const [name, value] of pairs(requestHeaders(request, { ...way, isRead: false })))
    if (!isRead || name.toLowerCase() !== 'sec-websocket-extensions') passed.push(name, value);
  passed.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
  return passed;
}

interface AnswerWay {
  readonly place: ProxiedServer;
  readonly target: string;
  readonly addressOf: (url: string) => string | undefined;
}

/** Cookies get the proxy's domain, and pages may use the proxy. */
export function answerHeaders(
  request: IncomingMessage,
  answer: IncomingMessage,
  { place, target, addressOf }: AnswerWay,
): string[] {
  const passed: string[] = [];
  const allowed = allowedOrigin(request, target);
  for (const [name, value] of pairs(answer.rawHeaders)) {
    const lower = name.toLowerCase();
    if (hopByHop.has(lower)) continue;
    if (lower === 'set-cookie') passed.push(name, loopbackCookie(value, place.prefix));
    else if (lower === 'location') passed.push(name, addressOf(value) ?? value);
    else if (allowed === undefined || !corsHeaders.has(lower)) passed.push(name, value);
  }
  if (allowed !== undefined) passed.push(...leave(allowed), 'Vary', 'Origin');
  return passed;
}

const corsHeaders = new Set(['access-control-allow-origin', 'access-control-allow-credentials']);

const leave = (origin: string): string[] => [
  ...['Access-Control-Allow-Origin', origin],
  ...['Access-Control-Allow-Credentials', 'true'],
];

/** Answer to a CORS preflight (Fetch, "CORS-preflight request"); undefined where the hub decides. */
export function preflightAnswer(request: IncomingMessage, target: string): string[] | undefined {
  const { headers, method } = request;
  const wanted = headers['access-control-request-method'];
  const origin = allowedOrigin(request, target);
  if (method !== 'OPTIONS' || wanted === undefined || origin === undefined) return undefined;
  const names = headers['access-control-request-headers'];
  return [
    ...leave(origin),
    ...['Access-Control-Allow-Methods', wanted],
    ...(names === undefined ? [] : ['Access-Control-Allow-Headers', names]),
    ...['Access-Control-Allow-Private-Network', 'true'],
    ...['Vary', 'Origin', 'Content-Length', '0'],
  ];
}

/** Pages of this machine and of the hub itself may use the proxy. For other origins the hub decides. */
function allowedOrigin(request: IncomingMessage, target: string): string | undefined {
  const { origin } = request.headers;
  if (origin === undefined || origin === ownOrigin(request) || !URL.canParse(origin))
    return undefined;
  return origin === target || isLoopbackHost(new URL(origin).hostname) ? origin : undefined;
}

const ownOrigin = ({ headers }: IncomingMessage): string => `http://${headers.host ?? ''}`;

/**
 * Without `Domain` and `Secure`, and with `SameSite=Lax` for `None`: browsers refuse them on loopback without TLS (RFC
 * 6265bis, 4.1.2.5 and 4.1.2.7).
 */
function loopbackCookie(cookie: string, prefix: string): string {
  const [pair = '', ...attributes] = cookie.split(';');
  // These names require `Secure`; browsers accept it on loopback.
  const isBound = /^\s*__(?:Secure|Host)-/i.test(pair);
  const kept = attributes.flatMap((attribute) => {
    const [name = '', value = ''] = attribute.split('=');
    switch (name.trim().toLowerCase()) {
      case 'domain':
        return [];
      case 'secure':
      case 'partitioned':
        return isBound ? [attribute] : [];
      case 'samesite':
        return !isBound && /^\s*none\s*$/i.test(value) ? [' SameSite=Lax'] : [attribute];
      case 'path':
        return prefix !== '' && value.trim().startsWith('/') && !isBound
          ? [` Path=${prefix}${value.trim()}`]
          : [attribute];
      default:
        return [attribute];
    }
  });
  return [pair, ...kept].join(';');
}
