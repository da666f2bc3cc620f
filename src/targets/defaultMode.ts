import { ExpectedError } from '../base/expectedError';
import type { ServiceConnection } from '../scenario/connectionString';
import type { Scenario } from '../scenario/scenario';
import { isLoopback } from '../wire/isLoopback';
import { startAppServers } from './appServers';
import { resolveEndpoint, secretsOf } from './resolveEndpoint';
import type { OpenTarget, TargetContext } from './target';

/**
 * A hub of Azure SignalR Service in default mode: clients negotiate with app servers that are started for
 * the run, and go on to the service.
 *
 * @throws ExpectedError when there is no key to sign with, or an app server does not start
 */
export async function openDefaultMode(
  { clientEndpoint, serverEndpoint, audience, accessKey }: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  if (accessKey === undefined) {
    throw new ExpectedError(
      'sign-in',
      'This version signs tokens with an AccessKey only: give a connection string that has one instead of AuthType.',
    );
  }
  const resolved = await resolveEndpoint([clientEndpoint], scenario, context);
  const servers = await startAppServers(
    context.serverScript,
    {
      service: { clientEndpoint, serverEndpoint, audience, accessKey },
      hub: scenario.hub,
      serverConnections: scenario.serverConnections,
      ...(scenario.serverStickyMode !== undefined && { stickyMode: scenario.serverStickyMode }),
      // All clients are those of the run.
      protocols: [scenario.protocol],
      insecureTls: scenario.insecureTls,
      ...(resolved.ca !== undefined && { ca: resolved.ca }),
    },
    scenario.appServers,
    context.onProblem,
  );
  return {
    kind: 'connectionString',
    endpoint: { ...resolved, urls: servers.urls, skipNegotiation: false },
    secrets: [...secretsOf(resolved), accessKey, encodeURIComponent(accessKey)],
    url: `${new URL(clientEndpoint).origin} (hub ${scenario.hub})`,
    loopback: isLoopback(clientEndpoint) && isLoopback(serverEndpoint),
    dispose: () => servers.dispose(),
  };
}
