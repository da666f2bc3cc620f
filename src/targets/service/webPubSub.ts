import type { ServiceConnection } from '../../scenario/target/connectionString';
import type { Scenario } from '../../scenario/scenario';
import { findUseCase } from '../../usecases/registry';
import { needsApplication } from '../../usecases/useCase';
import { serviceTarget } from './serviceTarget';
import type { OpenTarget, TargetContext } from '../target';
import { refuseUnreachable, withUpstream } from './upstream';

/**
 * A hub of Azure Web PubSub: WebSockets without a negotiation. Echoes need an application behind the
 * service: ours, when the scenario says so or the service is an emulator, else the user's own.
 */
export async function openWebPubSub(
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const echoes = scenario.entries.some(({ name }) => needsApplication(findUseCase(name)!));
  if (echoes && scenario.upstream !== undefined) refuseUnreachable(connection, scenario.upstream);
  const path = `/client/hubs/${encodeURIComponent(scenario.hub)}`;
  const opened = await serviceTarget('webpubsub', connection, path, scenario, context);
  const ours = echoes && (scenario.upstream !== undefined || opened.hostsBeyond.length === 0);
  return ours ? withUpstream(opened, scenario, context) : opened;
}
