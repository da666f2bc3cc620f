import { WebSocket, type ClientOptions } from 'ws';
import type { Endpoint } from '../../base/endpoint';
import {
  ConnectFailure,
  failureFromResponse,
  failureFromClose,
  failureFromSocketError,
  shownText,
} from '../connectFailure';
import type { Cookies } from '../socket/cookies';
import { addCookies } from '../http/negotiationRequest';
import { HttpRequests } from '../http/httpChannel';
import { closeTimeoutMs } from '../hub/webSocketConnection';
import { EventStreamInput, type InputOwner } from '../http/httpInput';
import { jsonCodec } from '../message/hubCodec';
import type { HubMessage } from '../message/hubMessage';
import { serverHeaderLength } from '../socket/frame';
import type { SocketCallback } from '../socket/proxy';
import {
  createConnectionWith,
  openSocket,
  type ConnectStopwatch,
  type SocketAgents,
} from '../socket/socket';
import { HeldBytes, type IncompleteBytesBudget } from '../socket/frameReader';

export interface SdkClosing {
  readonly code: number;
  readonly reason: string;
}

export interface SdkOwner {
  readonly endpoint: Endpoint;
  readonly agents: SocketAgents;
  readonly cookies: Cookies;
  readonly maximumBytes: number;
  readonly unfinished: IncompleteBytesBudget | undefined;
  readonly signal: AbortSignal;
  readonly stopwatch: ConnectStopwatch | undefined;
  readonly stopped: boolean;
  renew(): Promise<string | undefined>;
  /** The first failure counts. Returns it, to be thrown. */
  failed(failure: ConnectFailure): ConnectFailure;
  socket: WebSocket | undefined;
  closing: SdkClosing | undefined;
  sending(content: string | ArrayBufferLike | undefined): void;
  sent(bytes: number): void;
  overheadBytes: number;
  /** A message was parsed; `wireBytes` includes end mark and overhead. */
  arrived(message: HubMessage, bodyBytes: number, wireBytes: number): void;
  wrote(bytes: number): void;
}

/** RFC 6455, 7.4.1: reported where no close frame came. */
const abnormalClosure = 1006;

export function failureOfSocketClose({ code, reason }: SdkClosing): ConnectFailure {
  return code === abnormalClosure
    ? new ConnectFailure('closed', 'the server ended the connection without a close frame')
    : failureFromClose(`closed with code ${code}`, reason);
}

/** For `new WebSocket(url, protocols, { headers })` in the client: `ws` over sockets of ours. */
export function webSocketConstructor(owner: SdkOwner): unknown {
  function construct(url: string, _protocols: unknown, { headers = {} }: Options): WebSocket {
    const hub = new URL(url.replace(/^ws/, 'http'));
    const all: Record<string, string> = { ...headers };
    addCookies(all, owner.cookies.headerFor(hub));
    // The types of `ws` do not know `closeTimeout` yet.
    const options: ClientOptions & { closeTimeout: number } = {
      closeTimeout: closeTimeoutMs,
      headers: all,
      maxPayload: owner.maximumBytes,
      createConnection: createConnectionWith((opened) => {
        const { endpoint, stopwatch, signal } = owner;
        const watched: SocketCallback = (failure, raw) => {
          // Once it is open, `ws` reports of a broken socket only that it was closed.
          raw?.on('error', (error) => owner.failed(failureFromSocketError(error)));
          opened(failure, raw);
        };
        openSocket(hub, endpoint, watched, { stopwatch, signals: [signal] });
      }),
    };
    const socket = new WebSocket(url, [], options);
    watch(socket, hub, owner);
    owner.socket = socket;
    const send = socket.send.bind(socket) as (data: string | ArrayBuffer) => void;
    socket.send = (data: unknown) => {
      const content = data as string | ArrayBuffer;
      owner.sending(content);
      send(content);
      owner.sent(lengthOf(content));
    };
    return socket;
  }
  return Object.assign(construct, { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 });
}

export function lengthOf(content: string | ArrayBufferLike | undefined): number {
  if (content === undefined) return 0;
  return typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
}

function watch(socket: WebSocket, hub: URL, owner: SdkOwner): void {
  // Before the client assigns its own listeners.
  socket.on('open', () => owner.stopwatch?.done('upgrade'));
  socket.on('message', (data) => {
    const bytes = data as Buffer | ArrayBuffer;
    owner.overheadBytes = serverHeaderLength(bytes.byteLength);
  });
  socket.on('close', (code, reason) => {
    owner.closing = { code, reason: reason.toString('utf8') };
  });
  socket.on('error', (error) => {
    const { code } = error as { code?: unknown };
    const broken = typeof code === 'string' && code.startsWith('WS_ERR_');
    owner.failed(
      broken
        ? new ConnectFailure('protocol', shownText(error.message))
        : failureFromSocketError(error),
    );
  });
  const holding = new HeldBytes(owner.unfinished, (failure) => {
    owner.failed(failure);
    socket.terminate();
  });
  // `ws` does not show its buffered bytes: those since its last message.
  const more = (chunk: Buffer): void => holding.set(holding.bytes + chunk.length);
  socket.on('upgrade', (answer) => answer.socket.on('data', more));
  for (const end of ['message', 'ping', 'pong', 'close']) socket.on(end, () => holding.set(0));
  socket.on('unexpected-response', (request, response) => {
    owner.failed(failureFromResponse('upgrade', response, hub, 'upgrade'));
    request.destroy();
    socket.terminate();
  });
}

type Options = { readonly headers?: Readonly<Record<string, string>> };

/**
 * For `new EventSource(url, { headers })` in the client. It does not reconnect: the client gives up with its first
 * error.
 */
export function eventSourceConstructor(owner: SdkOwner): unknown {
  // An arrow function could not be called with `new`.
  return function construct(url: string, { headers = {} }: Options): SdkEventSource {
    return new SdkEventSource(new URL(url), headers, owner);
  };
}

class SdkEventSource implements InputOwner {
  onmessage: ((event: { readonly data: string }) => void) | null = null;
  onerror: (() => void) | null = null;
  onopen: (() => void) | null = null;
  private readonly input: EventStreamInput;
  readonly unfinished: IncompleteBytesBudget | undefined;
  stopped = false;

  constructor(
    url: URL,
    headers: Readonly<Record<string, string>>,
    private readonly owner: SdkOwner,
  ) {
    this.unfinished = owner.unfinished;
    const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));
    const requests = new HttpRequests({ url, headers: given, cookies: owner.cookies }, jsonCodec);
    this.input = new EventStreamInput(requests, owner.endpoint, this, owner.maximumBytes);
    owner.signal.addEventListener('abort', () => this.onServerEnd(), { once: true });
    // The client sets its listeners after this call.
    queueMicrotask(() => this.open());
  }

  close(): void {
    this.stopped = true;
    this.input.destroy();
  }

  onReady(): void {
    this.owner.stopwatch?.done('upgrade');
    this.onopen?.();
  }

  onMessages(buffer: Buffer, start: number, end: number, wireBytes: number): void {
    this.owner.overheadBytes = wireBytes - (end - start);
    this.onmessage?.({ data: buffer.toString('utf8', start, end) });
  }

  onServerEnd(): void {
    if (this.stopped) return;
    this.close();
    this.onerror?.();
  }

  onFailure(failure: ConnectFailure): void {
    if (this.stopped) return;
    this.owner.failed(failure);
    this.onServerEnd();
  }

  private open(): void {
    if (this.stopped) return;
    try {
      this.input.open();
    } catch (error) {
      if (!(error instanceof ConnectFailure)) throw error;
      this.onFailure(error);
    }
  }
}
