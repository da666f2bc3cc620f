import { asProbe, type Endpoint } from '../../base/endpoint';
import { findServiceByHost, defaultService, type AzureService } from '../../base/serviceTraits';
import { SocketAgents } from '../socket/socket';
import { ConnectFailure, RedirectNotAllowed } from '../connectFailure';
import { negotiate, hubAddress } from './connectHub';
import { PersonalEndpoints } from './personalEndpoints';

/**
 * Hosts outside `allowedHosts` (absent: outside this machine) to which hubs redirect, as app servers with Azure
 * SignalR do. Each hub is negotiated with once; other failures are left to the run.
 */
export async function redirectHosts(
  endpoint: Endpoint,
  withinMs = 10_000,
): Promise<readonly string[]> {
  const outcomes = await negotiateEach({ allowedHosts: [], ...endpoint }, withinMs);
  const hosts = outcomes.map((outcome) =>
    outcome instanceof RedirectNotAllowed ? outcome.host : undefined,
  );
  return [...new Set(hosts)].filter((host) => host !== undefined);
}

/** Found by the host, or by the path for clients where a gateway or an emulator has another host. */
export function serviceBehind(
  negotiated: URL | ConnectFailure | undefined,
): { readonly service: AzureService } | undefined {
  if (!(negotiated instanceof URL)) return undefined;
  const { hostname, pathname, searchParams } = negotiated;
  const isClientPath = /\/(?:aspnet)?client\/?$/i.test(pathname) && searchParams.has('hub');
  return findServiceByHost(hostname) === defaultService || isClientPath
    ? { service: defaultService }
    : undefined;
}

/** Negotiates once with each hub without opening a connection. @returns where it leads, or why it failed */
export async function negotiateEach(
  endpoint: Endpoint,
  withinMs: number,
): Promise<readonly (URL | ConnectFailure)[]> {
  if (endpoint.skipNegotiation) return [];
  const first = await new PersonalEndpoints(endpoint).of(0).catch(() => undefined);
  if (first === undefined) return [];
  const probing = asProbe(first.endpoint);
  const agents = new SocketAgents(probing, 1);
  const signal = AbortSignal.timeout(Math.ceil(withinMs));
  const outcomeOf = async (url: string): Promise<URL | ConnectFailure> => {
    try {
      return (await negotiate(probing, hubAddress(probing, url), agents, signal)).url;
    } catch (error) {
      if (error instanceof ConnectFailure) return error;
      throw error;
    }
  };
  try {
    return await Promise.all(endpoint.urls.map(outcomeOf));
  } finally {
    agents.destroy();
  }
}
