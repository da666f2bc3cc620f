import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { isThisMachine, type ProxySettings } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { ConnectFailure, failureOfSocket, shownText } from '../connectFailure';

/** The proxy on the way to a URL; undefined where the way is direct, as always to this machine. */
export function proxyFor(url: URL, proxies: ProxySettings | undefined): URL | undefined {
  if (proxies === undefined || isThisMachine(url.hostname)) return undefined;
  const proxy = url.protocol === 'https:' ? proxies.https : proxies.http;
  return proxy === undefined || isExcepted(url, proxies.except) ? undefined : new URL(proxy);
}

/** `NO_PROXY`: `*`, or names that also stand for what is below them, each perhaps with a port. */
function isExcepted(url: URL, except: readonly string[]): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return except.some((entry) => {
    if (entry === '*') return true;
    // Without brackets the colons of an IPv6 address leave no place for a port.
    const bare = entry.split(':').length > 2 ? entry : '';
    const [, name = bare, wanted] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [];
    if (wanted !== undefined && wanted !== port) return false;
    const domain = name.replace(/^\[|\]$/g, '').replace(/^\*?\./, '');
    return domain !== '' && (host === domain || host.endsWith(`.${domain}`));
  });
}

/** An open socket, or why there is none. */
export type Opened = (error: Error | null, socket?: Socket) => void;

/** A proxy that says nothing for so long is given up. */
const tunnelTimeoutMs = 30_000;

/**
 * Asks a proxy for a tunnel (CONNECT, RFC 9110, 9.3.6).
 * Not by https-proxy-agent: it replays a proxy's refusal as if the hub had answered, and gives sockets to agents only.
 *
 * @param opened gets a socket on which the other end of the tunnel answers, or a ConnectFailure that names the proxy's
 * host, never its user
 */
export function openTunnel(proxy: URL, target: URL, opened: Opened, signal: AbortSignal): void {
  const secure = target.protocol === 'https:';
  const authority = `${target.hostname}:${target.port || (secure ? 443 : 80)}`;
  const request = (proxy.protocol === 'https:' ? https : http).request({
    host: proxy.hostname.replace(/^\[|\]$/g, ''),
    port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
    method: 'CONNECT',
    path: authority,
    headers: { Host: authority, ...credentialsOf(proxy) },
    agent: false,
    timeout: tunnelTimeoutMs,
    signal,
  });
  request.once('connect', (response, socket: Socket, head: Buffer) => {
    const status = response.statusCode ?? 0;
    if (status !== 200) {
      socket.destroy();
      const why = `${status} ${shownText(response.statusMessage ?? '')}`.trim();
      const message = `the proxy ${proxy.host} answered ${why} to CONNECT ${authority}`;
      const refused = status === 407 || status === 403;
      opened(new ConnectFailure(refused ? 'unauthorized' : 'unreachable', message));
      return;
    }
    socket.setTimeout(0);
    socket.setNoDelay(true);
    if (head.length > 0) socket.unshift(head);
    opened(null, socket);
  });
  const giveUp = (errorClass: ErrorClass, text: string): void => {
    request.destroy(new ConnectFailure(errorClass, `the proxy ${proxy.host} ${text}`));
  };
  // An answer that is no tunnel, such as a page that asks for a login.
  request.once('response', () => giveUp('unreachable', 'does not open tunnels'));
  request.once('timeout', () => giveUp('timeout', 'did not answer in time'));
  request.on('error', (error) => {
    opened(failureOfSocket(error, `the proxy ${proxy.host}`, 'unreachable'));
  });
  request.end();
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decoded(username)}:${decoded(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
