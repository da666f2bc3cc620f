import type { IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../../base/endpoint';

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
 * Refuses requests that a web page made a browser send, directly or by DNS rebinding: a page cannot choose these
 * two headers (Fetch, "Forbidden request-header").
 * @param publicHost host name of a tunnel that leads here
 */
export function foreignRequestRefusal(
  { headers: { host, origin } }: Pick<IncomingMessage, 'headers'>,
  publicHost?: string,
): Refusal | undefined {
  if (!isAllowedHost(host, publicHost)) return wrongHost;
  return origin === undefined || isLoopbackOrigin(origin) ? undefined : wrongOrigin;
}

function isAllowedHost(host: string | undefined, publicHost: string | undefined): boolean {
  if (host === undefined || !/^[\w.:[\]-]+$/.test(host) || !URL.canParse(`http://${host}`))
    return false;
  const url = new URL(`http://${host}`);
  return isLoopbackName(url.hostname) || url.hostname === publicHost;
}

/** An opaque origin, `null`, is foreign. */
export function isLoopbackOrigin(origin: string): boolean {
  if (!/^https?:\/\/[\w.:[\]-]+$/i.test(origin) || !URL.canParse(origin)) return false;
  return isLoopbackName(new URL(origin).hostname);
}

const isLoopbackName = (hostname: string): boolean => isLoopbackHost(hostname.replace(/\.$/, ''));
