/** Which requests come from programs on this machine. */
import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../base/loopbackHost';

export interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const wrongHost: Refusal = {
  status: 403,
  text: 'This server is for programs on this machine: the Host of a request has to be localhost, 127.0.0.1 or [::1].',
};
const wrongOrigin: Refusal = {
  status: 403,
  text: 'This server is for programs on this machine: pages of other origins may not use it.',
};

/**
 * What speaks against a request to a server on loopback. A page of any origin can reach such a server, and
 * a name of a page's own can be made to lead here; both show in these two headers, which a page cannot
 * choose (Fetch, "Forbidden request-header").
 * @param publicHost name of a tunnel that leads here
 */
export function refusalOf(
  { headers: { host, origin } }: Pick<IncomingMessage, 'headers'>,
  publicHost?: string,
): Refusal | undefined {
  if (!isOwnHost(host, publicHost)) return wrongHost;
  return origin === undefined || isOwnOrigin(origin) ? undefined : wrongOrigin;
}

function isOwnHost(host: string | undefined, publicHost: string | undefined): boolean {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`))
    return false;
  const url = new URL(`http://${host}`);
  return isOwnName(url.hostname) || url.hostname === publicHost;
}

/** `null`, of a page whose origin is kept secret, is none. */
export function isOwnOrigin(origin: string): boolean {
  if (!/^https?:\/\/[\w.:[\]-]+$/i.test(origin) || !URL.canParse(origin)) return false;
  return isOwnName(new URL(origin).hostname);
}

/** A name may end with the dot of the root. */
const isOwnName = (hostname: string): boolean => isLoopbackHost(hostname.replace(/\.$/, ''));
