import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import type { Endpoint } from '../connect/endpoint';
import { openTunnel, proxyFor } from './proxy';
import { tlsOptions } from './socket';

type Created = (error: Error | null, socket: Duplex) => void;
type ConnectionOptions = http.ClientRequestArgs;

/** Opens the tunnel for one request's connection; undefined where there is no proxy on the way. */
function tunnelFor(
  protocol: string,
  { host, port }: ConnectionOptions,
  endpoint: Endpoint,
  created: (socket: Awaited<ReturnType<typeof openTunnel>>, target: URL) => void,
  failed: (error: Error) => void,
): boolean {
  const name = host ?? 'localhost';
  const target = new URL(`${protocol}//${name.includes(':') ? `[${name}]` : name}:${port ?? ''}`);
  const proxy = proxyFor(target, endpoint.proxies);
  if (proxy === undefined) return false;
  openTunnel(proxy, target).then(
    (socket) => {
      created(socket, target);
    },
    (error: unknown) => {
      failed(error instanceof Error ? error : new Error(String(error)));
    },
  );
  return true;
}

/** Keeps connections open between requests, through the proxy where there is one. */
export class ProxiedHttpAgent extends http.Agent {
  constructor(
    private readonly endpoint: Endpoint,
    options: http.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(
    options: ConnectionOptions,
    callback?: Created,
  ): Duplex | null | undefined {
    const tunnelled = tunnelFor(
      'http:',
      options,
      this.endpoint,
      (socket) => callback?.(null, socket),
      (error) => callback?.(error, undefined as never),
    );
    return tunnelled ? undefined : super.createConnection(options, callback);
  }
}

/** The same with TLS to the other end. */
export class ProxiedHttpsAgent extends https.Agent {
  constructor(
    private readonly endpoint: Endpoint,
    options: https.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(
    options: ConnectionOptions,
    callback?: Created,
  ): Duplex | null | undefined {
    const { endpoint } = this;
    const tunnelled = tunnelFor(
      'https:',
      options,
      endpoint,
      (socket, target) => {
        const host = target.hostname.replace(/^\[|\]$/g, '');
        callback?.(null, tls.connect({ socket, ...tlsOptions(host, endpoint) }));
      },
      (error) => callback?.(error, undefined as never),
    );
    return tunnelled ? undefined : super.createConnection(options, callback);
  }
}
