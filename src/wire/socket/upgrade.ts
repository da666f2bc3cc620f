import { createHash, randomBytes } from 'node:crypto';
import { ConnectFailure, shownText, StatusFailure, shownUrl } from '../connectFailure';
import type { Cookies } from './cookies';

const acceptGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
export const maximumHeadBytes = 16 * 1024;

export interface Negotiated {
  /** `http:` or `https:` URL of the hub, with its query and the connection's id. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly accessToken?: string | undefined;
  /** Fetches a new token before this one expires. */
  readonly renew?: () => Promise<RenewedToken>;
  readonly renewAtMs?: number | undefined;
  readonly cookies?: Cookies;
  readonly connectionId?: string;
}

export interface RenewedToken {
  readonly accessToken?: string | undefined;
  readonly renewAtMs?: number | undefined;
}

interface UpgradeRequest {
  readonly bytes: string;
  readonly accept: string;
}

/** The HTTP request of a WebSocket handshake (RFC 6455, 4.1). @throws ConnectFailure when a header cannot be sent */
export function upgradeRequest(where: Negotiated, subprotocol?: string): UpgradeRequest {
  const key = randomBytes(16).toString('base64');
  const lines = [
    `GET ${where.url.pathname}${where.url.search} HTTP/1.1`,
    `Host: ${where.url.host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${key}`,
    'Sec-WebSocket-Version: 13',
    ...(subprotocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${subprotocol}`]),
    ...linesOf(admissionHeaders(where)),
  ];
  const accept = createHash('sha1')
    .update(key + acceptGuid)
    .digest('base64');
  return { bytes: `${lines.join('\r\n')}\r\n\r\n`, accept };
}

function linesOf(headers: readonly string[]): string[] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : []));
}

/**
 * `head` ends at the empty line; a line may end with LF alone (RFC 9112, 2.2). @throws ConnectFailure when it is no
 * acceptance
 */
export function checkUpgradeAnswer(
  head: string,
  accept: string,
  url: URL,
  subprotocol?: string,
): void {
  const [statusLine = '', ...headerLines] = head.split(/\r?\n/);
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status))
    throw new ConnectFailure('protocol', `upgrade: ${shownUrl(url.href)} does not speak HTTP`);
  const headers = new Map<string, string>();
  for (const line of headerLines) {
    const colon = line.indexOf(':');
    if (colon > 0)
      headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  if (status !== 101) {
    const message = `upgrade: ${shownUrl(url.href)} answered ${shownText(statusLine.slice(9))}`;
    throw new StatusFailure(status, 'upgrade', message, headers.get('retry-after'));
  }
  if (
    headers.get('upgrade')?.toLowerCase() !== 'websocket' ||
    headers.get('sec-websocket-accept') !== accept
  ) {
    throw new ConnectFailure('upgrade', `upgrade: ${shownUrl(url.href)} is not a WebSocket server`);
  }
  if (
    headers.has('sec-websocket-extensions') ||
    headers.get('sec-websocket-protocol') !== subprotocol
  ) {
    throw new ConnectFailure(
      'upgrade',
      'upgrade: the server chose an extension or subprotocol that was not offered',
    );
  }
}

const reserved = new Set([
  'host',
  'upgrade',
  'connection',
  'sec-websocket-key',
  'sec-websocket-version',
  'content-length',
  'content-type',
  'transfer-encoding',
  'accept',
  'expect',
]);

/**
 * Authorization, configured headers and cookies: names and values in turn. @throws ConnectFailure if one cannot be
 * sent
 */
export function admissionHeaders(where: Negotiated): string[] {
  const headers: string[] = [];
  const kept = where.cookies?.headerFor(where.url);
  const cookies = kept === undefined ? [] : [kept];
  if (where.accessToken !== undefined) headers.push('Authorization', `Bearer ${where.accessToken}`);
  for (const [name, value] of Object.entries(where.headers)) {
    const lowerCase = name.toLowerCase();
    // A token, perhaps from a redirect, is newer than a configured header; two would be refused.
    if (lowerCase === 'authorization' && where.accessToken !== undefined) continue;
    if (lowerCase === 'cookie') cookies.unshift(value);
    else if (!reserved.has(lowerCase)) headers.push(name, value);
  }
  if (cookies.length > 0) headers.push('Cookie', cookies.join('; '));
  // Characters that could end a header line, also once the socket has cut them to single bytes.
  if (headers.some((text) => /[^\t\u0020-\u007e\u0080-\u00ff]/.test(text))) {
    throw new ConnectFailure(
      'upgrade',
      'a configured header or token contains a line break or control character',
    );
  }
  return headers;
}
