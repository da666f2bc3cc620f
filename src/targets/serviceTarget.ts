import { ExpectedError } from '../base/expectedError';
import type { ServiceConnection } from '../scenario/connectionString';
import type { Scenario } from '../scenario/scenario';
import type { ServiceAccess } from '../wire/endpoint';
import { isLoopback } from '../wire/isLoopback';
import { resolveEndpoint, secretsOf } from './resolveEndpoint';
import type { OpenTarget, TargetContext } from './target';

/**
 * A hub that clients reach with tokens of their own making.
 *
 * @param path of the hub below the clients' endpoint
 * @throws ExpectedError when the endpoint cannot be resolved, or there is no key to sign with
 */
export async function serviceTarget(
  kind: ServiceAccess['kind'],
  connection: ServiceConnection,
  path: string,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const { clientEndpoint, serverEndpoint, audience, accessKey } = connection;
  if (accessKey === undefined) {
    throw new ExpectedError(
      'sign-in',
      'This version signs tokens with an AccessKey only: give a connection string that has one instead of AuthType.',
    );
  }
  const { origin } = new URL(clientEndpoint);
  const resolved = await resolveEndpoint([`${origin}${path}`], scenario, context);
  const access = { kind, hub: scenario.hub, audience, restOrigin: new URL(serverEndpoint).origin };
  const endpoint = {
    ...resolved,
    service: { ...access, accessKey },
    ...(kind === 'webpubsub' && { skipNegotiation: true }),
  };
  return {
    kind: 'connectionString',
    endpoint,
    secrets: [...secretsOf(resolved), accessKey, encodeURIComponent(accessKey)],
    url: `${origin} (hub ${scenario.hub})`,
    loopback: isLoopback(clientEndpoint) && isLoopback(serverEndpoint),
    dispose: () => Promise.resolve(),
  };
}
