import { WebSocket } from 'ws';
import {
  classOfClosing,
  ConnectFailure,
  failureOfSocket,
  shownText,
  StatusFailure,
  classOfSystemError,
  textOfSystemError,
} from '../connect/connectFailure';
import { shownUrl } from '../connect/shownUrl';
import { addCookies, unsendable } from '../connect/negotiate';
import { openSocket } from '../socket/socket';
import { serverHeaderLength } from '../socket/frame';
import type { SdkWay } from './sdkWay';
import * as http from 'node:http';
import * as https from 'node:https';
import { EventReader, EventStreamError } from '../http/eventReader';

/** What is left of a WebSocket when it is closed. */
export interface SdkClosing {
  readonly code: number;
  readonly reason: string;
}

/** RFC 6455, 7.4.1: told where no close frame came. */
const abnormalClosure = 1006;

/**
 * Why a WebSocket was closed.
 *
 * @param said what the server gave as the reason, if it said more than its close frame
 */
export function failureOfClosing({ code, reason }: SdkClosing, said = reason): ConnectFailure {
  const text = shownText(said);
  if (code === abnormalClosure && text === '')
    return new ConnectFailure('closed', 'the server ended the connection without a close frame');
  const shown = `closed with code ${code}${text === '' ? '' : `: ${text}`}`;
  return new ConnectFailure(classOfClosing(text), shown);
}

/** Who owns the socket. */
export interface SdkSocketOwner {
  opened(socket: WebSocket): void;
  closed(closing: SdkClosing): void;
}

/**
 * What the official client calls as `new WebSocket(url, protocols, { headers })`: the package `ws`, over
 * sockets that know proxies, certificates and authorities.
 */
export function webSocketConstructor(way: SdkWay, owner: SdkSocketOwner): unknown {
  function construct(url: string, _protocols: unknown, { headers = {} }: Options): WebSocket {
    const hub = new URL(url.replace(/^ws/, 'http'));
    const all: Record<string, string> = { ...headers };
    addCookies(all, way.cookies.headerFor(hub));
    const socket = openWebSocket(url, all, way, owner);
    const send = socket.send.bind(socket) as (data: string | ArrayBuffer) => void;
    socket.send = (data: unknown) => {
      const content = data as string | ArrayBuffer;
      way.sending(content);
      send(content);
      way.sent(typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength);
    };
    return socket;
  }
  return Object.assign(construct, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 });
}

/** A WebSocket of the package `ws` over a socket of ours, on its way to being open. */
function openWebSocket(
  url: string,
  headers: Readonly<Record<string, string>>,
  way: SdkWay,
  owner: SdkSocketOwner,
): WebSocket {
  const hub = new URL(url.replace(/^ws/, 'http'));
  const socket = new WebSocket(url, [], {
    headers,
    maxPayload: way.maximumBytes,
    createConnection: () => {
      const raw = openSocket(hub, way.endpoint, way.stopwatch);
      // Once it is open, `ws` tells of a broken socket only that it was closed.
      raw.on('error', (error) => way.failed(failureOfSocket(error)));
      return raw;
    },
  });
  watch(socket, hub, way, owner);
  owner.opened(socket);
  return socket;
}

function watch(socket: WebSocket, hub: URL, way: SdkWay, owner: SdkSocketOwner): void {
  // First of all listeners: the client's own come with its assignments.
  socket.on('open', () => way.stopwatch?.done('upgrade'));
  socket.on('message', (data) => {
    const bytes = data as Buffer | ArrayBuffer;
    way.arriving(serverHeaderLength(bytes.byteLength));
  });
  socket.on('close', (code, reason) => {
    owner.closed({ code, reason: reason.toString('utf8') });
  });
  socket.on('error', (error) => {
    const { code } = error as { code?: unknown };
    const broken = typeof code === 'string' && code.startsWith('WS_ERR_');
    way.failed(
      broken ? new ConnectFailure('protocol', shownText(error.message)) : failureOfSocket(error),
    );
  });
  socket.on('unexpected-response', (request, response) => {
    const { statusCode = 0, statusMessage = '', headers } = response;
    const said = `${statusCode} ${shownText(statusMessage)}`.trimEnd();
    const text = `upgrade: ${shownUrl(hub.href)} answered ${said}`;
    way.failed(new StatusFailure(statusCode, 'upgrade', text, headers['retry-after']));
    request.destroy();
    socket.terminate();
  });
}

