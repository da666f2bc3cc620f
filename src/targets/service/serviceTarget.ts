import type { ServiceConnection } from '../../scenario/target/connectionString';
import type { Scenario } from '../../scenario/scenario';
import type { ServiceHub } from '../../base/endpoint';
import type { SignInPurpose } from '../entra/openSignIn';
import { enterService } from './enterService';
import type { OpenTarget, TargetContext } from '../target';

/**
 * A hub that clients reach with tokens of their own making.
 *
 * @param path of the hub below the clients' endpoint
 * @param purpose what an identity has to be allowed, when somebody signs in
 * @throws ExpectedError as {@link enterService}
 */
export async function serviceTarget(
  kind: ServiceHub['kind'],
  connection: ServiceConnection,
  path: string,
  scenario: Scenario,
  context: TargetContext,
  purpose: SignInPurpose = 'rest',
): Promise<OpenTarget> {
  const entrance = { kind, path, purpose } as const;
  const entered = await enterService(entrance, connection, scenario, context);
  const { resolved, hub, pass, opened } = entered;
  const endpoint = {
    ...resolved,
    service: { ...hub, ...pass },
    ...(kind === 'webpubsub' && { skipNegotiation: true }),
  };
  return { ...opened, endpoint };
}
