import type { Endpoint } from '../../base/endpoint';
import { HttpConnection } from '../http/httpConnection';
import {
  sendWholeRequest,
  maximumRedirects,
  negotiationFailure,
  redirectedHub,
  withQuery,
  type Credentials,
  type Negotiation,
  type NegotiationProtocol,
} from '../http/negotiationRequest';
import { classicCodec } from '../classic/classicCodec';
import { ClassicConnection } from '../classic/classicConnection';
import { classicNegotiation, type ClassicTerms, splitHubUrl } from '../classic/classicNegotiation';
import type { Attempt, ConnectionContext, HubConnection, Opening } from '../hub/clientConnection';
import type { WireProtocol } from '../../base/message';
import { type HubCodec, jsonCodec, messagePackCodec } from '../message/hubCodec';
import { parseObject, type JsonObject } from '../message/jsonScan';
import { ReliableConnection } from '../hub/reliableConnection';
import { WebSocketConnection } from '../hub/webSocketConnection';
import type { SocketAgents, ConnectStopwatch } from '../socket/socket';
import type { ClientTokens } from './accessTokens';
import { PersonalEndpoints, type ConnectionEndpoint } from './personalEndpoints';
import { StatusFailure, shownText } from '../connectFailure';
import type { Negotiated } from '../socket/upgrade';
import { Cookies } from '../socket/cookies';
import {
  plainWebPubSubCodec,
  protobufWebPubSubCodec,
  reliableProtobufWebPubSubCodec,
  reliableWebPubSubCodec,
  webPubSubCodec,
} from '../webpubsub/webPubSubCodec';

export interface ConnectContext extends ConnectionContext {
  readonly agents: SocketAgents;
  readonly targetOf?: (index: number) => number;
  readonly open?: OpenConnection;
  readonly tokens?: ClientTokens;
  readonly personal?: PersonalEndpoints;
}

export type OpenConnection = (url: string, opening: Opening) => Promise<HubConnection>;

/** Negotiates and connects without a pause, since servers soon forget connection ids. @throws ConnectFailure */
export async function connectHub(
  index: number,
  context: ConnectContext,
  signal: AbortSignal,
  stopwatch?: ConnectStopwatch,
): Promise<HubConnection> {
  try {
    return await opened(context, { index, signal, stopwatch });
  } catch (error) {
    if (error instanceof StatusFailure && error.request !== 'negotiate')
      error.hasNegotiated = !context.endpoint.skipNegotiation;
    throw error;
  }
}

async function opened(context: ConnectContext, attempt: Attempt): Promise<HubConnection> {
  const { index, signal, stopwatch } = attempt;
  const { agents, listener, options, tokens } = context;
  const personal = context.personal ?? new PersonalEndpoints(context.endpoint);
  const own = await personal.of(index);
  const endpoint =
    tokens === undefined
      ? own.endpoint
      : { ...own.endpoint, accessToken: await tokens.forClient(index, signal) };
  // An application would fetch the token when its client negotiates.
  if (tokens?.areIssued === true) stopwatch?.done('negotiate');
  const url = endpoint.urls[context.targetOf?.(index) ?? index % endpoint.urls.length];
  if (url === undefined) throw new Error('an endpoint needs a URL');
  const opening = { ...attempt, endpoint, listener, options };
  if (context.open !== undefined) return context.open(url, opening);
  const renewal =
    tokens === undefined && endpoint.accessToken !== undefined
      ? { renewAtMs: own.renewAtMs, again: () => personal.of(index) }
      : undefined;
  const address = hubAddress(endpoint, url);
  const negotiates = address.hub !== undefined || !endpoint.skipNegotiation;
  const { terms, ...where }: Admission = negotiates
    ? await negotiate(endpoint, address, agents, signal, renewal)
    : {
        url: withQuery(url, endpoint.query),
        headers: endpoint.headers,
        accessToken: endpoint.accessToken,
      };
  if (negotiates) stopwatch?.done('negotiate');
  const { hub } = address;
  if (hub !== undefined) {
    if (terms === undefined) throw new Error('a negotiation that has ended has its terms');
    const { codec = classicCodec(hub) } = options;
    const place = { where, terms, hub, agents };
    return ClassicConnection.open(place, { ...opening, options: { ...options, codec } });
  }
  const OverWebSocket =
    options.codec?.recovery !== undefined ? ReliableConnection : WebSocketConnection;
  const Transport = endpoint.transport === undefined ? OverWebSocket : HttpConnection;
  return Transport.open(where, opening);
}

type Admission = Negotiated & { readonly terms?: ClassicTerms };

interface HubAddress {
  readonly url: string;
  /** Name of a hub of ASP.NET SignalR, which always negotiates. */
  readonly hub?: string;
  readonly form?: NegotiationProtocol<ClassicTerms>;
}

export function hubAddress({ classic }: Endpoint, target: string): HubAddress {
  if (classic !== true) return { url: target };
  const { base, hub } = splitHubUrl(target);
  return { url: base, hub, form: classicNegotiation(hub) };
}

const renewalMs = 10_000;

interface OwnRenewal {
  readonly renewAtMs: number | undefined;
  readonly again: () => Promise<ConnectionEndpoint>;
}

