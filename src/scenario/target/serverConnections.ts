import { services } from '../../base/services';
import { findUseCase } from '../../usecases/registry';
import { isRest } from '../../usecases/useCase';
import type { Scenario } from '../scenario';
import { behindOf } from './targetKinds';

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
  const whose = services[service].appServers;
  if (whose === 'none') return 0;
  if (whose === 'ofUser' || behindOf(target) === 'userHub') return undefined;
  if (!isServerless(scenario)) return appServers * serverConnections;
  const persists = entries.some(({ name }) => findUseCase(name)?.run.via === 'persistent');
  // How many workers this machine has by itself is not known here.
  return persists ? Math.min(scenario.workers ?? 1, connections) : 0;
}

/** Whether a scenario for Azure SignalR Service does without an app server: its hub is in serverless mode. */
export const isServerless = ({
  entries,
  upstream,
}: Pick<Scenario, 'entries' | 'upstream'>): boolean =>
  upstream !== undefined ||
  entries.every(({ name }) => {
    const useCase = findUseCase(name);
    return useCase !== undefined && isRest(useCase);
  });
