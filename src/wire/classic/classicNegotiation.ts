/**
 * Negotiate of ASP.NET SignalR. Source: the clients of SignalR/SignalR, `NegotiationResponse`, `UrlBuilder` and
 * `Connection.Negotiate`.
 */
import type { Endpoint } from '../../base/endpoint';
import { shownText } from '../connectFailure';
import {
  negotiationFailure,
  redirectedHub,
  type Negotiation,
  type NegotiationProtocol,
} from '../http/negotiationRequest';
import { parseObject, type JsonObject } from '../message/jsonScan';

export interface ClassicTerms {
  readonly connectionToken: string;
  /** Silence after which a client reconnects; absent where the server sends no keep-alives. */
  readonly silenceMs?: number;
  /** How long a lost client may reconnect. */
  readonly disconnectMs: number;
  /** For the first message over a transport; 0 for no limit. */
  readonly transportConnectMs: number;
  /** How long a server holds a poll. */
  readonly pollMs: number;
}

/** The newest one of the official clients; servers answer with the newest that both know. */
const clientProtocol = '2.1';
const oldest = 1.4;
const newest = 2.1;
/** First protocol version with redirects. */
const redirectsSince = 2;

/** It holds an id and a user name, encrypted. */
const longestToken = 8192;

const connectionData = (hub: string): string => JSON.stringify([{ Name: hub }]);

export function requestUrl(server: URL, command: string, hub: string): URL {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${command}`;
  url.searchParams.set('clientProtocol', clientProtocol);
  url.searchParams.set('connectionData', connectionData(hub));
  return url;
}

export const classicNegotiation = (hub: string): NegotiationProtocol<ClassicTerms> => ({
  method: 'GET',
  urlOf: (server) => requestUrl(server, 'negotiate', hub),
  read: readClassicNegotiation,
});

/** @throws ConnectFailure when the response is unusable, or refuses */
export function readClassicNegotiation(
  body: string,
  endpoint: Endpoint,
  server: URL,
): Negotiation<ClassicTerms> {
  const fields = parseObject(body);
  if (fields === undefined)
    throw negotiationFailure(
      'the answer is not a JSON object; is this a server of ASP.NET SignalR?',
    );
  if ('availableTransports' in fields || 'negotiateVersion' in fields)
    throw negotiationFailure(
      'this is a hub of ASP.NET Core SignalR: remove connectionType: AspNet, and write the URL of the hub as the target',
    );
  const version = versionIn(fields);
  if (version >= redirectsSince) {
    const { Error: error, RedirectUrl: to, AccessToken: token } = fields;
    if (typeof error === 'string' && error !== '') throw negotiationFailure(shownText(error));
    if (typeof to === 'string' && to !== '') {
      const url = redirectedHub(endpoint, server, to);
      if (url.search === '') url.search = server.search;
      return { url, isFinal: false, ...(typeof token === 'string' && { accessToken: token }) };
    }
  }
  const { ConnectionId: id, ConnectionToken: connectionToken } = fields;
  if (typeof connectionToken !== 'string' || connectionToken === '')
    throw negotiationFailure('the answer has no ConnectionToken');
  if (connectionToken.length > longestToken)
    throw negotiationFailure(`the ConnectionToken is longer than ${longestToken} characters`);
  if (endpoint.transport === undefined && fields['TryWebSockets'] === false)
    throw negotiationFailure(
      'the server does not offer WebSockets: write transport: ServerSentEvents or LongPolling',
    );
  return {
    url: server,
    isFinal: true,
    ...(typeof id === 'string' && { connectionId: id }),
    terms: { connectionToken, ...timesIn(fields) },
  };
}

/** @throws ConnectFailure for a version that official clients refuse, too */
function versionIn({ ProtocolVersion: said }: JsonObject): number {
  const version = typeof said === 'string' && /^\d{1,3}\.\d{1,3}$/.test(said) ? Number(said) : NaN;
  if (version >= oldest && version <= newest) return version;
  const shown = typeof said === 'string' ? `protocol ${shownText(said)}` : 'no ProtocolVersion';
  throw negotiationFailure(
    `the server speaks ${shown}; clients of ASP.NET SignalR speak ${oldest} to ${newest}`,
  );
}

const longestSeconds = 24 * 3600;

function msOf(value: unknown, otherwise: number): number {
  const isUsable = typeof value === 'number' && value >= 0 && value <= longestSeconds;
  return 1000 * (isUsable ? value : otherwise);
}

/** Defaults of the servers where they leave a time out. */
function timesIn(fields: JsonObject): Omit<ClassicTerms, 'connectionToken'> {
  const { KeepAliveTimeout: silence } = fields;
  return {
    ...(typeof silence === 'number' && silence > 0 && { silenceMs: msOf(silence, 20) }),
    disconnectMs: msOf(fields['DisconnectTimeout'], 30),
    transportConnectMs: msOf(fields['TransportConnectTimeout'], 5),
    pollMs: msOf(fields['ConnectionTimeout'], 110),
  };
}

/** The official clients append it to the server's URL. */
const clientPath = 'signalr';

interface HubUnder {
  /** `http(s)://host/…/signalr`, with the query of the target. */
  readonly base: string;
  readonly hub: string;
}

/** Splits a target at its last `/` into server and hub name, as the Azure SignalR benchmark does. */
export function splitHubUrl(target: string): HubUnder {
  const url = new URL(target);
  const at = url.pathname.lastIndexOf('/');
  const hub = decodeURIComponent(url.pathname.slice(at + 1));
  url.pathname = `${url.pathname.slice(0, at)}/${clientPath}`;
  return { base: url.href, hub };
}
