import { isThisMachine } from '../../base/loopbackHost';

export const isLoopback = (url: string): boolean => isThisMachine(new URL(url).hostname);

/** Whether load may go there: names of hosts, with or without a port; this machine always. */
export function isAllowedHost(url: string, allowed: readonly string[]): boolean {
  const { hostname, port, protocol } = new URL(url);
  const usualPort = protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
  const names = [hostname, `${hostname}:${port || usualPort}`];
  return isLoopback(url) || allowed.some((each) => names.includes(each));
}

/** Names and ports in URLs that are not this machine, each once. */
export const hostsBeyond = (urls: readonly string[]): string[] => [
  ...new Set(urls.filter((url) => !isLoopback(url)).map((url) => new URL(url).host)),
];
