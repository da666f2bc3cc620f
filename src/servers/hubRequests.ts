import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ConnectionTokens } from './connectionTokens';
import type { HubGate, Refusal } from './hubGate';

/** What HTTP requests to the hub are answered from. */
export interface RequestContext {
  /** Lower case, without a slash at the end. */
  readonly path: string;
  readonly tokens: ConnectionTokens;
  readonly gate: HubGate;
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

function split(request: IncomingMessage): { path: string; query: URLSearchParams } {
  const [path = '', query = ''] = (request.url ?? '').split('?', 2);
  return {
    path: path.replace(/\/$/, '').toLowerCase(),
    query: new URLSearchParams(query),
  };
}

/** The answer to a negotiate; WebSockets with text is all there is to choose from. */
function negotiate(context: RequestContext, query: URLSearchParams): object | Refusal {
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
    availableTransports: [{ transport: 'WebSockets', transferFormats: ['Text'] }],
  };
}

function isRefusal(answer: object): answer is Refusal {
  return 'status' in answer;
}

function refuse(response: ServerResponse, { status, text, headers }: Refusal): void {
  response.writeHead(status, { 'Content-Type': 'text/plain', ...headers });
  response.end(text);
}

/** Answers every HTTP request that is no upgrade. */
export function answerRequest(
  context: RequestContext,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { path, query } = split(request);
  if (path === context.path) {
    refuse(response, {
      status: request.method === 'GET' || request.method === 'POST' ? 404 : 405,
      text: 'Only the WebSockets transport is served here.',
      headers: { Allow: 'GET' },
    });
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
  const answer = context.gate.refusal() ?? negotiate(context, query);
  if (isRefusal(answer)) {
    refuse(response, answer);
    return;
  }
  const body = JSON.stringify(answer);
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Decides on a WebSocket upgrade. */
export function admitUpgrade(
  context: RequestContext,
  request: IncomingMessage,
): Admission | Refusal {
  const { path, query } = split(request);
  if (path !== context.path) return notFound;
  const token = query.get('id');
  if (token === null) {
    return context.gate.refusal() ?? { connectionId: undefined, token: undefined };
  }
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
