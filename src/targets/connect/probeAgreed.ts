import type { Endpoint } from '../../base/endpoint';
import type { HubProbe } from '../../wire/connect/probeHub';
import type { OpenTarget } from '../target';

/**
 * Asks a hub what it has. Where a hub on this machine redirects to another one, somebody has to agree before
 * anything is sent there.
 *
 * @param agree settles with whether that host may be asked; absent when nobody needs to be asked
 * @returns undefined when it may not
 */
export async function probeAgreed(
  { endpoint, hostsBeyond }: Pick<OpenTarget, 'endpoint' | 'hostsBeyond'>,
  probe: (endpoint: Endpoint) => Promise<HubProbe>,
  agree: ((host: string) => Promise<boolean>) | undefined,
): Promise<HubProbe | undefined> {
  if (agree === undefined || hostsBeyond.length > 0) return probe(endpoint);
  const found = await probe({ ...endpoint, staysOnLoopback: true });
  if (found.reachable || found.redirectsTo === undefined) return found;
  return (await agree(found.redirectsTo)) ? probe(endpoint) : undefined;
}
