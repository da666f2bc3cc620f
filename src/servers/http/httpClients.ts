import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ConnectionTokens } from './connectionTokens';
import { refuse } from './httpAnswers';
import {
  EventStreamTransport,
  noConnection,
  PollTransport,
  type HttpTransport,
  type PollLimits,
} from './httpTransport';
import { readBody } from './requestBody';

/** What the requests of HTTP transports need from the hub. */
export interface HttpClientsHost {
  readonly tokens: ConnectionTokens;
  /** Longest body of a send. */
  readonly maxPostBytes: number;
  nowMs(): number;
  /** Of the client that connects with this request. */
  pollLimits(request: IncomingMessage): PollLimits;
  /** A client has connected with this request. */
  connected(connectionId: string, transport: HttpTransport, request: IncomingMessage): void;
}

const noId = { status: 400, text: 'Connection ID required' };
const otherTransport = { status: 400, text: 'Cannot change transports mid-connection' };

/** The clients of server-sent events and long polling, by their tokens, and their requests. */
export class HttpClients {
  private readonly transports = new Map<string, HttpTransport>();

  constructor(private readonly host: HttpClientsHost) {}

  /** Answers a request to the hub's own path. */
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

  private get(request: IncomingMessage, response: ServerResponse, token: string): void {
    const { host, transports } = this;
    const wantsEvents = /\btext\/event-stream\b/i.test(request.headers.accept ?? '');
    const known = transports.get(token);
    if (known !== undefined) {
      if (wantsEvents !== known instanceof EventStreamTransport) refuse(response, otherTransport);
      else if (known instanceof PollTransport) known.poll(response);
      else refuse(response, { status: 409, text: 'This id already has a connection.' });
      return;
    }
    const taken = host.tokens.take(token, host.nowMs());
    if (taken === 404 || taken === 409) {
      refuse(response, taken === 404 ? noConnection : otherTransport);
      return;
    }
    const onGone = (): void => {
      transports.delete(token);
      host.tokens.release(token);
    };
    const transport = wantsEvents
      ? new EventStreamTransport(response, onGone)
      : new PollTransport(host.pollLimits(request), onGone);
    transports.set(token, transport);
    host.connected(taken, transport, request);
    if (transport instanceof PollTransport) transport.poll(response);
  }

  private post(request: IncomingMessage, response: ServerResponse, transport: HttpTransport): void {
    const { maxPostBytes } = this.host;
    const tooLong = (): void => {
      const headers = { Connection: 'close' };
      refuse(response, { status: 413, text: `A send has at most ${maxPostBytes} bytes.`, headers });
    };
    const take = (body: Buffer): void => transport.post(body, response);
    readBody(request, response, maxPostBytes, take, tooLong);
  }

  /** A send or an end for an id without such a transport. */
  private refuseOther(response: ServerResponse, token: string, method: string): void {
    if (!this.host.tokens.isUsed(token)) refuse(response, noConnection);
    else if (method === 'DELETE') refuse(response, onlyPolling);
    else refuse(response, { status: 405, text: 'A WebSocket takes no POST requests.' });
  }
}

const onlyPolling = { status: 400, text: 'Only long polling ends by DELETE.' };

function remove(response: ServerResponse, transport: HttpTransport): void {
  if (!(transport instanceof PollTransport)) {
    refuse(response, onlyPolling);
    return;
  }
  transport.remove();
  response.writeHead(202, { 'Content-Length': 0 });
  response.end();
}
