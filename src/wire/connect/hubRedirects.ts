/** Where hubs send their clients: other hosts, or a service. */
import type { Endpoint } from '../../base/endpoint';
import { findServiceByHost, defaultService, type AzureService } from '../../base/serviceTraits';
import { SocketAgents } from '../socket/socket';
import { ConnectFailure, LeavesHosts } from '../connectFailure';
import { negotiate, addressOf } from './connectHub';
import { PersonalEndpoints } from './personalEndpoints';
import { asProbe } from './probeMark';

/**
 * Hosts that hubs redirect to and that may get no load yet, as an app server with Azure SignalR does: absent in the
 * endpoint, all beyond this machine. Each hub is asked once; what else keeps it from answering is left to the run.
 * @param withinMs time all hubs have together
 */
export async function redirectHosts(
  endpoint: Endpoint,
  withinMs = 10_000,
): Promise<readonly string[]> {
  const outcomes = await negotiateEach({ allowedHosts: [], ...endpoint }, withinMs);
  const hosts = outcomes.map((outcome) =>
    outcome instanceof LeavesHosts ? outcome.host : undefined,
  );
  return [...new Set(hosts)].filter((host) => host !== undefined);
}

/** By its host, or the path of its clients where a gateway or an emulator has another host. */
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

/** Negotiates once with each hub as the first client does, which opens no connection. @returns where it leads, or why it failed */
export async function negotiateEach(
  endpoint: Endpoint,
  withinMs: number,
): Promise<readonly (URL | ConnectFailure)[]> {
  if (endpoint.skipNegotiation) return [];
  const first = await new PersonalEndpoints(endpoint).of(0).catch(() => undefined);
  // Who cannot be asked for is left to the run.
  if (first === undefined) return [];
  const probing = asProbe(first.endpoint);
  const agents = new SocketAgents(probing, 1);
  const signal = AbortSignal.timeout(Math.ceil(withinMs));
  const outcomeOf = async (url: string): Promise<URL | ConnectFailure> => {
    try {
      return (await negotiate(probing, addressOf(probing, url), agents, signal)).url;
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
