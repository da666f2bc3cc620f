/** Opens Azure services with a key or a sign-in, and starts the app servers or the handler that a run needs. */
import type { Endpoint, ServiceHub, ServicePass } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import {
  type AzureService,
  azureServiceOf,
  azureServices,
  findServiceByHost,
  services,
} from '../../base/serviceTraits';
import { trimEndCharacters } from '../../base/text';
import {
  signInHostsVariable,
  signInRefusal,
  upstreamProblem,
} from '../../scenario/check/checkTarget';
import type { Scenario } from '../../scenario/scenario';
import type { ServiceConnection } from '../../scenario/target/targetKinds';
import { isServerless } from '../../scenario/check/checkService';
import type { AppServerOptions } from '../../servers/appServer/appServer';
import { findUseCase } from '../../usecases/registry';
import { needsApplication } from '../../usecases/useCase';
import { remoteHosts, isLoopback } from '../../wire/socket/hosts';
import { openSignIn, type SignInPurpose } from '../entra/signIn';
import { assertHostsAllowed, resolveEndpoint, endpointSecrets } from '../resolveEndpoint';
import { disposeAll, startServerProcess } from '../serverProcess';
import { environmentSetting, signInUrls } from '../target';
import { followPasses, type OpenTarget, type ServiceProbe, type TargetContext } from '../target';
import { resolveReferences } from '../../scenario/target/references';
import { RestCalls, type ServiceFailure } from '../../wire/rest/restCalls';
import { parseScenario } from '../../scenario/parseScenario';

/** @throws ExpectedError `service` when the connection string is of the other service */
export async function openService(
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const { service } = scenario;
  const other = findServiceByHost(new URL(connection.audience).hostname);
  if (other !== undefined && other !== service)
    throw new ExpectedError(
      'service',
      `The connection string belongs to the other service: write \`service: ${other}\` into the scenario, since the text of a reference is not known when the file is read.`,
    );
  return services[service].appServers === 'none' || isServerless(scenario)
    ? openByTokens(connection, scenario, context)
    : openDefaultMode(connection, scenario, context);
}

/** Without app servers. Our handler receives what clients send, where the scenario says so or an emulator has to echo. */
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
  const { clientEndpoint, serverEndpoint } = connection;
  if (needsUpstream && isOurs && remoteHosts([clientEndpoint, serverEndpoint]).length > 0) {
    // The service cannot reach this machine. Only now the reference is resolved.
    const message = upstreamProblem(scenario.upstream);
    if (message !== undefined) throw new ExpectedError('upstream', message);
  }
  const opened = await serviceTarget([kind, path, 'rest'], connection, scenario, context);
  const starts = needsUpstream && (isOurs || opened.hostsBeyond.length === 0);
  return starts ? withUpstream(opened, scenario, context) : opened;
}

/** Clients negotiate with app servers of the run. @throws ExpectedError as {@link enterService}, `local-hub` */
async function openDefaultMode(
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const { clientEndpoint, serverEndpoint, audience } = connection;
  const entrance: Entrance = [azureServiceOf(scenario.service), '/', 'appServer'];
  const { resolved, pass, opened } = await enterService(entrance, connection, scenario, context);
  const { ca, clientCertificate, proxies, insecureTls } = resolved;
  const settings = {
    service: { clientEndpoint, serverEndpoint, audience, ...pass },
    hub: scenario.hub,
    serverConnections: scenario.serverConnections,
    stickyMode: scenario.serverStickyMode,
    protocols: [scenario.protocol],
    ...{ ca, clientCertificate, proxies, insecureTls },
  };
  try {
    const servers = await startAppServers(context, settings, scenario.appServers);
    followPasses(opened.passes, servers.renew);
    return {
      ...opened,
      endpoint: { ...resolved, urls: servers.urls, skipNegotiation: false },
      dispose: () => disposeAll(servers, opened),
    };
  } catch (error) {
    await opened.dispose();
    throw error;
  }
}

export type AppServerSettings = Omit<AppServerOptions, 'onProblem' | 'port'>;