type Options = { readonly headers?: Readonly<Record<string, string>> };

/**
 * What the official client calls as `new EventSource(url, { headers })`, with proxies, certificates,
 * authorities and a bound for events. It does not connect again: the client gives up with its first error.
 */
export function eventSourceConstructor(way: SdkWay): unknown {
  function construct(url: string, { headers = {} }: Options): SdkEventSource {
    return new SdkEventSource(new URL(url), headers, way);
  }
  return construct;
}

class SdkEventSource {
  onmessage: ((event: { readonly data: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  onopen: (() => void) | null = null;
  private request: http.ClientRequest | undefined;
  private readonly reader: EventReader;
  private ended = false;

  constructor(
    private readonly url: URL,
    headers: Readonly<Record<string, string>>,
    private readonly way: SdkWay,
  ) {
    this.reader = new EventReader(way.maximumBytes);
    const all: Record<string, string> = {};
    for (const [name, value] of Object.entries(headers)) if (value !== '') all[name] = value;
    Object.assign(all, { Accept: 'text/event-stream', 'Cache-Control': 'no-cache' });
    addCookies(all, way.cookies.headerFor(url));
    const secure = url.protocol === 'https:';
    const { agents, signal } = way;
    const agent = secure ? agents.https : agents.http;
    try {
      this.request = (secure ? https : http).request(url, { headers: all, agent, signal });
    } catch (error) {
      // The client's listeners come after this call.
      const { message } = unsendable(error);
      queueMicrotask(() => this.fail(new ConnectFailure('upgrade', message)));
      return;
    }
    this.request.on('error', (error) => {
      this.fail(new ConnectFailure(classOfSystemError(error), textOfSystemError(error)));
    });
    this.request.on('response', (response) => this.take(response));
    this.request.end();
  }

  close(): void {
    this.ended = true;
    this.request?.destroy();
  }

  private take(response: http.IncomingMessage): void {
    const { statusCode = 0, statusMessage = '', headers } = response;
    this.way.cookies.take(headers['set-cookie'] ?? [], this.url);
    response.on('error', () => this.end());
    if (statusCode !== 200) {
      const said = `${statusCode} ${shownText(statusMessage)}`.trimEnd();
      const text = `event stream: ${shownUrl(this.url.href)} answered ${said}`;
      this.fail(new StatusFailure(statusCode, 'request', text, headers['retry-after']));
      return;
    }
    if (!/^text\/event-stream\b/i.test(headers['content-type'] ?? '')) {
      const text = 'event stream: the server answered with something else';
      this.fail(new ConnectFailure('request', text));
      return;
    }
    this.way.stopwatch?.done('upgrade');
    this.onopen?.();
    response.on('data', (chunk: Buffer) => this.read(chunk));
    response.on('end', () => this.end());
  }

  private read(chunk: Buffer): void {
    try {
      this.reader.read(chunk, 0, chunk.length, (buffer, start, end, eventBytes) => {
        if (this.ended) return;
        this.way.arriving(eventBytes - (end - start));
        this.onmessage?.({ data: buffer.toString('utf8', start, end) });
      });
    } catch (error) {
      if (!(error instanceof EventStreamError)) throw error;
      this.fail(new ConnectFailure('protocol', error.message));
    }
  }

  private fail(failure: ConnectFailure): void {
    if (this.ended) return;
    this.way.failed(failure);
    this.end();
  }

  private end(): void {
    if (this.ended) return;
    this.close();
    this.onerror?.();
  }
}