/** Gets a connection id and follows redirects, HTTP's and SignalR's own. @throws ConnectFailure */
export async function negotiate(
  endpoint: Endpoint,
  address: HubAddress,
  agents: SocketAgents,
  signal: AbortSignal,
  own?: OwnRenewal,
): Promise<Admission> {
  const { form = coreNegotiation } = address;
  let url = withQuery(address.url, endpoint.query);
  const cookies = new Cookies();
  let credentials: Credentials = {
    headers: endpoint.headers,
    accessToken: endpoint.accessToken,
    cookies,
    renewAtMs: own?.renewAtMs,
    renew:
      own?.renewAtMs === undefined
        ? undefined
        : async () => {
            const { endpoint: now, renewAtMs } = await own.again();
            return { accessToken: now.accessToken, renewAtMs };
          },
  };
  for (let redirects = 0; redirects <= maximumRedirects; redirects++) {
    const { method } = form;
    const answer = await sendWholeRequest(
      { method, url: form.urlOf(url) },
      credentials,
      agents,
      signal,
    );
    if (answer.location !== undefined) {
      const next = redirectedHub(endpoint, url, answer.location);
      // Credentials belong to one origin; an HTTP redirect must not carry them to another.
      if (next.origin !== url.origin) credentials = { headers: {}, cookies };
      url = next;
      continue;
    }
    const said = form.read(answer.body, endpoint, url);
    url = said.url;
    if (said.accessToken !== undefined)
      credentials = {
        ...credentials,
        accessToken: said.accessToken,
        renewAtMs: undefined,
        // Negotiates again with the connection's own token, which may be new.
        renew: async () => {
          const asking = own === undefined ? endpoint : (await own.again()).endpoint;
          return { accessToken: await renegotiateToken(asking, address, agents) };
        },
      };
    const { isFinal, connectionId, terms } = said;
    if (isFinal) return { url, ...credentials, connectionId, terms };
  }
  throw negotiationFailure(`more than ${maximumRedirects} redirects`);
}

/** Negotiates for a new token only; the connection keeps its id. @throws ConnectFailure */
export async function renegotiateToken(
  endpoint: Endpoint,
  address: HubAddress,
  agents: SocketAgents,
): Promise<string | undefined> {
  const again = await negotiate(endpoint, address, agents, AbortSignal.timeout(renewalMs));
  return again.accessToken;
}

/** @throws ConnectFailure when the response is unusable */
export function readNegotiation(body: string, endpoint: Endpoint, hub: URL): Negotiation {
  const fields = answerFields(body);
  if (typeof fields['error'] === 'string') throw negotiationFailure(shownText(fields['error']));
  if (typeof fields['url'] !== 'string') {
    const url = withId(hub, fields, endpoint.transport ?? 'WebSockets');
    return { url, isFinal: true, connectionId: optional(fields['connectionId']) };
  }
  const url = redirectedHub(endpoint, hub, fields['url']);
  return { url, isFinal: false, accessToken: optional(fields['accessToken']) };
}

const optional = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

function negotiateUrl(hub: URL): URL {
  const url = new URL(hub);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/negotiate`;
  if (!url.searchParams.has('negotiateVersion')) url.searchParams.set('negotiateVersion', '1');
  return url;
}

const coreNegotiation: NegotiationProtocol<ClassicTerms> = {
  method: 'POST',
  urlOf: negotiateUrl,
  read: readNegotiation,
};

function answerFields(body: string): JsonObject {
  const fields = parseObject(body);
  if (fields === undefined)
    throw negotiationFailure('the answer is not a JSON object; is this the URL of a SignalR hub?');
  if ('ProtocolVersion' in fields)
    throw negotiationFailure(
      'this is an ASP.NET SignalR server, not a hub of ASP.NET Core: write connectionType: AspNet, and as the target the URL of the server with the name of its hub behind it, such as http://localhost:5050/signalrbench',
    );
  return fields;
}

function withId(hub: URL, fields: JsonObject, transport: string): URL {
  const version = typeof fields['negotiateVersion'] === 'number' ? fields['negotiateVersion'] : 0;
  const id = version > 0 ? fields['connectionToken'] : fields['connectionId'];
  if (typeof id !== 'string' || id === '')
    throw negotiationFailure('the answer has no connection id');
  const offered = transportsOf(fields['availableTransports']);
  if (!offered.includes(transport)) {
    const others = offered.length === 0 ? 'no transport at all' : `only ${offered.join(' and ')}`;
    throw negotiationFailure(`the server does not offer ${transport}, ${shownText(others)}`);
  }
  const url = new URL(hub);
  url.searchParams.set('id', id);
  return url;
}

function transportsOf(offered: unknown): string[] {
  const entries: unknown[] = Array.isArray(offered) ? offered : [];
  return entries
    .map((entry) => (entry as { transport?: unknown } | null)?.transport)
    .filter((name) => typeof name === 'string');
}

export const codecForEndpoint = (
  protocol: WireProtocol,
  { urls }: Pick<Endpoint, 'urls'>,
): HubCodec =>
  protocol === 'classic' ? classicCodec(splitHubUrl(urls[0]!).hub) : codecForProtocol(protocol);

const codecs: Readonly<Record<Exclude<WireProtocol, 'classic'>, HubCodec>> = {
  json: jsonCodec,
  messagepack: messagePackCodec,
  webpubsub: webPubSubCodec,
  webpubsubReliable: reliableWebPubSubCodec,
  webpubsubNone: plainWebPubSubCodec,
  webpubsubProtobuf: protobufWebPubSubCodec,
  webpubsubReliableProtobuf: reliableProtobufWebPubSubCodec,
};

/** @throws Error for ASP.NET SignalR, whose messages name the hub: see {@link codecForEndpoint} */
export function codecForProtocol(protocol: WireProtocol): HubCodec {
  if (protocol === 'classic') throw new Error('the codec of ASP.NET SignalR needs an endpoint');
  return codecs[protocol];
}
