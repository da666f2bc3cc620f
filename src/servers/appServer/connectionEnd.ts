/** Why a server connection is no more, as far as it is known. */
export interface ConnectionEnd {
  /** HTTP status that refused the WebSocket. */
  readonly status?: number;
  /** Pause that the service asked for with it. */
  readonly retryAfterMs?: number | undefined;
  /** What the service answered to the handshake. */
  readonly refusal?: string;
  /** Of the network, or of us. */
  readonly reason?: string;
  /** What on the way may be to blame: the proxy that has refused, or whoever swallows what is sent. */
  readonly blocker?: 'proxy' | 'silence';
}

/** What a person reads about the end of a connection. */
export function endText({ status, refusal, reason }: ConnectionEnd): string {
  if (status !== undefined) return `the service answered with HTTP status ${status}`;
  return refusal === undefined ? (reason ?? 'no reason is known') : `the service said "${refusal}"`;
}

const assignRole =
  'Assign the role SignalR App Server to the identity; that may take up to 30 minutes to have effect.';

/** What a person can do about a connection that could not be opened. */
export function endAdvice({ status, blocker }: ConnectionEnd, signedIn: boolean): string {
  if (blocker === 'proxy')
    return 'Check the proxy that HTTPS_PROXY or HTTP_PROXY names, or list the host of the service in NO_PROXY.';
  if (blocker === 'silence')
    return 'A firewall or a proxy on the way may be dropping what goes there: let WebSockets to this host through, or name the proxy in HTTPS_PROXY, and check the endpoint.';
  switch (status) {
    case 401:
      return signedIn ? assignRole : 'Check the access key, and the clock of this machine.';
    case 403:
      return signedIn
        ? assignRole
        : 'Where the resource is in Serverless mode, set its service mode to Default; where its access keys are disabled, enable them or sign in with AuthType=azure; where its network access rules keep this machine out, allow server connections from here.';
    case 404:
      return 'Check the endpoint and the name of the hub.';
    case 429:
      return 'All connections that this size allows are in use; server connections count too.';
    default:
      return 'Check the endpoint, and that the service is in its default mode.';
  }
}
