import type { Endpoint, ServicePass } from '../../base/endpoint';
import { azureServiceOf } from '../../base/services';
import type { Scenario } from '../../scenario/scenario';
import type { ServiceConnection } from '../../scenario/target/connectionString';
import type { AppServerOptions } from '../../servers/appServer/appServer';
import type { WaySettings } from '../../wire/socket/socket';
import { disposeAll, startServerProcess } from '../serverProcess';
import { followPasses, appServerVariable, type OpenTarget, type TargetContext } from '../target';
import { enterService } from './enterService';

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
  const entrance = {
    kind: azureServiceOf(scenario.service),
    path: '/',
    purpose: 'appServer',
  } as const;
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
  try {
    const servers = await startAppServers(context, settings, scenario.appServers);
    followPasses(opened.passes, servers.renew);
    return {
      ...opened,
      endpoint: { ...resolved, urls: servers.urls, skipNegotiation: false },
      dispose: () => disposeAll(servers, opened),
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

/** What a run says about its app servers. */
export type AppServerSettings = Omit<AppServerOptions, 'onProblem' | 'port'>;

const served = { args: ['app-server'], name: 'app server', prints: 'url' } as const;

/**
 * Starts `count` app servers with the same settings, each in a process of its own.
 * @returns hub URLs where clients negotiate, one per process; `dispose` takes leave of the service
 * @throws ExpectedError `local-hub` with why one of them did not start; none is left then
 */
async function startAppServers(
  { serverScript, onProblem }: TargetContext,
  settings: AppServerSettings,
  count: number,
) {
  const env = { [appServerVariable]: JSON.stringify(settings) };
  const starting = Array.from({ length: count }, () =>
    startServerProcess(serverScript, served, { env, onProblem }),
  );
  const outcomes = await Promise.allSettled(starting);
  const running = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const dispose = async (): Promise<void> => {
    await Promise.all(running.map((each) => each.dispose()));
  };
  const failed = outcomes.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await dispose();
    throw failed.reason;
  }
  return {
    urls: running.map(({ value }) => value),
    /** From now on they make their tokens with this pass. */
    renew: (pass: ServicePass) => {
      for (const each of running) each.send(pass);
    },
    dispose,
  };
}
