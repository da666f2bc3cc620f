import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type ServerOptions } from 'ws';
import { emulatorHeader } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { refuse } from './httpAnswers';
import { refuseUpgrade } from './hubRequests';
import { refusalOf } from './loopbackRequests';

/** Nothing but this machine reaches our servers. */
export const loopbackHost = '127.0.0.1';
/** Of Kestrel: idle HTTP connections are kept this long. */
const keepAliveTimeoutMs = 130_000;
/** Time a peer gets to answer a WebSocket close, as in ASP.NET Core. */
const closeTimeoutMs = 5000;

/** Accepts WebSockets for a server that routes upgrades itself. */
export function webSocketServer(maxMessageBytes: number): WebSocketServer {
  // The types of `ws` do not know `closeTimeout` yet.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    autoPong: false,
    closeTimeout: closeTimeoutMs,
  };
  return new WebSocketServer(options);
}

/** What a server does with requests that come from this machine. */
export interface LoopbackHandlers {
  readonly answer: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Name of a tunnel whose requests are meant for this server. */
  readonly publicHost?: string | undefined;
}

/** A server that answers nobody but this machine, whatever a web page makes a browser send. */
export function loopbackServer({ answer, upgrade, publicHost }: LoopbackHandlers): Server {
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, (request, response) => {
    const refusal = refusalOf(request, publicHost);
    if (refusal === undefined) answer(request, response);
    else refuse(response, { ...refusal, headers: { Connection: 'close' } });
  });
  if (upgrade === undefined) return server;
  server.on('upgrade', (request, socket, head) => {
    // The peer may vanish before anybody takes over the errors.
    socket.on('error', () => socket.destroy());
    const refusal = refusalOf(request, publicHost);
    if (refusal === undefined) upgrade(request, socket, head);
    else refuseUpgrade(socket, refusal);
  });
  return server;
}

/**
 * Listens on loopback, and returns the port. Every answer over HTTP says what kind of server this is.
 * @param port 0 takes any free one
 * @throws ExpectedError `port-taken` or `port-refused`
 */
export async function listenOnLoopback(server: Server, port: number): Promise<number> {
  server.prependListener('request', (_request, response: ServerResponse) => {
    response.setHeader(emulatorHeader, 'emulator');
  });
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // A ramp opens many connections at once; the kernel caps this at its own limit.
    server.listen({ host: loopbackHost, port, backlog: 4096 }, resolve);
  });
  await listening.catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new ExpectedError(
        'port-taken',
        `Port ${port} on ${loopbackHost} is already in use. Stop what listens there, or choose another port (0 takes any free one).`,
        { cause: error },
      );
    }
    if (code === 'EACCES') {
      throw new ExpectedError(
        'port-refused',
        `This account may not listen on port ${port}. Choose a port from 1024, or 0 for any free one.`,
        { cause: error },
      );
    }
    throw error;
  });
  return (server.address() as AddressInfo).port;
}
