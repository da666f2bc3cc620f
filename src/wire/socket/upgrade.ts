import { createHash, randomBytes } from 'node:crypto';
import { ConnectFailure, shownText, StatusFailure } from '../connect/connectFailure';
import { shownUrl } from '../connect/shownUrl';
import type { Negotiated } from '../connect/negotiate';
import { admissionHeaders } from './admissionHeaders';

const acceptGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** Longest head of an upgrade answer. */
export const maximumHeadBytes = 16 * 1024;
/** A WebSocket upgrade: the request's bytes and what the answer must contain. */
export interface UpgradeRequest {
  readonly bytes: string;
  readonly accept: string;
}

/**
 * The HTTP request that turns a socket into a WebSocket (RFC 6455, 4.1).
 *
 * @throws ConnectFailure when a header cannot be sent
 */
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

/** Names and values in turn as lines. */
function linesOf(headers: readonly string[]): string[] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${headers[at + 1]}`] : []));
}

/**
 * Judges the head of the answer.
 *
 * @param head everything up to the empty line
 * @throws ConnectFailure when it is no acceptance
 */
export function checkUpgradeAnswer(
  head: string,
  accept: string,
  url: URL,
  subprotocol?: string,
): void {
  const [statusLine = '', ...headerLines] = head.split('\r\n');
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
    throw new ConnectFailure('upgrade', `upgrade: ${shownUrl(url.href)} is no WebSocket server`);
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
