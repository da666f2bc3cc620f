import { inBackground } from '../../base/async';
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type ServerOptions } from 'ws';
import { emulatorHeader } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { PendingBytes } from '../../wire/socket/frameReader';
import { HubMessageError } from '../../wire/message/hubMessage';
import { foreignRequestRefusal, isLoopbackOrigin, type Refusal } from './ownRequests';

export const loopbackHost = '127.0.0.1';
/** `KeepAliveTimeout` of Kestrel. */
const keepAliveTimeoutMs = 130_000;
/** Time a peer gets to answer a WebSocket close, as in ASP.NET Core. */
const closeTimeoutMs = 5000;
/** Fragments per message; empty ones would never reach the byte limit. More close with 1008. */
export const maximumFragments = 16_384;
const tickMs = 1000;
/** A later tick means that the process stood still. */
const latestTickMs = 5000;
const disposeTimeoutMs = 500;

export interface Terminable {
  terminate(): void;
}

/** A server with long-lived connections, one coarse clock for them, and an orderly shutdown. */
export abstract class ConnectionServer<Connection extends Terminable> {
  /** Time of the last tick, milliseconds: cheap, and precise enough for timeouts. */
  tickMs = performance.now();
  port = 0;
  protected readonly all = new Set<Connection>();
  readonly sockets: WebSocketServer;
  private readonly server: Server;
  private timer: NodeJS.Timeout | undefined;
  private disposed: Promise<void> | undefined;
  private allGone: () => void = () => undefined;

  constructor(maxMessageBytes: number) {
    // The types of `ws` lack these two.
    const options: ServerOptions & { closeTimeout: number; maxFragments: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      autoPong: false,
      closeTimeout: closeTimeoutMs,
      maxFragments: maximumFragments,
    };
    this.sockets = new WebSocketServer(options);
    this.server = loopbackServer({
      answer: (request, response) => this.answer(request, response),
      upgrade: (upgrade) => this.upgrade(upgrade),
    });
  }

  /** @throws ExpectedError `port-taken` or `port-refused` */
  async listen(port = 0): Promise<void> {
    this.port = await listenOnLoopback(this.server, port);
    this.timer = setInterval(() => {
      const beforeMs = this.tickMs;
      this.tickMs = performance.now();
      // After a standstill, input is still unread: no client is silent yet.
      if (this.tickMs - beforeMs < latestTickMs) this.tick();
    }, tickMs);
  }

  dispose(): Promise<void> {
    this.disposed ??= this.shutDown();
    return this.disposed;
  }

  protected get isDisposed(): boolean {
    return this.disposed !== undefined;
  }

  protected add(connection: Connection): void {
    this.all.add(connection);
    if (this.isDisposed) connection.terminate();
  }

  protected remove(connection: Connection): void {
    this.all.delete(connection);
    if (this.all.size === 0) this.allGone();
  }

  protected abstract answer(request: IncomingMessage, response: ServerResponse): void;
  protected abstract upgrade(upgrade: UpgradeRequest): void;
  protected abstract tick(): void;
  protected abstract sayGoodbye(): void;

  private async shutDown(): Promise<void> {
    clearInterval(this.timer);
    this.sayGoodbye();
    if (this.all.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, disposeTimeoutMs);
        this.allGone = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      for (const connection of this.all) connection.terminate();
    }
    // Last, since a polling client learns of the end by one more answer.
    await stopServer(this.server);
  }
}

export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface LoopbackHandlers {
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade?: (upgrade: UpgradeRequest) => void;
  readonly publicHost?: string | undefined;
}

/** A faulty handler ends its own request or socket, never the server. */
function guard(by: ServerResponse | Duplex, handle: () => void): void {
  try {
    handle();
  } catch (error) {
    faultReason(error);
    by.destroy();
  }
}

export const guardAsync = (by: ServerResponse | Duplex, work: PromiseLike<unknown>): void =>
  inBackground(work, (error) => {
    faultReason(error);
    by.destroy();
  });

/** An HTTP server that answers only programs on this machine (DNS rebinding, foreign pages). */
export function loopbackServer({ answer, upgrade, publicHost }: LoopbackHandlers): Server {
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (request, response) => {
    const refusal = foreignRequestRefusal(request, publicHost);
    if (refusal !== undefined) refuse(response, { ...refusal, headers: { Connection: 'close' } });
    else guard(response, () => answer(request, response));
  });
  if (upgrade === undefined) return server;
  server.on('upgrade', (request, socket, head) => {
    // The peer may vanish before anybody handles errors.
    socket.on('error', () => socket.destroy());
    const refusal = foreignRequestRefusal(request, publicHost);
    if (refusal !== undefined) refuseUpgrade(socket, refusal);
    else guard(socket, () => upgrade({ request, socket, head }));
  });
  return server;
}

