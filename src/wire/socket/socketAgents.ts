import * as http from 'node:http';
import * as https from 'node:https';
import { ConnectFailure } from '../connectFailure';
import { openSocket, type ConnectStopwatch, type WaySettings } from './socket';

type SocketOptions = http.ClientRequestArgs & { readonly stopwatch?: ConnectStopwatch | undefined };

/**
 * Makes HTTP requests, and keeps their sockets open between them. Its sockets are those of
 * {@link openSocket}, which knows proxies, certificates and authorities.
 */
export class SocketAgents {
  private readonly agents = new Map<string, http.Agent>();

  constructor(
    private readonly way: WaySettings,
    private readonly maximumSockets: number,
  ) {}

  /** Begins a request. @throws ConnectFailure when a header cannot be sent */
  request(url: URL, options: SocketOptions): http.ClientRequest {
    const { protocol } = url;
    let agent = this.agents.get(protocol);
    if (agent === undefined) {
      agent = this.agentOf(protocol);
      this.agents.set(protocol, agent);
    }
    try {
      return http.request(url, { ...options, agent });
    } catch (error) {
      throw unsendable(error);
    }
  }

  destroy(): void {
    for (const agent of this.agents.values()) agent.destroy();
  }

  private agentOf(protocol: string): http.Agent {
    const agent = new (protocol === 'https:' ? https : http).Agent({
      keepAlive: true,
      maxSockets: this.maximumSockets,
      maxFreeSockets: this.maximumSockets,
      scheduling: 'lifo',
    });
    agent.createConnection = ({ host, port, stopwatch }: SocketOptions) => {
      const name = host ?? 'localhost';
      const url = new URL(`${protocol}//${name.includes(':') ? `[${name}]` : name}:${port ?? ''}`);
      return openSocket(url, this.way, stopwatch);
    };
    return agent;
  }
}

/** What Node says before it sends anything: headers and tokens come from outside, so it is no defect. */
function unsendable(error: unknown): Error {
  const { code } = error as { code?: unknown };
  if (code !== 'ERR_INVALID_CHAR' && code !== 'ERR_INVALID_HTTP_TOKEN') {
    return error instanceof Error ? error : new Error(String(error));
  }
  return new ConnectFailure(
    'negotiate',
    'negotiate: a configured header or token contains a line break or control character',
  );
}

/** The whole body of an answer. @throws ConnectFailure as `tooLong` when it is longer than `limit` bytes */
export async function bodyOf(
  response: http.IncomingMessage,
  limit: number,
  tooLong: () => ConnectFailure,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
