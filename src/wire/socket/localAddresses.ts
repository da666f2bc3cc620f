import { createServer } from 'node:net';

/**
 * So many sockets get their ports from one address. Linux searches a quarter of its 28,000 ports first, every other one of
 * the lower half (`inet_csk_find_open_port`, for sockets with SO_REUSEADDR, which libuv sets), and takes long to find none.
 */
const socketsEach = 3000;
/** Up to so many need no further addresses. */
const mostFromOne = 16_000;

/**
 * Addresses of loopback that many sockets come from, as each has ports of its own; undefined where one is enough, where a
 * URL does not lead to `127.…`, and on systems that have no more of them.
 */
export function loopbackSources(
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

/** Those of the addresses that a socket of this machine cannot have, each with the code that says why. */
export async function foreignAddresses(addresses: readonly string[]): Promise<string[]> {
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
