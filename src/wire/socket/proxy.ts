import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { ProxySettings } from '../../base/endpoint';
import { isThisMachine } from '../../base/loopbackHost';
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

/**
 * Asks a proxy for a tunnel (CONNECT, RFC 9110, 9.3.6).
 * Not by https-proxy-agent: it replays a proxy's refusal as if the hub had answered, and gives sockets to agents only.
 * @returns a socket on which the other end of the tunnel answers
 * @throws ConnectFailure that names the proxy's host, never its user
 */
function openTunnel(proxy: URL, target: URL, signal?: AbortSignal): Promise<Socket> {
  const secure = target.protocol === 'https:';
  const authority = `${target.hostname}:${target.port || (secure ? 443 : 80)}`;
  return new Promise((resolve, reject) => {
    const request = (proxy.protocol === 'https:' ? https : http).request({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers: { Host: authority, ...credentialsOf(proxy) },
      agent: false,
      ...(signal === undefined ? {} : { signal }),
    });
    request.once('connect', (response, socket: Socket, head: Buffer) => {
      const status = response.statusCode ?? 0;
      if (status !== 200) {
        socket.destroy();
        const why = `${status} ${shownText(response.statusMessage ?? '')}`.trim();
        const message = `the proxy ${proxy.host} answered ${why} to CONNECT ${authority}`;
        const refused = status === 407 || status === 403;
        reject(new ConnectFailure(refused ? 'unauthorized' : 'unreachable', message));
        return;
      }
      socket.setNoDelay(true);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    // An answer that is no tunnel, such as a page that asks for a login.
    request.once('response', () => {
      const message = `the proxy ${proxy.host} does not open tunnels`;
      request.destroy(new ConnectFailure('unreachable', message));
    });
    request.once('error', (error) => {
      reject(failureOfSocket(error, `the proxy ${proxy.host}`, 'unreachable'));
    });
    request.end();
  });
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

type Done = (error?: Error | null) => void;

/** A tunnel that can be written to before it is open; then it emits `connect`. */
export class TunnelStream extends Duplex {
  private tunnel: Socket | undefined;
  private silence: NodeJS.Timeout | undefined;
  private readonly giveUp = new AbortController();

  constructor(
    private readonly proxy: URL,
    private readonly target: URL,
  ) {
    super({ allowHalfOpen: false });
  }

  override _construct(callback: Done): void {
    openTunnel(this.proxy, this.target, this.giveUp.signal).then(
      (tunnel) => {
        this.tunnel = tunnel;
        tunnel.on('data', (chunk: Buffer) => {
          this.silence?.refresh();
          if (!this.push(chunk)) tunnel.pause();
        });
        tunnel.on('end', () => this.push(null));
        tunnel.on('error', (error) => this.destroy(error));
        tunnel.on('close', () => this.destroy());
        callback();
        this.emit('connect');
      },
      (error: unknown) => {
        if (this.giveUp.signal.aborted) callback();
        else callback(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  /** A stream is destroyed once it is open, and a proxy may never answer: it is asked no longer. */
  override destroy(error?: Error): this {
    this.giveUp.abort();
    return super.destroy(error);
  }

  override _read(): void {
    this.tunnel?.resume();
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: Done): void {
    this.silence?.refresh();
    this.tunnel!.write(chunk, encoding, callback);
  }

  override _final(callback: () => void): void {
    this.tunnel!.end(callback);
  }

  override _destroy(error: Error | null, callback: Done): void {
    clearTimeout(this.silence);
    this.tunnel?.destroy();
    callback(error);
  }

  /** As sockets have it: `timeout` is emitted after so long a silence, also while the proxy is asked; 0 ends that. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    clearTimeout(this.silence);
    this.silence =
      timeoutMs > 0 ? setTimeout(() => this.emit('timeout'), timeoutMs).unref() : undefined;
    if (listener === undefined) return this;
    return timeoutMs > 0 ? this.once('timeout', listener) : this.off('timeout', listener);
  }

  /** What an agent does to a socket that it keeps for later. */
  setKeepAlive(enable?: boolean, initialDelayMs?: number): this {
    this.tunnel?.setKeepAlive(enable, initialDelayMs);
    return this;
  }

  ref(): this {
    this.tunnel?.ref();
    return this;
  }

  unref(): this {
    this.tunnel?.unref();
    return this;
  }
}
