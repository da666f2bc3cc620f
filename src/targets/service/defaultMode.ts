import type { ServiceConnection } from '../../scenario/target/connectionString';
import type { Scenario } from '../../scenario/scenario';
import type { Endpoint } from '../../base/endpoint';
import type { WaySettings } from '../../wire/socket/socket';
import { startAppServers } from './appServers';
import { followPasses } from '../entra/followPasses';
import { enterService } from './enterService';
import type { OpenTarget, TargetContext } from '../target';

/**
 * A hub of Azure SignalR Service in default mode: clients negotiate with app servers that are started for
 * the run, and go on to the service.
 *
 * @throws ExpectedError as {@link enterService}, and when an app server does not start
 */
export async function openDefaultMode(
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const { clientEndpoint, serverEndpoint, audience } = connection;
  const entrance = { kind: 'signalr', path: '/', purpose: 'appServer' } as const;
  const { resolved, pass, opened } = await enterService(entrance, connection, scenario, context);
  const settings = {
    service: { clientEndpoint, serverEndpoint, audience, ...pass },
    hub: scenario.hub,
    serverConnections: scenario.serverConnections,
    ...(scenario.serverStickyMode !== undefined && { stickyMode: scenario.serverStickyMode }),
    // All clients are those of the run.
    protocols: [scenario.protocol],
    ...wayOf(resolved),
  };
  const { appServers } = scenario;
  const { serverScript, onProblem } = context;
  try {
    const servers = await startAppServers(serverScript, settings, appServers, onProblem);
    followPasses(opened.passes, servers.renew);
    return {
      ...opened,
      endpoint: { ...resolved, urls: servers.urls, skipNegotiation: false },
      dispose: () => servers.dispose().finally(opened.dispose),
    };
  } catch (error) {
    await opened.dispose();
    throw error;
  }
}

/** Server connections go the way of the clients. */
const wayOf = ({ ca, clientCertificate, proxies, insecureTls }: Endpoint): WaySettings => ({
  insecureTls,
  ...(ca !== undefined && { ca }),
  ...(clientCertificate !== undefined && { clientCertificate }),
  ...(proxies !== undefined && { proxies }),
});
