/** All kinds of targets: how to open them for a run, and to probe them without one. */
import { request } from 'node:http';
import { ExpectedError } from '../base/expectedError';
import type { Scenario } from '../scenario/scenario';
import { isAzure, azureServiceOf } from '../base/serviceTraits';
import { emulatorHeader } from '../base/endpoint';
import {
  isSingleReference,
  looksLikeConnectionString,
  connectionStringProblem,
  readConnectionString,
  type ServiceConnection,
} from '../scenario/target/targetKinds';
import { serviceEndpointProblem } from '../scenario/target/hubUrl';
import { shownUrl } from '../wire/connectFailure';
import { remoteHosts, isLoopback } from '../wire/socket/hosts';
import { TargetProblems, type OpenTarget, type ServiceProbe, type TargetContext } from './target';
import { requiredColumns } from './identities/rowColumns';
import {
  identityRequestOf,
  resolveEndpoint,
  endpointSecrets,
  resolveText,
} from './resolveEndpoint';
import { disposeAll, startLocalServer } from './serverProcess';

type Opens = (scenario: Scenario, context: TargetContext) => Promise<OpenTarget>;

const openLocal: Opens = async (scenario, context) => {
  const { service, connectionType } = scenario;
  const { serverScript, onProblem } = context;
  const isClassic = connectionType === 'AspNet';
  const server = await startLocalServer(service, serverScript, onProblem, isClassic);
  const { value, dispose } = server;
  try {
    if (isAzure(service)) {
      const opened = await openConnection(value, scenario, context);
      const disposeBoth = (): Promise<void> => disposeAll(opened, server);
      return { ...opened, kind: 'local', emulated: true, dispose: disposeBoth };
    }
    const endpoint = await resolveEndpoint([value], scenario, context);
    const secrets = endpointSecrets(endpoint, scenario);
    const here = { kind: 'local', emulated: true, hostsBeyond: [] } as const;
    return { ...here, endpoint, secrets, url: value, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
};

async function openUrls(
  urls: readonly string[],
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const text = referredConnection(urls, context);
  if (text !== undefined) {
    const service = azureServiceOf(scenario.service);
    return openConnection(text, { ...scenario, service }, context);
  }
  const endpoint = await resolveEndpoint(urls, scenario, context);
  const problem = endpoint.urls.map(serviceEndpointProblem).find((each) => each !== undefined);
  if (problem !== undefined) throw new ExpectedError('target-url', problem);
  const embedded = await Promise.all(endpoint.urls.map(isEmbeddedHub));
  return {
    kind: 'hubUrl',
    emulated: embedded.every(Boolean) ? true : undefined,
    endpoint,
    secrets: endpointSecrets(endpoint, scenario),
    url: endpoint.urls.map(shownUrl).join(', '),
    hostsBeyond: remoteHosts(endpoint.urls),
    dispose: () => Promise.resolve(),
  };
}

/** A reference may stand for a connection string, without a key that says so. */
function referredConnection(urls: readonly string[], context: TargetContext): string | undefined {
  const [only = '', ...others] = urls;
  if (others.length > 0 || !isSingleReference(only)) return undefined;
  const text = resolveText(only, context);
  return looksLikeConnectionString(text) ? text : undefined;
}

const openByKind: Opens = async (scenario, context) => {
  const { target } = scenario;
  switch (target?.kind) {
    case undefined:
      throw new ExpectedError(
        'no-target',
        'The scenario names no target. Write `target: local` or the hub URL into the file, or use --target.',
      );
    case 'local':
      return openLocal(scenario, context);
    case 'hubUrl':
      return openUrls(target.urls, scenario, context);
    case 'connectionString':
      return openConnection(resolveText(target.value, context), scenario, context);
  }
};

/** @throws ExpectedError when it has none, or cannot be opened */
export async function openTarget(scenario: Scenario, context: TargetContext): Promise<OpenTarget> {
  const problems = new TargetProblems();
  const opened = await openByKind(scenario, { ...context, onProblem: problems.report });
  return { ...(await withCalls(opened, scenario, context)), problems };
}

async function withCalls(
  opened: OpenTarget,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  try {
    const call = identityRequestOf(scenario, context);
    if (call === undefined) return opened;
    if (call.url !== undefined) checkAskedUrl(call.url);
    const { identityCallerFor: make } = await import('./identities/openRows.js');
    const { endpoint } = opened;
    const needs = requiredColumns(scenario, endpoint.personal ?? { headers: {}, query: {} });
    const identityCalls = make(call, endpoint, needs, context);
    return {
      ...opened,
      identityCalls,
      dispose: async () => {
        identityCalls.dispose();
        await opened.dispose();
      },
    };
  } catch (error) {
    await opened.dispose();
    throw error;
  }
}

/** @throws ExpectedError `identities`; values of references are not shown */
function checkAskedUrl(url: string): void {
  if (URL.canParse(url) && /^https?:/i.test(url)) return;
  throw new ExpectedError(
    'identities',
    'With its references filled in, the url of identities is no whole URL of a token endpoint, such as https://….',
  );
}

/**
 * Whether a service can be reached and lets us in, without a run; undefined for hubs, which are asked otherwise.
 * @throws ExpectedError
 */
export async function probeTargetOf(
  { target, service }: Scenario,
  context: TargetContext,
): Promise<ServiceProbe | undefined> {
  switch (target?.kind) {
    case undefined:
      return undefined;
    case 'local': {
      if (!isAzure(service)) return undefined;
      const { value, dispose } = await startLocalServer(service, context.serverScript);
      try {
        return await probeConnection(value, context);
      } finally {
        await dispose();
      }
    }
    case 'hubUrl': {
      const text = referredConnection(target.urls, context);
      return text === undefined ? undefined : probeConnection(text, context);
    }
    case 'connectionString':
      return probeConnection(resolveText(target.value, context), context);
  }
}

/** This machine answers in a millisecond, and no answer must not delay a run. */
const timeoutMs = 1000;

/** Whether `serve hub` answers on this machine. Failures are left to the run. */
export function isEmbeddedHub(hubUrl: string): Promise<boolean> {
  const { protocol, origin } = new URL(hubUrl);
  if (protocol !== 'http:' || !isLoopback(hubUrl)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asked = request(`${origin}/`, { agent: false, timeout: timeoutMs }, (response) => {
      resolve(response.headers[emulatorHeader.toLowerCase()] !== undefined);
      response.destroy();
    });
    const no = (): void => {
      asked.destroy();
      resolve(false);
    };
    asked.once('timeout', no);
    asked.once('error', no);
    asked.once('upgrade', no);
    asked.end();
  });
}

/** @throws ExpectedError `connection-string`, without repeating any of it */
async function openConnection(
  text: string,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const connection = serviceConnection(text);
  // In a bundle of its own: only runs against a service sign tokens.
  const { openService } = await import(
    /* webpackChunkName: "sharedLater" */ './service/openService.js'
  );
  return openService(connection, scenario, context);
}

/** @throws ExpectedError `connection-string`, without repeating any of it */
export function serviceConnection(text: string): ServiceConnection {
  const problem = connectionStringProblem(text);
  if (problem !== undefined) throw new ExpectedError('connection-string', problem);
  const connection = readConnectionString(text);
  // The earlier check does not know which letters make a valid host.
  for (const name of ['endpoint', 'clientEndpoint', 'serverEndpoint'] as const)
    if (!URL.canParse(connection[name]))
      throw new ExpectedError(
        'connection-string',
        `The ${name.replace(/^./, (letter) => letter.toUpperCase())} of this connection string has no valid host.`,
      );
  return connection;
}

/** @throws ExpectedError `connection-string`, `sign-in` */
async function probeConnection(text: string, context: TargetContext): Promise<ServiceProbe> {
  const connection = serviceConnection(text);
  const { probeService } = await import(
    /* webpackChunkName: "sharedLater" */ './service/openService.js'
  );
  return probeService(connection, context);
}
