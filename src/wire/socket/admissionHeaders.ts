import { ConnectFailure } from '../connect/connectFailure';
import type { Negotiated } from '../connect/negotiate';

/** Headers that belong to the request itself. */
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
 * The headers that let a request of a connection in, names and values in turn: token, configured headers,
 * cookies.
 *
 * @throws ConnectFailure when one of them cannot be sent
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
  // Anything that could end a header line, also once the socket has cut characters to single bytes.
  if (headers.some((text) => /[^\t\u0020-\u007e\u0080-\u00ff]/.test(text))) {
    throw new ConnectFailure(
      'upgrade',
      'a configured header or token contains a line break or control character',
    );
  }
  return headers;
}
