import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { withLengthPrefix } from '../../src/wire/message/messagePack';
import { ServiceFrames } from '../../src/wire/service/serviceStream';
import {
  readServiceMessage,
  encodeServiceMessage,
  type ServiceMessage,
} from '../../src/wire/service/serviceMessage';

/** One server connection as the service sees it. */
export interface StubConnection {
  readonly request: IncomingMessage;
  readonly socket: WebSocket;
  /** Everything the app server has sent but keep-alive pings, as whole frames in base64. */
  readonly frames: string[];
  /** The same, read. */
  readonly messages: ServiceMessage[];
  readonly isClosed: boolean;
  send(...messages: readonly (ServiceMessage | Buffer)[]): void;
}

/** The service, as far as app servers see it: accepts connections, answers handshakes, records. */
export interface StubService {
  readonly origin: string;
  readonly connections: readonly StubConnection[];
  /** Statuses with which the next upgrades are refused, or statuses with more lines of the head. */
  readonly refusals: (number | string)[];
  /** What the next handshakes are answered with; `undefined` answers nothing. */
  readonly handshakes: (ServiceMessage | undefined)[];
  dispose(): Promise<void>;
}

const ready: ServiceMessage = { type: 2, errorMessage: '' };

export async function startStubService(): Promise<StubService> {
  const connections: StubConnection[] = [];
  const refusals: (number | string)[] = [];
  const handshakes: (ServiceMessage | undefined)[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on('upgrade', (request, socket, head) => {
    const status = refusals.shift();
    if (status !== undefined) {
      const head = typeof status === 'number' ? `${status} Refused` : status;
      socket.end(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      connections.push(new Connection(request, accepted, handshakes));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    refusals,
    handshakes,
    dispose: async () => {
      for (const { socket } of connections) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

class Connection implements StubConnection {
  readonly frames: string[] = [];
  readonly messages: ServiceMessage[] = [];
  isClosed = false;
  private readonly reader = new ServiceFrames(1 << 24, (bytes, start, end) => {
    const message = readServiceMessage(bytes, start, end);
    if (message !== undefined) this.received(message, bytes.subarray(start, end));
  });

  constructor(
    readonly request: IncomingMessage,
    readonly socket: WebSocket,
    private readonly handshakes: (ServiceMessage | undefined)[],
  ) {
    socket.on('message', (data: Buffer) => this.reader.push(data));
    socket.on('close', () => {
      this.isClosed = true;
    });
    socket.on('error', () => undefined);
  }

  send(...messages: readonly (ServiceMessage | Buffer)[]): void {
    const frames = messages.map((each) =>
      Buffer.isBuffer(each) ? each : encodeServiceMessage(each),
    );
    this.socket.send(Buffer.concat(frames));
  }

  private received(message: ServiceMessage, body: Buffer): void {
    const isKeepAlive =
      message.type === 3 && ['#clientInHub', 'status'].includes(message.messages[0]!);
    if (isKeepAlive) return;
    this.messages.push(message);
    this.frames.push(withLengthPrefix([body]).toString('base64'));
    if (message.type === 3 && message.messages[0] === 'shutdown')
      this.send({ type: 3, messages: ['shutdown', 'finack'] });
    if (message.type !== 1) return;
    const answer = this.handshakes.length > 0 ? this.handshakes.shift() : ready;
    if (answer !== undefined) this.send(answer);
  }
}
