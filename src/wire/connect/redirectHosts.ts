import { ConnectFailure, LeavesLoopback } from './connectFailure';
import type { Endpoint } from '../../base/endpoint';
import { negotiate, negotiateAgents } from './negotiate';
import { numberedEndpoint } from './numberedEndpoint';
import { asProbe } from './probeMark';

/**
 * Hosts beyond this machine that hubs on loopback redirect to, as an app server with Azure SignalR does.
 * Asks each hub once and goes no further; what else keeps it from answering is left to the run.
 *
 * @param withinMs time all hubs have together
 */
export async function redirectHosts(
  endpoint: Endpoint,
  withinMs = 10_000,
): Promise<readonly string[]> {
  if (endpoint.skipNegotiation) return [];
  const confined = { ...asProbe(numberedEndpoint(endpoint, 0)), staysOnLoopback: true };
  const agents = negotiateAgents(confined, 1);
  const signal = AbortSignal.timeout(withinMs);
  const hostOf = async (url: string): Promise<string | undefined> => {
    try {
      await negotiate(confined, url, agents, signal);
    } catch (error) {
      if (error instanceof LeavesLoopback) return error.host;
      if (!(error instanceof ConnectFailure)) throw error;
    }
    return undefined;
  };
  try {
    const hosts = await Promise.all(endpoint.urls.map(hostOf));
    return [...new Set(hosts)].filter((host) => host !== undefined);
  } finally {
    agents.http.destroy();
    agents.https.destroy();
  }
}