const served = { args: ['app-server'], name: 'app server', prints: 'url' } as const;

/** @throws ExpectedError `local-hub`; none is left running */
async function startAppServers(
  { serverScript, onProblem }: TargetContext,
  settings: AppServerSettings,
  count: number,
) {
  const starting = Array.from({ length: count }, () =>
    startServerProcess(serverScript, served, { settings, onProblem }),
  );
  const outcomes = await Promise.allSettled(starting);
  const running = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const dispose = async (): Promise<void> => {
    await Promise.all(running.map((each) => each.dispose()));
  };
  const failed = outcomes.find((each) => each.status === 'rejected');
  if (failed !== undefined) {
    await dispose();
    throw failed.reason;
  }
  return {
    urls: running.map(({ value }) => value),
    renew: (pass: ServicePass) => {
      for (const each of running) each.send(pass);
    },
    dispose,
  };
}

type Entrance = readonly [kind: AzureService, path: string, purpose: SignInPurpose];

/** URL without user and password, and without a slash at its end. */
function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + trimEndCharacters(pathname, '/');
}

/**
 * Endpoint, key or sign-in, and secrets of any target on a service.
 * @throws ExpectedError also `sign-in`, and `connection-string` for a host that must not see a sign-in
 */
async function enterService(
  [kind, path, purpose]: Entrance,
  { clientEndpoint, serverEndpoint, audience, accessKey, signIn }: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<{
  readonly resolved: Endpoint;
  readonly hub: ServiceHub;
  readonly pass: ServicePass;
  readonly opened: Omit<OpenTarget, 'endpoint'>;
}> {
  assertHostsAllowed([clientEndpoint, serverEndpoint], context);
  const clients = placeOf(clientEndpoint);
  const resolved = await resolveEndpoint([`${clients}${path}`], scenario, context);
  const hubName = services[kind].hubName(scenario.hub);
  const hub = { kind, hub: hubName, audience, restUrl: placeOf(serverEndpoint) };
  const secrets = endpointSecrets(resolved, scenario);
  const url = `${clients} (hub ${scenario.hub})`;
  const hosts = remoteHosts([clientEndpoint, serverEndpoint]);
  const opened = {
    kind: 'connectionString',
    secrets,
    url,
    hostsBeyond: hosts,
    // Azure never has a loopback address; through a tunnel `Endpoint` stays as it is.
    ...(isLoopback(audience) && { emulated: true as const }),
  } as const;
  if (signIn === undefined) {
    const key = accessKey ?? '';
    secrets.push(key, encodeURIComponent(key));
    const dispose = (): Promise<void> => Promise.resolve();
    return { resolved, hub, pass: { accessKey: key }, opened: { ...opened, dispose } };
  }
  const { clientSecret } = signIn;
  if (clientSecret !== undefined) secrets.push(clientSecret, encodeURIComponent(clientSecret));
  if (context.noSignIn !== undefined) throw new ExpectedError('sign-in', context.noSignIn);
  assertHostsAllowed(signInUrls(signIn, context), context, true);
  checkSignInHosts([serverEndpoint], scenario, environmentSetting(context, signInHostsVariable));
  const passes = await openSignIn(signIn, { hub, endpoint: resolved, purpose }, context, secrets);
  const dispose = async (): Promise<void> => passes.dispose();
  return { resolved, hub, pass: passes.current, opened: { ...opened, passes, dispose } };
}

/** Clients make their own tokens. @throws ExpectedError as {@link enterService} */
async function serviceTarget(
  entrance: Entrance,
  connection: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const entered = await enterService(entrance, connection, scenario, context);
  const { resolved, hub, pass, opened } = entered;
  const endpoint = {
    ...resolved,
    service: { ...hub, ...pass },
    ...(!services[hub.kind].speaksHub && { skipNegotiation: true }),
  };
  return { ...opened, endpoint };
}

/**
 * A stranger with a token of Microsoft Entra ID could act for the person, and the host comes from a file.
 * @param allowed further hosts, from {@link signInHostsVariable}
 * @throws ExpectedError `connection-string`
 */
export function checkSignInHosts(
  urls: readonly string[],
  trust: Pick<Scenario, 'insecureTls' | 'caFile'>,
  allowed: string | undefined,
): void {
  const known = (allowed ?? '').split(',').map((host) => host.trim().toLowerCase());
  for (const url of urls) {
    if (isLoopback(url)) continue;
    const { href, hostname } = new URL(url);
    const refusal = signInRefusal(href, trust);
    if (refusal === undefined) continue;
    if (refusal.why === 'host' && known.includes(hostname.toLowerCase())) continue;
    throw new ExpectedError('connection-string', refusal.message);
  }
}

/**
 * Starts a handler for the events of a service. An emulator on this machine is told its address; in Azure the user has
 * configured `upstream.publicUrl`.
 * @throws ExpectedError when it cannot start, or is refused
 */
async function withUpstream(
  opened: OpenTarget,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const { endpoint } = opened;
  const { service } = endpoint;
  if (service === undefined) throw new Error('an upstream handler needs a service');
  const publicHost = publicHostOf(scenario, context);
  const handler = await startServerProcess(
    context.serverScript,
    {
      args: ['upstream', '--port', String(scenario.upstream?.port ?? 0)],
      name: 'upstream handler',
      prints: 'url',
    },
    {
      settings: { endpoint, service, publicHost },
      onProblem: context.onProblem,
    },
  );
  followPasses(opened.passes, handler.send);
  let isRegistered = false;
  const dispose = async (): Promise<void> => {
    try {
      // Without its handler the emulator would refuse clients of later runs.
      if (isRegistered) await callEmulator(opened, (calls) => calls.unregisterHandler());
    } finally {
      await disposeAll(opened, handler);
    }
  };
  try {
    if (opened.hostsBeyond.length === 0) {
      const url = handler.value;
      const failure = await callEmulator(opened, (calls) => calls.registerHandler(url));
      if (failure !== undefined)
        throw new ExpectedError(
          'upstream',
          `The service on this machine does not take the upstream handler at ${url}: ${failure.text}.`,
        );
      isRegistered = true;
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { ...opened, notice: opened.passes && unchecked, dispose };
}

function publicHostOf({ upstream }: Scenario, context: TargetContext): string | undefined {
  const publicUrl = upstream?.publicUrl;
  if (publicUrl === undefined) return undefined;
  const { text } = resolveReferences(publicUrl, (kind, name) => context.reference(kind, name));
  return URL.canParse(text) ? new URL(text).hostname : undefined;
}

/** A sign-in does not include the key that signs events. */
const unchecked =
  'After a sign-in the upstream handler cannot check the signatures of events, which need an access key: whoever knows its public URL can make it send. Keep the URL secret, and close the tunnel after the run.';

async function callEmulator(
  { endpoint }: OpenTarget,
  call: (calls: RestCalls) => Promise<ServiceFailure | undefined>,
): Promise<ServiceFailure | undefined> {
  const calls = new RestCalls(endpoint, endpoint.service!);
  try {
    return await call(calls);
  } finally {
    calls.close();
  }
}

/** Asks for the health of a service, then with a token for an empty group. @throws ExpectedError as {@link serviceTarget} */
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

/** Emulators and gateways do not show their service, which a sign-in needs. */
async function openAny(connection: ServiceConnection, context: TargetContext): Promise<OpenTarget> {
  const { scenario } = parseScenario('mode: simple\n');
  const open = (kind: AzureService): Promise<OpenTarget> => {
    const purpose = services[kind].lendsKey ? 'appServer' : 'rest';
    return serviceTarget([kind, '/', purpose], connection, scenario!, context);
  };
  const known = findServiceByHost(new URL(connection.audience).hostname);
  if (known !== undefined) return open(known);
  const [first, other] = azureServices;
  try {
    return await open(first);
  } catch (error) {
    if (error instanceof ExpectedError && error.code === 'service') return open(other);
    throw error;
  }
}

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