/** Marks every answer as one of an emulator. @throws ExpectedError `port-taken` or `port-refused` */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.setHeader(emulatorHeader, 'emulator');
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // A ramp opens many connections at once; the kernel has its own upper limit.
    server.listen({ host: loopbackHost, port, backlog: 4096 }, resolve);
  });
  await listening.catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new ExpectedError(
        'port-taken',
        `Port ${port} on ${loopbackHost} is already in use. Stop what listens there, or choose another port (0 takes any free one).`,
        { cause },
      );
    }
    if (code === 'EACCES') {
      throw new ExpectedError(
        'port-refused',
        `This account may not listen on port ${port}. Choose a port from 1024, or 0 for any free one.`,
        { cause },
      );
    }
    throw cause;
  });
  return (server.address() as AddressInfo).port;
}

export async function stopServer(server: Server): Promise<void> {
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await stopped;
}

/** Adds CORS headers for pages of this machine. @returns whether the request was a preflight, now answered */
export function answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (origin === undefined || !isLoopbackOrigin(origin)) return false;
  response.setHeader('Access-Control-Allow-Origin', origin);
  response.setHeader('Access-Control-Allow-Credentials', 'true');
  response.setHeader('Vary', 'Origin');
  if (request.method !== 'OPTIONS') return false;
  response.writeHead(204, {
    'Access-Control-Allow-Methods': 'GET, POST, DELETE',
    'Access-Control-Allow-Headers':
      'authorization, content-type, x-requested-with, x-signalr-user-agent',
    'Access-Control-Max-Age': '600',
  });
  response.end();
  return true;
}

export function pathAndQuery({ url = '' }: IncomingMessage): {
  path: string;
  query: URLSearchParams;
} {
  const end = url.indexOf('?');
  return end < 0
    ? { path: url, query: new URLSearchParams() }
    : { path: url.slice(0, end), query: new URLSearchParams(url.slice(end + 1)) };
}

export function normalizedPathAndQuery(request: IncomingMessage): {
  path: string;
  query: URLSearchParams;
} {
  const { path, query } = pathAndQuery(request);
  return { path: path.replace(/\/$/, '').toLowerCase(), query };
}

export function bearerToken(
  { headers }: IncomingMessage,
  query?: URLSearchParams,
): string | undefined {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
  return bearer ?? query?.get('access_token') ?? undefined;
}

export function reply(
  response: ServerResponse,
  status: number,
  body: string | Uint8Array = '',
  headers: OutgoingHttpHeaders = {},
): void {
  if (response.headersSent || response.destroyed) return;
  // A 204 has no Content-Length (RFC 9110, 8.6).
  const length = status !== 204 && { 'Content-Length': Buffer.byteLength(body) };
  response.writeHead(status, { ...length, ...headers });
  response.end(body);
}

export const refuse = (response: ServerResponse, { status, text, headers }: Refusal): void =>
  reply(response, status, text, { 'Content-Type': 'text/plain', ...headers });

export const answerJson = (response: ServerResponse, answer: object): void =>
  reply(response, 200, JSON.stringify(answer), { 'Content-Type': 'application/json' });

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

export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
  take: (body: Buffer) => void,
  tooLong = (): void =>
    refuse(response, {
      status: 413,
      text: `The body of a request has at most ${maxBytes} bytes.`,
      headers: { Connection: 'close' },
    }),
): void {
  const body = new PendingBytes();
  let isTooLong = false;
  request.on('error', () => undefined);
  response.on('error', () => undefined);
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    tooLong();
    return;
  }
  request.on('data', (chunk: Buffer) => {
    if (isTooLong) return;
    isTooLong = body.length + chunk.length > maxBytes;
    if (!isTooLong) {
      body.append(chunk);
    } else {
      body.take();
      tooLong();
    }
  });
  request.on('end', () => {
    if (!isTooLong) guard(response, () => take(body.take()));
  });
}

interface Reader {
  onData(data: Buffer, isBinary: boolean): void;
  onFault(reason: string): void;
}

export function receiveSafely(reader: Reader, data: Buffer, isBinary: boolean): void {
  try {
    reader.onData(data, isBinary);
  } catch (error) {
    reader.onFault(faultReason(error));
  }
}

export const defectWarning = 'ServerDefect';

/** The reason shown to the peer. An unexpected error is a defect of this server and raises a process warning. */
export function faultReason(error: unknown): string {
  if (error instanceof HubMessageError) return error.message;
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.emitWarning(text, defectWarning);
  return 'The server could not handle this message.';
}
