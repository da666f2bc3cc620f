import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ConnectionTokens } from './connectionTokens';
import { answerJson, refuse } from './httpAnswers';
import type { HttpClients } from './httpClients';
import type { HubGate, Refusal } from './hubGate';

/** What HTTP requests to the hub are answered from. */
export interface RequestContext {
  /** Lower case, without a slash at the end. */
  readonly path: string;
  readonly tokens: ConnectionTokens;
  readonly gate: HubGate;
  readonly httpClients: HttpClients;
  nowMs(): number;
}

/** An upgrade that may go on. */
export interface Admission {
  /** undefined when the client skipped negotiation and needs a new id. */
  readonly connectionId: string | undefined;
  readonly token: string | undefined;
}

const notFound: Refusal = { status: 404, text: 'There is no hub at this path.' };
const full: Refusal = {
  status: 503,
  text: 'Too many negotiated connections are waiting.',
  headers: { 'Retry-After': '1' },
};

/** Path of a request as it was sent, and its query, which may hold a `?` of its own. */
export function pathAndQuery({ url = '' }: IncomingMessage): {
  path: string;
  query: URLSearchParams;
} {
  const end = url.indexOf('?');
  return end < 0
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, end), query: new URLSearchParams(url.slice(end + 1)) };
}

/** Path of a request in lower case without a slash at the end, and its query. */
export function splitUrl(request: IncomingMessage): { path: string; query: URLSearchParams } {
  const { path, query } = pathAndQuery(request);
  return { path: path.replace(/\/$/, '').toLowerCase(), query };
}

/** What a client may choose from, in the order of ASP.NET Core. */
export const availableTransports = [
  { transport: 'WebSockets', transferFormats: ['Text', 'Binary'] },
  { transport: 'ServerSentEvents', transferFormats: ['Text'] },
  { transport: 'LongPolling', transferFormats: ['Text', 'Binary'] },
];

/** The answer to a negotiate with this query. */
export function negotiate(
  context: Pick<RequestContext, 'tokens' | 'nowMs'>,
  query: URLSearchParams,
  transports = availableTransports,
): object | Refusal {
  const asked = query.get('negotiateVersion') ?? '0';
  if (!/^-?[0-9]{1,9}$/.test(asked)) {
    return { error: 'The client requested a non-integer protocol version.' };
  }
  const version = Number(asked) >= 1 ? 1 : 0;
  const ids = context.tokens.issue(version, context.nowMs());
  if (ids === undefined) return full;
  return {
    negotiateVersion: version,
    connectionId: ids.connectionId,
    ...(version === 1 && { connectionToken: ids.connectionToken }),
    availableTransports: transports,
  };
}

export function isRefusal(answer: object): answer is Refusal {
  return 'status' in answer;
}

/** Answers every HTTP request that is no upgrade. */
export function answerRequest(
  context: RequestContext,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { path, query } = splitUrl(request);
  if (path === context.path) {
    context.httpClients.answer(request, response, query.get('id'));
    return;
  }
  if (path !== `${context.path}/negotiate`) {
    refuse(response, notFound);
    return;
  }
  if (request.method !== 'POST') {
    refuse(response, { status: 405, text: 'Negotiate is a POST.', headers: { Allow: 'POST' } });
    return;
  }
  const answer = context.gate.refusal(request) ?? negotiate(context, query);
  if (isRefusal(answer)) refuse(response, answer);
  else answerJson(response, answer);
}

/** Decides on a WebSocket upgrade. */
export function admitUpgrade(
  context: RequestContext,
  request: IncomingMessage,
): Admission | Refusal {
  const { path, query } = splitUrl(request);
  if (path !== context.path) return notFound;
  const token = query.get('id');
  if (token === null) {
    return context.gate.refusal(request) ?? { connectionId: undefined, token: undefined };
  }
  return admitNegotiated(context, token);
}

/** Decides on the upgrade of a client that has negotiated this token. */
export function admitNegotiated(
  context: Pick<RequestContext, 'tokens' | 'nowMs'>,
  token: string,
): Admission | Refusal {
  const taken = context.tokens.take(token, context.nowMs());
  if (taken === 404) return { status: 404, text: 'No Connection with that ID' };
  if (taken === 409) return { status: 409, text: 'This id already has a connection.' };
  return { connectionId: taken, token };
}

/** Answers an upgrade with an ordinary HTTP response and ends the connection. */
export function refuseUpgrade(socket: Duplex, { status, text, headers }: Refusal): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Connection: close',
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}
