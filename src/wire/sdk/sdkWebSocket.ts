import { WebSocket } from 'ws';
import {
  classOfClosing,
  ConnectFailure,
  failureOfSocket,
  shownText,
  StatusFailure,
} from '../connect/connectFailure';
import { shownUrl } from '../connect/endpoint';
import { addCookies } from '../connect/negotiate';
import { openSocket } from '../socket/socket';
import { serverHeaderLength } from '../socket/frame';
import type { SdkWay } from './sdkWay';

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

type Options = { readonly headers?: Readonly<Record<string, string>> };

/** What a WebSocket needs to know of its connection, and what it tells. */
export type SdkSocketWay = Pick<
  SdkWay,
  'endpoint' | 'maximumBytes' | 'stopwatch' | 'failed' | 'arriving'
>;

/**
 * What the official client calls as `new WebSocket(url, protocols, { headers })`: the package `ws`, over
 * sockets that know proxies, certificates and authorities.
 */
export function webSocketConstructor(way: SdkWay, owner: SdkSocketOwner): unknown {
  function construct(url: string, _protocols: unknown, { headers = {} }: Options): WebSocket {
    const hub = new URL(url.replace(/^ws/, 'http'));
    const all: Record<string, string> = { ...headers };
    addCookies(all, way.cookies.headerFor(hub));
    const socket = openWebSocket(url, [], all, way, owner);
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
export function openWebSocket(
  url: string,
  subprotocols: string[],
  headers: Readonly<Record<string, string>>,
  way: SdkSocketWay,
  owner: SdkSocketOwner,
): WebSocket {
  const hub = new URL(url.replace(/^ws/, 'http'));
  const socket = new WebSocket(url, subprotocols, {
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

function watch(socket: WebSocket, hub: URL, way: SdkSocketWay, owner: SdkSocketOwner): void {
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
