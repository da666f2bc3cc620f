import { ExpectedError } from '../../base/expectedError';
import { unreachableUpstream } from '../../scenario/check/checkTarget';
import type { ServiceConnection } from '../../scenario/target/connectionString';
import { resolveReferences } from '../../scenario/target/references';
import type { Scenario, UpstreamSpec } from '../../scenario/scenario';
import { hostsBeyond } from '../../wire/socket/isLoopback';
import { RestCalls, type ServiceFailure } from '../../wire/rest/restCalls';
import { followPasses, upstreamVariable, type OpenTarget, type TargetContext } from '../target';
import { disposeAll, startServerProcess } from '../serverProcess';

/**
 * Refuses a handler that a service elsewhere could never reach. The text of a reference is not known when the file is read.
 * @throws ExpectedError `upstream`
 */
export function refuseUnreachable(
  { clientEndpoint, serverEndpoint }: ServiceConnection,
  upstream: UpstreamSpec,
): void {
  if (hostsBeyond([clientEndpoint, serverEndpoint]).length === 0) return;
  const message = unreachableUpstream(upstream);
  if (message !== undefined) throw new ExpectedError('upstream', message);
}

/**
 * Hosts the application's side of a service for the time of a run: clients' messages come to it as HTTP requests.
 * An emulator on this machine learns where the handler is; for a service of Azure the user has configured
 * `upstream.publicUrl` there, which leads to the handler's port.
 * @throws ExpectedError when the handler cannot start, or the emulator does not take it
 */
export async function withUpstream(
  opened: OpenTarget,
  scenario: Scenario,
  context: TargetContext,
): Promise<OpenTarget> {
  const { endpoint } = opened;
  const { service } = endpoint;
  if (service === undefined) throw new Error('an upstream handler needs a service');
  const publicHost = publicHostOf(scenario.upstream, context);
  const handler = await startServerProcess(
    context.serverScript,
    {
      args: ['upstream', '--port', String(scenario.upstream?.port ?? 0)],
      name: 'upstream handler',
      prints: 'url',
    },
    {
      env: { [upstreamVariable]: JSON.stringify({ endpoint, service, publicHost }) },
      onProblem: context.onProblem,
    },
  );
  followPasses(opened.passes, handler.send);
  let isRegistered = false;
  const dispose = async (): Promise<void> => {
    try {
      // A handler that is gone would make the emulator refuse the clients of later runs.
      if (isRegistered) await callEmulator(opened, (calls) => calls.unregisterHandler());
    } finally {
      await disposeAll(opened, handler);
    }
  };
  try {
    if (opened.hostsBeyond.length === 0) {
      await register(opened, handler.value);
      isRegistered = true;
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { ...opened, ...(opened.passes !== undefined && { notice: unchecked }), dispose };
}

/** The name under which a service elsewhere reaches the handler; its requests bear it. */
function publicHostOf(
  upstream: UpstreamSpec | undefined,
  context: TargetContext,
): string | undefined {
  const publicUrl = upstream?.publicUrl;
  if (publicUrl === undefined) return undefined;
  const { text } = resolveReferences(publicUrl, (kind, name) => context.reference(kind, name));
  return URL.canParse(text) ? new URL(text).hostname : undefined;
}

/** Who only signs in does not know the key that the service signs events with. */
const unchecked =
  'After a sign-in the upstream handler cannot check the signatures of events, which need an access key: whoever knows its public URL can make it send. Keep the URL secret, and close the tunnel after the run.';

async function register(opened: OpenTarget, url: string): Promise<void> {
  const failure = await callEmulator(opened, (calls) => calls.registerHandler(url));
  if (failure === undefined) return;
  throw new ExpectedError(
    'upstream',
    `The service on this machine does not take the upstream handler at ${url}: ${failure.text}.`,
  );
}

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
