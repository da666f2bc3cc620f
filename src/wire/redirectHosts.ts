import { ConnectFailure, LeavesLoopback } from './connectFailure';
import type { Endpoint } from './endpoint';
import { negotiate, negotiateAgents } from './negotiate';

const timeoutMs = 10_000;

/**
 * Hosts beyond this machine that hubs on loopback redirect to, as an app server with Azure SignalR does.
 * Asks each hub once and goes no further; what else keeps it from answering is left to the run.
 */
export async function redirectHosts(endpoint: Endpoint): Promise<readonly string[]> {
  if (endpoint.skipNegotiation) return [];
  const confined = { ...endpoint, staysOnLoopback: true };
  const agents = negotiateAgents(confined, 1);
  const signal = AbortSignal.timeout(timeoutMs);
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
