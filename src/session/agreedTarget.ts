import type { Endpoint } from '../base/endpoint';
import type { LoadBeyond, OpenTarget } from '../targets/target';
import { behindOf } from '../scenario/target/targetKinds';

/**
 * The target as load may be put on it. Where it would leave this machine, by the URLs or because a hub
 * on this machine redirects, somebody has to agree; else no redirect to another machine is followed.
 *
 * @param agree settles with whether load on the hosts is wanted
 * @param redirects hosts beyond this machine that the hubs of an endpoint redirect to
 * @returns undefined when it is not
 */
export async function agreedTarget(
  target: OpenTarget,
  agree: (beyond: LoadBeyond) => Promise<boolean>,
  redirects: (endpoint: Endpoint) => Promise<readonly string[]>,
): Promise<OpenTarget | undefined> {
  const { endpoint, kind, hostsBeyond, url } = target;
  if (behindOf({ kind }) === 'ownServer' || target.agreed === true) return target;
  const redirected = hostsBeyond.length === 0;
  const hosts = redirected ? await redirects(endpoint) : hostsBeyond;
  if (hosts.length === 0) {
    return { ...target, endpoint: { ...endpoint, staysOnLoopback: true } };
  }
  return (await agree({ hosts, url, redirected })) ? target : undefined;
}
