/** Asks a service without a run whether it can be reached and lets us in. */
import { ExpectedError } from '../../base/expectedError';
import {
  azureServices,
  serviceOfHost,
  services,
  type AzureService,
} from '../../base/serviceTraits';
import type { ServiceConnection } from '../../scenario/target/connectionString';
import { parseScenario } from '../../scenario/parseScenario';
import type { Endpoint } from '../../base/endpoint';
import { RestCalls } from '../../wire/rest/restCalls';
import { serviceTarget } from './openService';
import type { OpenTarget, ServiceProbe, TargetContext } from '../target';

/**
 * Asks for the health of a service, which needs no key, then with a token for a group that nobody is in.
 * @throws ExpectedError as {@link serviceTarget}
 */
export async function probeService(
  connection: ServiceConnection,
  context: TargetContext,
): Promise<ServiceProbe> {
  const opened = await openAny(connection, context);
  try {
    return await probeOf(opened.endpoint);
  } finally {
    await opened.dispose();
  }
}

/** The host of an emulator or a gateway does not show which service it is, which matters to a sign-in. */
async function openAny(connection: ServiceConnection, context: TargetContext): Promise<OpenTarget> {
  const { scenario } = parseScenario('mode: simple\n');
  const open = (kind: AzureService): Promise<OpenTarget> => {
    const purpose = services[kind].lendsKey ? 'appServer' : 'rest';
    return serviceTarget([kind, '/', purpose], connection, scenario!, context);
  };
  const known = serviceOfHost(new URL(connection.audience).hostname);
  if (known !== undefined) return open(known);
  const [first, other] = azureServices;
  try {
    return await open(first);
  } catch (error) {
    if (error instanceof ExpectedError && error.code === 'service') return open(other);
    throw error;
  }
}

/** What a status means to whoever comes with an access key. The service mode does not matter to REST calls. */
const refusals: Readonly<Partial<Record<number, string>>> = {
  401: 'it answers, but refuses the access key: wrong or changed, of another resource, or the clock of this machine is wrong',
  403: 'it answers, but with 403: its access keys are disabled (enable them, or sign in with AuthType=azure), or its network access rules keep this machine out (allow REST calls and connections from here)',
};

async function probeOf(endpoint: Endpoint): Promise<ServiceProbe> {
  const service = endpoint.service!;
  const url = service.restUrl;
  const calls = new RestCalls(endpoint, service);
  const startedMs = performance.now();
  try {
    const unhealthy = await calls.health();
    const connectMs = performance.now() - startedMs;
    if (unhealthy?.errorClass === 'notFound') {
      const names = azureServices.map((each) => services[each].name).join(' or ');
      const message = `it answers, but not as ${names}`;
      return { url, reachable: false, errorClass: 'notFound', message };
    }
    const signedIn = 'bearer' in service;
    const failure = unhealthy ?? (await calls.groupExists('signalr-bench-doctor'));
    if (failure === undefined || failure.errorClass === 'notFound')
      return { url, reachable: true, signedIn, connectMs };
    if (unhealthy === undefined && signedIn && failure.errorClass === 'unauthorized') {
      const missingRestRole = services[service.kind].identityRoles.rest;
      return { url, reachable: true, signedIn, connectMs, missingRestRole };
    }
    const { errorClass, text, status } = failure;
    const message = (status === undefined ? undefined : refusals[status]) ?? text;
    return { url, reachable: false, errorClass, message };
  } finally {
    calls.close();
  }
}
