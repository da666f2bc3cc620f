import { connectionLimit, type ServiceSize } from '../base/serviceLimits';
import { formatCount } from '../base/units';
import { findUseCase } from '../usecases/registry';
import { isServerless } from './isServerless';
import type { Scenario } from './scenario';

/** Code of the problem that clients fit a size and server connections do not. */
export const serverConnectionsCode = 'server-connections';

type Served = Pick<
  Scenario,
  | 'service'
  | 'target'
  | 'upstream'
  | 'entries'
  | 'connections'
  | 'appServers'
  | 'serverConnections'
  | 'workers'
>;

/**
 * Server connections that a run of the scenario opens to Azure SignalR Service: those of its app servers, or
 * the lasting one of each worker that `restPersist…` sends over. Undefined where app servers are not ours: a
 * hub or its URL. They take part of the connections of a size, like those of clients. Source: "Messages and
 * connections in Azure SignalR Service".
 */
export function serverConnectionsOf(scenario: Served): number | undefined {
  const { service, target, entries, connections, appServers, serverConnections } = scenario;
  if (service === 'webpubsub') return 0;
  if (service !== 'signalr' || target?.kind === 'hubUrl') return undefined;
  if (!isServerless(scenario)) return appServers * serverConnections;
  const persists = entries.some(({ name }) => findUseCase(name)?.run.via === 'persistent');
  // How many workers this machine has by itself is not known here.
  return persists ? Math.min(scenario.workers ?? 1, connections) : 0;
}

/**
 * Says that clients fit a size, but not with the server connections beside them; undefined where both fit, and
 * where the clients alone are too many.
 *
 * @param place the size as it stands in a sentence: `Unit 1`, `the Free tier`
 */
export function serverConnectionsProblem(
  clients: number,
  servers: number,
  size: ServiceSize | undefined,
  place: string,
): string | undefined {
  const limit = connectionLimit(size);
  if (clients > limit || clients + servers <= limit) return undefined;
  return `${formatCount(clients)} clients and ${formatCount(servers)} server connection${servers === 1 ? '' : 's'} are more than the ${formatCount(limit)} connections of ${place}: server connections count too.`;
}
