import { connectionLimit, type ServiceSize } from '../../base/serviceLimits';
import { formatCount } from '../../base/units';

/** Code of the problem that clients fit a size and server connections do not. */
export const serverConnectionsCode = 'server-connections';

/**
 * Says that clients fit a size, but not with the server connections beside them; undefined where both fit, and
 * where the clients alone are too many.
 *
 * @param place the size as it stands in a sentence: `Unit 1`, `the Free tier`
 */
export function serverConnectionsProblem(
  clients: number,
  servers: number,
  size: ServiceSize | undefined,
  place: string,
): string | undefined {
  const limit = connectionLimit(size);
  if (clients > limit || clients + servers <= limit) return undefined;
  return `${formatCount(clients)} clients and ${formatCount(servers)} server connection${servers === 1 ? '' : 's'} are more than the ${formatCount(limit)} connections of ${place}: server connections count too.`;
}
