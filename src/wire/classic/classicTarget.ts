/** Where clients of ASP.NET SignalR connect to, by the URL that a scenario has. */

/** What the official clients put behind the URL that they are given. */
const clientPath = 'signalr';

interface HubUnder {
  /** `http(s)://host/…/signalr`, with the query of the target. */
  readonly base: string;
  /** Name of the hub; empty where the target names none. */
  readonly hub: string;
}

/**
 * Splits a target at its last `/` into the URL of the server and the name of the hub, as the Azure SignalR
 * benchmark does.
 */
export function hubUnder(target: string): HubUnder {
  const url = new URL(target);
  const at = url.pathname.lastIndexOf('/');
  const hub = decodeURIComponent(url.pathname.slice(at + 1));
  url.pathname = `${url.pathname.slice(0, at)}/${clientPath}`;
  return { base: url.href, hub };
}
