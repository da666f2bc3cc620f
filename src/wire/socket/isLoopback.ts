import { isThisMachine } from '../../base/endpoint';
import { services, defaultService } from '../../base/serviceTraits';

export const isLoopback = (url: string): boolean => isThisMachine(new URL(url).hostname);

/** Whether load may go there: names of hosts, with or without a port, `*.` for all below a domain; this machine always. */
export function isAllowedHost(url: string, allowed: readonly string[]): boolean {
  const { hostname, port, protocol } = new URL(url);
  const usualPort = protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
  const names = [hostname, `${hostname}:${port || usualPort}`];
  const isIn = (each: string): boolean => each.startsWith('*.') && hostname.endsWith(each.slice(1));
  return isLoopback(url) || allowed.some((each) => names.includes(each) || isIn(each));
}

/**
 * Where hubs on hosts that somebody has agreed to may send their clients unasked: to each other, and to the service of
 * Azure behind them, of which there may be several. Those on this machine nowhere.
 */
export const redirectsOf = (agreed: readonly string[]): string[] =>
  agreed.length === 0
    ? []
    : [...agreed, ...services[defaultService].domains.map((domain) => `*.${domain}`)];

/** Names and ports in URLs that are not this machine, each once. */
export const hostsBeyond = (urls: readonly string[]): string[] => [
  ...new Set(urls.filter((url) => !isLoopback(url)).map((url) => new URL(url).host)),
];
