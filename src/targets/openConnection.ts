import { ExpectedError } from '../base/expectedError';
import {
  connectionStringProblem,
  readConnectionString,
  type ServiceConnection,
} from '../scenario/target/connectionString';
import type { Scenario } from '../scenario/scenario';
import { resolveText } from './resolveEndpoint';
import type { OpenTarget, ServiceProbe, Target, TargetContext } from './target';

export const connectionString: Target = {
  kind: 'connectionString',
  open: (scenario, context) => openConnection(textOf(scenario, context), scenario, context),
  probe: (scenario, context) => probeConnection(textOf(scenario, context), context),
};

function textOf({ target }: Scenario, context: TargetContext): string {
  if (target?.kind !== 'connectionString') throw new Error('not a connection string target');
  return resolveText(target.value, context);
}

/** @throws ExpectedError `connection-string` in words that repeat none of it, and as the service's target */
export async function openConnection(
  text: string,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const connection = serviceConnection(text);
  // A bundle of its own: only runs against a service need what signs tokens.
  const { openService } = await import(/* webpackChunkName: "run" */ './service/openService.js');
  return openService(connection, scenario, context);
}

/** @throws ExpectedError `connection-string` in words that repeat none of it */
export function serviceConnection(text: string): ServiceConnection {
  const problem = connectionStringProblem(text);
  if (problem !== undefined) throw new ExpectedError('connection-string', problem);
  const connection = readConnectionString(text);
  // The pure check knows the forms of hosts, not which numbers and letters make one.
  for (const name of ['endpoint', 'clientEndpoint', 'serverEndpoint'] as const)
    if (!URL.canParse(connection[name]))
      throw new ExpectedError(
        'connection-string',
        `The ${name.replace(/^./, (letter) => letter.toUpperCase())} of this connection string has no valid host.`,
      );
  return connection;
}

/** @throws ExpectedError `connection-string` in words that repeat none of it, `sign-in` */
export async function probeConnection(text: string, context: TargetContext): Promise<ServiceProbe> {
  const connection = serviceConnection(text);
  const { probeService } = await import(
    /* webpackChunkName: "run" */ './service/probeService.js'
  );
  return probeService(connection, context);
}
