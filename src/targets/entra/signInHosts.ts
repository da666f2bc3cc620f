import { ExpectedError } from '../../base/expectedError';
import { signInRefusal } from '../../scenario/check/checkTarget';
import type { Scenario } from '../../scenario/scenario';
import { isLoopback } from '../../wire/socket/isLoopback';

export { hostsVariable } from '../../scenario/check/checkTarget';

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
    const { href, hostname } = new URL(url);
    const refusal = signInRefusal(href, trust);
    if (refusal === undefined) continue;
    if (refusal.why === 'host' && known.includes(hostname.toLowerCase())) continue;
    throw new ExpectedError('connection-string', refusal.message);
  }
}
