import { isThisMachine } from '../../base/loopbackHost';

export const isLoopback = (url: string): boolean => isThisMachine(new URL(url).hostname);

/** Names and ports in URLs that are not this machine, each once. */
export const hostsBeyond = (urls: readonly string[]): string[] => [
  ...new Set(urls.filter((url) => !isLoopback(url)).map((url) => new URL(url).host)),
];
