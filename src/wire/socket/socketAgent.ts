import * as http from 'node:http';
import * as https from 'node:https';
import type { Duplex } from 'node:stream';
import type { ConnectStopwatch } from '../connect/connectStopwatch';
import { openSocket, type WaySettings } from './socket';

/** What an agent is given for a socket: options of the request, with what ours add. */
type SocketOptions = http.ClientRequestArgs & { readonly stopwatch?: ConnectStopwatch };

/**
 * Keeps connections open between requests; its sockets are those of {@link openSocket}, which knows proxies,
 * certificates and authorities.
 */
export function socketAgent(
  protocol: string,
  way: WaySettings,
  options: http.AgentOptions,
): http.Agent {
  return protocol === 'https:' ? new TlsAgent(way, options) : new TcpAgent(way, options);
}

function open(protocol: string, way: WaySettings, options: SocketOptions): Duplex {
  const { host, port, stopwatch } = options;
  const name = host ?? 'localhost';
  const url = new URL(`${protocol}//${name.includes(':') ? `[${name}]` : name}:${port ?? ''}`);
  return openSocket(url, way, stopwatch);
}

class TcpAgent extends http.Agent {
  constructor(
    private readonly way: WaySettings,
    options: http.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(options: SocketOptions): Duplex {
    return open('http:', this.way, options);
  }
}

class TlsAgent extends https.Agent {
  constructor(
    private readonly way: WaySettings,
    options: http.AgentOptions,
  ) {
    super(options);
  }

  override createConnection(options: SocketOptions): Duplex {
    return open('https:', this.way, options);
  }
}
