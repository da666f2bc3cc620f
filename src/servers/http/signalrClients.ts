import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { WebSocketServer } from 'ws';
import {
  answerJson,
  readBody,
  refuse,
  refuseUpgrade,
  reply,
  type UpgradeRequest,
} from './loopbackServer';
import type { Refusal } from './ownRequests';
import {
  EventStreamTransport,
  noConnection,
  PollTransport,
  WebSocketTransport,
  type HttpTransport,
  type HubTransport,
  type PollLimits,
} from './transports';

/** A connection id as ASP.NET Core makes them: 128 random bits, base64url. */
export function newConnectionId(): string {
  return randomBytes(16).toString('base64url');
}

const maxPending = 50_000;
const full: Refusal = {
  status: 503,
  text: 'Too many negotiated connections are waiting.',
  headers: { 'Retry-After': '1' },
};
const takenId: Refusal = { status: 409, text: 'This id already has a connection.' };

const postOnly: Refusal = {
  status: 405,
  text: 'Negotiate is a POST.',
  headers: { Allow: 'POST' },
};

export const availableTransports = [
  { transport: 'WebSockets', transferFormats: ['Text', 'Binary'] },
  { transport: 'ServerSentEvents', transferFormats: ['Text'] },
  { transport: 'LongPolling', transferFormats: ['Text', 'Binary'] },
];

export interface ClientsHost {
  readonly sockets: WebSocketServer;
  readonly maxPostBytes: number;
  pollLimits(request: IncomingMessage): PollLimits;
  connected(connectionId: string, transport: HubTransport, request: IncomingMessage): void;
}

const noId = { status: 400, text: 'Connection ID required' };
const otherTransport = { status: 400, text: 'Cannot change transports mid-connection' };

export class SignalrClients {
  /** By connection token, in order of expiry. */
  private readonly pending = new Map<string, { connectionId: string; dueMs: number }>();
  private readonly used = new Set<string>();
  private readonly transports = new Map<string, HttpTransport>();

  constructor(
    private readonly host: ClientsHost,
    private readonly tokenLifetimeMs: number,
  ) {}

  isConnected(token: string): boolean {
    return this.used.has(token);
  }

  removeExpired(): void {
    const nowMs = performance.now();
    for (const [token, { dueMs }] of this.pending) {
      if (dueMs > nowMs) return;
      this.pending.delete(token);
    }
  }

  negotiate(
    { method }: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
    refusal: () => Refusal | undefined,
    transports = availableTransports,
  ): void {
    this.removeExpired();
    const isFull = this.pending.size >= maxPending;
    const refused = method === 'POST' ? (refusal() ?? (isFull ? full : undefined)) : postOnly;
    if (refused === undefined) answerJson(response, this.negotiated(query, transports));
    else refuse(response, refused);
  }

  /** @param token null when negotiation is skipped */
  upgrade(
    { request, socket, head }: UpgradeRequest,
    token: string | null,
    refusal?: Refusal,
  ): void {
    const id = refusal ?? (token === null ? newConnectionId() : this.claimToken(token));
    if (typeof id !== 'string') {
      refuseUpgrade(socket, id);
      return;
    }
    if (token !== null) socket.once('close', () => this.used.delete(token));
    this.host.sockets.handleUpgrade(request, socket, head, (accepted) =>
      this.host.connected(id, new WebSocketTransport(accepted, socket), request),
    );
  }

  answer(request: IncomingMessage, response: ServerResponse, token: string | null): void {
    const { method = '' } = request;
    if (method !== 'GET' && method !== 'POST' && method !== 'DELETE') {
      const headers = { Allow: 'GET, POST, DELETE' };
      refuse(response, { status: 405, text: 'This method is not served here.', headers });
    } else if (token === null || token === '') {
      refuse(response, noId);
    } else if (method === 'GET') {
      this.get(request, response, token);
    } else {
      const transport = this.transports.get(token);
      if (transport === undefined) this.refuseOther(response, token, method);
      else if (method === 'POST') this.post(request, response, transport);
      else remove(response, transport);
    }
  }

  private negotiated(query: URLSearchParams, transports: typeof availableTransports): object {
    const asked = query.get('negotiateVersion') ?? '0';
    if (!/^-?[0-9]{1,9}$/.test(asked))
      return { error: 'The client requested a non-integer protocol version.' };
    const negotiateVersion = Number(asked) >= 1 ? 1 : 0;
    const connectionId = newConnectionId();
    const connectionToken = negotiateVersion === 0 ? connectionId : newConnectionId();
    const dueMs = performance.now() + this.tokenLifetimeMs;
    this.pending.set(connectionToken, { connectionId, dueMs });
    return {
      negotiateVersion,
      connectionId,
      ...(negotiateVersion === 1 && { connectionToken }),
      availableTransports: transports,
    };
  }

  private claimToken(token: string): string | Refusal {
    if (this.used.has(token)) return takenId;
    const waiting = this.pending.get(token);
    this.pending.delete(token);
    if (waiting === undefined || waiting.dueMs <= performance.now()) return noConnection;
    this.used.add(token);
    return waiting.connectionId;
  }

  private get(request: IncomingMessage, response: ServerResponse, token: string): void {
    const { host, transports } = this;
    const wantsEvents = wantsEventStream(request);
    const known = transports.get(token);
    if (known !== undefined) {
      if (wantsEvents !== known instanceof EventStreamTransport) refuse(response, otherTransport);
      else if (known instanceof PollTransport) known.poll(response);
      else refuse(response, takenId);
      return;
    }
    const taken = this.claimToken(token);
    if (typeof taken !== 'string') {
      refuse(response, taken === takenId ? otherTransport : taken);
      return;
    }
    const onGone = (): void => {
      transports.delete(token);
      this.used.delete(token);
    };
    const transport = wantsEvents
      ? new EventStreamTransport(response, onGone)
      : new PollTransport(host.pollLimits(request), onGone);
    transports.set(token, transport);
    host.connected(taken, transport, request);
    if (transport instanceof PollTransport) transport.poll(response);
  }

  private post(request: IncomingMessage, response: ServerResponse, transport: HttpTransport): void {
    const take = (body: Buffer): void => transport.post(body, response);
    readBody(request, response, this.host.maxPostBytes, take);
  }

  private refuseOther(response: ServerResponse, token: string, method: string): void {
    if (!this.used.has(token)) refuse(response, noConnection);
    else if (method === 'DELETE') refuse(response, onlyPolling);
    else refuse(response, { status: 405, text: 'A WebSocket takes no POST requests.' });
  }
}

export const wantsEventStream = ({ headers }: IncomingMessage): boolean =>
  /\btext\/event-stream\b/i.test(headers.accept ?? '');

const onlyPolling = { status: 400, text: 'Only long polling ends by DELETE.' };

function remove(response: ServerResponse, transport: HttpTransport): void {
  if (!(transport instanceof PollTransport)) {
    refuse(response, onlyPolling);
    return;
  }
  transport.finish();
  reply(response, 202);
}
