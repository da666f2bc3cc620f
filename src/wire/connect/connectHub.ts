/** The way to a hub: negotiate, tokens and redirects, then a connection of the right kind. */
import type { Endpoint } from '../../base/endpoint';
import { HttpConnection } from '../http/httpConnection';
import type { HubConnection, HubConnectionOptions, HubListener } from '../hub/clientConnection';
import { ReliableConnection } from '../hub/reliableConnection';
import { WebSocketConnection } from '../hub/webSocketConnection';
import type { SocketAgents } from '../socket/socketAgents';
import type { ClientTokens } from './accessTokens';
import { StatusFailure } from '../connectFailure';
import type { ConnectStopwatch } from '../socket/socket';
import { negotiate, withQuery } from './negotiate';
import type { Negotiated } from '../socket/upgrade';

export interface ConnectContext {
  readonly endpoint: Endpoint;
  readonly agents: SocketAgents;
  readonly listener: HubListener;
  readonly options: HubConnectionOptions;
  /** Which of the endpoint's URLs a connection uses; absent: URL i mod count. */
  readonly targetOf?: (index: number) => number;
  readonly open?: OpenConnection;
  /** Gives each connection its token, where a service of Azure wants its own. */
  readonly tokens?: ClientTokens;
}

export type OpenConnection = (
  index: number,
  url: string,
  context: ConnectContext,
  signal: AbortSignal,
  stopwatch?: ConnectStopwatch,
) => Promise<HubConnection>;

/**
 * Negotiates (if wanted), connects and shakes hands back to back: servers forget ids soon. @throws ConnectFailure
 */
export async function connectHub(
  index: number,
  context: ConnectContext,
  signal: AbortSignal,
  stopwatch?: ConnectStopwatch,
): Promise<HubConnection> {
  try {
    return await opened(index, context, signal, stopwatch);
  } catch (error) {
    if (error instanceof StatusFailure && error.request !== 'negotiate')
      error.hasNegotiated = !context.endpoint.skipNegotiation;
    throw error;
  }
}

async function opened(
  index: number,
  context: ConnectContext,
  signal: AbortSignal,
  stopwatch: ConnectStopwatch | undefined,
): Promise<HubConnection> {
  const { agents, listener, options, tokens } = context;
  const numbered = numberedEndpoint(context.endpoint, index);
  const endpoint =
    tokens === undefined
      ? numbered
      : { ...numbered, accessToken: await tokens.forClient(index, signal) };
  // An application would ask for the token when its client negotiates.
  if (tokens?.areIssued === true) stopwatch?.done('negotiate');
  const url = endpoint.urls[context.targetOf?.(index) ?? index % endpoint.urls.length];
  if (url === undefined) throw new Error('an endpoint needs a URL');
  if (context.open !== undefined)
    return context.open(index, url, { ...context, endpoint }, signal, stopwatch);
  const where: Negotiated = endpoint.skipNegotiation
    ? {
        url: withQuery(url, endpoint.query),
        headers: endpoint.headers,
        accessToken: endpoint.accessToken,
      }
    : await negotiate(endpoint, url, agents, signal);
  if (!endpoint.skipNegotiation) stopwatch?.done('negotiate');
  const OverWebSocket =
    options.codec?.recovery !== undefined ? ReliableConnection : WebSocketConnection;
  const Transport = endpoint.transport === undefined ? OverWebSocket : HttpConnection;
  return Transport.open(index, where, endpoint, listener, options, signal, stopwatch);
}

/** The endpoint as connection `index` asks for it: with its number in the headers and the query that have one. */
export function numberedEndpoint(endpoint: Endpoint, index: number): Endpoint {
  const { numbered, ...rest } = endpoint;
  if (numbered === undefined) return endpoint;
  const filled = (texts: Readonly<Record<string, readonly string[]>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(texts).map(([name, pieces]) => [name, pieces.join(String(index))]),
    );
  return {
    ...rest,
    headers: { ...endpoint.headers, ...filled(numbered.headers) },
    query: { ...endpoint.query, ...filled(numbered.query) },
  };
}
