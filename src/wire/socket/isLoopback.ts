import { isIP } from 'node:net';

export function isLoopbackHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isIP(host) === 4
    ? host.startsWith('127.')
    : host === '::1' || /^::ffff:7f[0-9a-f]{2}:/.test(host);
}

export const isLoopback = (url: string): boolean => isLoopbackHost(new URL(url).hostname);

/** Names and ports in URLs that are not this machine, each once. */
export const hostsBeyond = (urls: readonly string[]): string[] => [
  ...new Set(urls.filter((url) => !isLoopback(url)).map((url) => new URL(url).host)),
];
