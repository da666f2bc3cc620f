import type { Endpoint, ServiceHub, ServicePass } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { services, type AzureService } from '../../base/services';
import { withoutEnd } from '../../base/text';
import { hostsVariable, signInRefusal } from '../../scenario/check/checkTarget';
import type { Scenario } from '../../scenario/scenario';
import type { ServiceConnection } from '../../scenario/target/connectionString';
import { hostsBeyond, isLoopback } from '../../wire/socket/isLoopback';
import { resolveEndpoint, secretsOf } from '../resolveEndpoint';
import { openSignIn, type SignInPurpose } from '../entra/signIn';
import type { OpenTarget, TargetContext } from '../target';

/** Which hub, and what for. */
interface ServiceEntrance {
  readonly kind: AzureService;
  /** Of the hub below the clients' endpoint. */
  readonly path: string;
  readonly purpose: SignInPurpose;
}

/** A URL that more is to be written behind, without a user name or password. */
function placeOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + withoutEnd(pathname, '/');
}

/**
 * Everything that targets on a service have in common: endpoint, key or sign-in, and what must not be shown.
 * @throws ExpectedError when the endpoint cannot be resolved; `not-confirmed`; `sign-in` when nobody can be signed in or the
 *   service does not let in who is; `connection-string` when the host must not see a sign-in
 */
export async function enterService(
  { kind, path, purpose }: ServiceEntrance,
  { clientEndpoint, serverEndpoint, audience, accessKey, signIn }: ServiceConnection,
  scenario: Scenario,
  context: TargetContext,
): Promise<{
  /** With the URL of the clients' hub, without the service. */
  readonly resolved: Endpoint;
  readonly hub: ServiceHub;
  readonly pass: ServicePass;
  readonly opened: Omit<OpenTarget, 'endpoint'>;
}> {
  const clients = placeOf(clientEndpoint);
  const resolved = await resolveEndpoint([`${clients}${path}`], scenario, context);
  const hubName = services[kind].hubName(scenario.hub);
  const hub = { kind, hub: hubName, audience, restUrl: placeOf(serverEndpoint) };
  const secrets = secretsOf(resolved);
  const url = `${clients} (hub ${scenario.hub})`;
  const hosts = hostsBeyond([clientEndpoint, serverEndpoint]);
  // Whoever signs in, or starts app servers, already reaches the service.
  const agreed = hosts.length > 0 && (await context.agree?.({ hosts, url, redirected: false }));
  if (hosts.length > 0 && agreed === false)
    throw new ExpectedError('not-confirmed', 'Not confirmed; nothing was started.');
  const opened = {
    kind: 'connectionString',
    secrets,
    url,
    hostsBeyond: hosts,
    agreed: agreed === true,
    // No service of Azure has this machine for its own address; a tunnel to one leaves `Endpoint` as it is.
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
  checkSignInHosts([serverEndpoint], scenario, context.reference('env', hostsVariable));
  const passes = await openSignIn(signIn, { hub, endpoint: resolved, purpose }, context, secrets);
  const dispose = async (): Promise<void> => passes.dispose();
  return { resolved, hub, pass: passes.current, opened: { ...opened, passes, dispose } };
}

/**
 * A hub that clients reach with tokens of their own making.
 * @param purpose what an identity has to be allowed, when somebody signs in
 * @throws ExpectedError as {@link enterService}
 */
export async function serviceTarget(
  kind: AzureService,
  connection: ServiceConnection,
  path: string,
  scenario: Scenario,
  context: TargetContext,
  purpose: SignInPurpose = 'rest',
): Promise<OpenTarget> {
  const entrance = { kind, path, purpose } as const;
  const entered = await enterService(entrance, connection, scenario, context);
  const { resolved, hub, pass, opened } = entered;
  const endpoint = {
    ...resolved,
    service: { ...hub, ...pass },
    ...(!services[kind].negotiates && { skipNegotiation: true }),
  };
  return { ...opened, endpoint };
}

/**
 * Refuses to show a token of Microsoft Entra ID to a stranger, who might act for the person: the host comes from a file.
 * @param allowed further hosts, from {@link hostsVariable}
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
