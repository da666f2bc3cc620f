import type { Endpoint } from './endpoint';
import { HubConnection, type HubConnectionOptions, type HubListener } from './hubConnection';
import { negotiate, withQuery, type NegotiateAgents, type Negotiated } from './negotiate';

/** How connections of one worker are opened. */
export interface ConnectContext {
  readonly endpoint: Endpoint;
  readonly agents: NegotiateAgents;
  readonly listener: HubListener;
  readonly options: HubConnectionOptions;
}

/**
 * Opens connection `index`: negotiate (unless it is skipped), upgrade and handshake, back to back,
 * because a server forgets a negotiated id soon.
 *
 * @throws ConnectFailure
 */
export async function connectHub(
  index: number,
  context: ConnectContext,
  signal: AbortSignal,
): Promise<HubConnection> {
  const { endpoint, agents, listener, options } = context;
  const url = endpoint.urls[index % endpoint.urls.length];
  if (url === undefined) throw new Error('an endpoint needs a URL');
  const where: Negotiated = endpoint.skipNegotiation
    ? {
        url: withQuery(url, endpoint.query),
        headers: endpoint.headers,
        accessToken: endpoint.accessToken,
      }
    : await negotiate(endpoint, url, agents, signal);
  return HubConnection.open(index, where, endpoint, listener, options, signal);
}
