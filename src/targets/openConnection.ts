import { ExpectedError } from '../base/expectedError';
import {
  connectionStringProblem,
  readConnectionString,
  type ServiceConnection,
  isOneReference,
  looksLikeConnectionString,
} from '../scenario/target/connectionString';
import type { Scenario } from '../scenario/scenario';
import { resolveText } from './resolveEndpoint';
import type { OpenTarget, Target, TargetContext } from './target';
import type { AzureService } from '../base/services';
import type { ServiceProbe } from './service/probeService';
import { startLocalServer } from './serverProcess';

/** Azure SignalR Service or Azure Web PubSub, by connection string. */
export const connectionString: Target = {
  kind: 'connectionString',
  open: (scenario, context) => {
    const spec = scenario.target;
    if (spec?.kind !== 'connectionString') throw new Error('not a connection string target');
    return openConnection(resolveText(spec.value, context), scenario, context);
  },
};

/**
 * The hub of the scenario on a service.
 * @param text connection string without references
 * @throws ExpectedError `connection-string` in words that repeat none of it, and as the service's target
 */
export async function openConnection(
  text: string,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const connection = serviceConnection(text);
  // A bundle of its own: only runs against a service need what signs tokens.
  const { openService } = await import(/* webpackChunkName: "azure" */ './service/openService.js');
  return openService(connection, scenario, context);
}

/**
 * The parts of a connection string without references.
 * @throws ExpectedError `connection-string` in words that repeat none of it
 */
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

/**
 * Asks a service whether it can be reached and takes the key; undefined where the text is no connection string.
 * @param text connection string, or one reference that stands for it
 * @throws ExpectedError `missing-reference`, `connection-string` in words that repeat none of it, `sign-in`
 */
export async function probeConnection(
  text: string,
  context: TargetContext,
): Promise<ServiceProbe | undefined> {
  if (!looksLikeConnectionString(text) && !isOneReference(text)) return undefined;
  const resolved = resolveText(text, context);
  if (!looksLikeConnectionString(resolved)) return undefined;
  const connection = serviceConnection(resolved);
  const { probeService } = await import(
    /* webpackChunkName: "azure" */ './service/probeService.js'
  );
  return probeService(connection, context);
}

/** Asks the emulator of a service, started for it. @throws ExpectedError `local-hub` when it does not start */
export async function probeEmulator(
  service: AzureService,
  context: TargetContext,
): Promise<ServiceProbe> {
  const { value, dispose } = await startLocalServer(service, context.serverScript);
  try {
    const probe = await probeConnection(value, context);
    if (probe === undefined) throw new Error('an emulator without a connection string');
    return probe;
  } finally {
    await dispose();
  }
}
