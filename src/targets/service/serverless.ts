import type { ServiceConnection } from '../../scenario/target/connectionString';
import type { Scenario } from '../../scenario/scenario';
import { serviceTarget } from './serviceTarget';
import type { OpenTarget, TargetContext } from '../target';
import { refuseUnreachable, withUpstream } from './upstream';

/**
 * A hub of Azure SignalR Service in serverless mode: clients come with our tokens, messages by REST, and
 * what clients invoke goes to the upstream handler.
 */
export async function openServerless(
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  if (scenario.upstream !== undefined) refuseUnreachable(connection, scenario.upstream);
  const path = `/client/?hub=${encodeURIComponent(scenario.hub.toLowerCase())}`;
  const opened = await serviceTarget('signalr', connection, path, scenario, context);
  return scenario.upstream === undefined ? opened : withUpstream(opened, scenario, context);
}
