import { ExpectedError } from '../../base/expectedError';
import type { ServiceConnection } from '../../scenario/target/connectionString';
import { isServerless } from '../../scenario/target/serverConnections';
import { serviceOfHost } from '../../scenario/target/hubUrl';
import type { Scenario } from '../../scenario/scenario';
import { openDefaultMode } from './defaultMode';
import { openServerless } from './serverless';
import type { OpenTarget, TargetContext } from '../target';
import { openWebPubSub } from './webPubSub';

/**
 * The hub of the scenario on a service.
 *
 * @throws ExpectedError `service` when it is the other service that the scenario was read for
 */
export async function openService(
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const { service } = scenario;
  const other = serviceOfHost(new URL(connection.audience).hostname);
  if (other !== undefined && other !== service) {
    throw new ExpectedError(
      'service',
      `The connection string belongs to the other service: write \`service: ${other}\` into the scenario, since the text of a reference is not known when the file is read.`,
    );
  }
  if (service === 'webpubsub') return openWebPubSub(connection, scenario, context);
  return isServerless(scenario)
    ? openServerless(connection, scenario, context)
    : openDefaultMode(connection, scenario, context);
}
