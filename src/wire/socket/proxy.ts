import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { isThisMachine, type ProxySettings } from '../../base/endpoint';
import type { ErrorClass } from '../../base/errorClass';
import { ConnectFailure, failureFromSocketError, shownText } from '../connectFailure';

/** Undefined where the connection is direct, as always to this machine. */
export function proxyFor(url: URL, proxies: ProxySettings | undefined): URL | undefined {
  if (proxies === undefined || isThisMachine(url.hostname)) return undefined;
  const proxy = url.protocol === 'https:' ? proxies.https : proxies.http;
  return proxy === undefined || isExcepted(url, proxies.except) ? undefined : new URL(proxy);
}

/** `NO_PROXY`: `*`, or domains, each perhaps with a port. */
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

export type SocketCallback = (error: Error | null, socket?: Socket) => void;

const tunnelTimeoutMs = 30_000;

/**
 * Opens a tunnel (CONNECT, RFC 9110, 9.3.6). https-proxy-agent would replay a proxy's refusal as if the hub had
 * answered. Errors name the proxy's host, never its user.
 */
export function openTunnel(
  proxy: URL,
  target: URL,
  opened: SocketCallback,
  signal: AbortSignal,
): void {
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
  // An answer that is no tunnel, such as a login page.
  request.once('response', () => giveUp('unreachable', 'does not open tunnels'));
  request.once('timeout', () => giveUp('timeout', 'did not answer in time'));
  request.on('error', (error) => {
    opened(failureFromSocketError(error, `the proxy ${proxy.host}`, 'unreachable'));
  });
  request.end();
}

function credentialsOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const text = `${decodeOrKeep(username)}:${decodeOrKeep(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(text, 'utf8').toString('base64')}` };
}

export function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
