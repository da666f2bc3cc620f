import { isThisMachine } from '../../base/endpoint';
import { services, defaultService } from '../../base/serviceTraits';
import { createServer } from 'node:net';

export const isLoopback = (url: string): boolean => isThisMachine(new URL(url).hostname);

/** `allowed` are hosts, with or without a port, or `*.` and a domain; this machine is always allowed. */
export function isAllowedHost(url: string, allowed: readonly string[]): boolean {
  const { hostname, port, protocol } = new URL(url);
  const usualPort = protocol === 'https:' || protocol === 'wss:' ? '443' : '80';
  const names = [hostname, `${hostname}:${port || usualPort}`];
  const isIn = (each: string): boolean => each.startsWith('*.') && hostname.endsWith(each.slice(1));
  return isLoopback(url) || allowed.some((each) => names.includes(each) || isIn(each));
}

/** Hubs on agreed hosts may redirect to each other, and to Azure SignalR Service. Hubs on this machine may not. */
export const allowedRedirects = (agreed: readonly string[]): string[] =>
  agreed.length === 0
    ? []
    : [...agreed, ...services[defaultService].domains.map((domain) => `*.${domain}`)];

export const remoteHosts = (urls: readonly string[]): string[] => [
  ...new Set(urls.filter((url) => !isLoopback(url)).map((url) => new URL(url).host)),
];

/**
 * Sockets per source address. Linux searches a quarter of its 28,000 ports first, every other one of the lower half
 * (`inet_csk_find_open_port`, for sockets with SO_REUSEADDR, which libuv sets), and is slow when none is free.
 */
const socketsEach = 3000;
const mostFromOne = 16_000;

/**
 * Loopback addresses as sources of many sockets, since each has its own ports; undefined where one is enough, a URL
 * does not lead to `127.…`, or the system has no more of them.
 */
export function loopbackSourceAddresses(
  urls: readonly string[],
  sockets: number,
  platform: string = process.platform,
): string[] | undefined {
  if (platform !== 'linux' || sockets <= mostFromOne || urls.length === 0) return undefined;
  if (!urls.every((url) => /^\w+:\/\/127(?:\.\d{1,3}){3}(?:[:/?#]|$)/.test(url))) return undefined;
  return Array.from({ length: Math.ceil(sockets / socketsEach) }, (_, at) => {
    const last = at + 1;
    return `127.0.${Math.floor(last / 250)}.${(last % 250) + 1}`;
  });
}

export async function unusableAddresses(addresses: readonly string[]): Promise<string[]> {
  const whyNot = (host: string): Promise<string[]> =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', ({ code }: NodeJS.ErrnoException) =>
        resolve([`${host} (${code ?? 'refused'})`]),
      );
      server.listen({ host, port: 0, exclusive: true }, () => server.close(() => resolve([])));
    });
  return (await Promise.all(addresses.map(whyNot))).flat();
}
