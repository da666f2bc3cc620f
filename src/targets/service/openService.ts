import { ExpectedError } from '../../base/expectedError';
import { azureServiceOf, serviceOfHost, services } from '../../base/services';
import type { Scenario } from '../../scenario/scenario';
import type { ServiceConnection } from '../../scenario/target/connectionString';
import { isServerless } from '../../scenario/target/serverConnections';
import { findUseCase } from '../../usecases/registry';
import { needsApplication } from '../../usecases/useCase';
import type { OpenTarget, TargetContext } from '../target';
import { openDefaultMode } from './defaultMode';
import { serviceTarget } from './enterService';
import { refuseUnreachable, withUpstream } from './upstream';

/**
 * The hub of the scenario on a service.
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
  return services[service].appServers === 'none' || isServerless(scenario)
    ? openByTokens(connection, scenario, context)
    : openDefaultMode(connection, scenario, context);
}

/**
 * A hub that clients reach with tokens of our making, without app servers of the run. What they send goes to our application where the file says so or an emulator has to echo.
 */
async function openByTokens(
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const kind = azureServiceOf(scenario.service);
  const { appServers, hubName, clientPath } = services[kind];
  const path = clientPath(encodeURIComponent(hubName(scenario.hub)));
  const isOurs = scenario.upstream !== undefined;
  const echoes = scenario.entries.some(({ name }) => needsApplication(findUseCase(name)!));
  const needsUpstream = appServers === 'none' ? echoes : isOurs;
  if (needsUpstream && isOurs) refuseUnreachable(connection, scenario.upstream);
  const opened = await serviceTarget(kind, connection, path, scenario, context);
  const starts = needsUpstream && (isOurs || opened.hostsBeyond.length === 0);
  return starts ? withUpstream(opened, scenario, context) : opened;
}
