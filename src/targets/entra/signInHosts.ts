import { ExpectedError } from '../../base/expectedError';
import type { Scenario } from '../../scenario/scenario';
import { serviceOfHost } from '../../scenario/serviceOfHost';
import { isLoopback } from '../../wire/isLoopback';

/** Variable of the environment with further hosts that tokens may go to, separated by commas. */
export const hostsVariable = 'SIGNALR_BENCH_SIGN_IN_HOSTS';

/**
 * Refuses to show a token of Microsoft Entra ID to a stranger: whoever has it may act for the person who has
 * signed in, and the host comes from a file.
 *
 * @param urls where the token would go
 * @param trust what the scenario says of certificates
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
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'https:') {
      throw new ExpectedError(
        'connection-string',
        'AuthType needs an Endpoint with https: a token of Microsoft Entra ID must not be read on the way.',
      );
    }
    if (trust.insecureTls || trust.caFile !== undefined) {
      throw new ExpectedError(
        'connection-string',
        `AuthType does not go with ${trust.insecureTls ? 'insecureTls' : 'caFile'}: whoever stands in between could take the token of Microsoft Entra ID. Name a certificate authority of your own in the environment variable NODE_EXTRA_CA_CERTS.`,
      );
    }
    if (serviceOfHost(hostname) !== undefined || known.includes(hostname.toLowerCase())) continue;
    throw new ExpectedError(
      'connection-string',
      `${hostname} is no host of Azure SignalR Service or Azure Web PubSub, so the sign-in is not shown to it. If it is a gateway or a domain of yours, name it in the environment variable ${hostsVariable}.`,
    );
  }
}
