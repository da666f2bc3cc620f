import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { opcode } from '../../src/wire/socket/frame';
import { serverFrame as frameOf } from './frames';
import { acceptOf, upgraded } from './rawHub';

/** Something on loopback that a run can be pointed at. */
export interface Peer {
  readonly url: string;
  dispose(): Promise<void>;
}

const separator = '\x1e';

/** Lets a server listen on a free port; disposing it drops all its connections. */
export async function listenOnLoopback(server: Server, path = '/signalrbench'): Promise<Peer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${path}`,
    dispose: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** URL of a port on which nothing listens. */
export async function closedPort(): Promise<string> {
  const peer = await silentPeer();
  await peer.dispose();
  return peer.url;
}

/** Accepts connections and never says a word. */
export function silentPeer(): Promise<Peer> {
  return listenOnLoopback(createServer((socket) => socket.resume()));
}

/** Answers whatever it hears with a line that is no HTTP. */
export function chattyPeer(): Promise<Peer> {
  return listenOnLoopback(
    createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('220 mail.test ready\r\n\r\n');
    }),
  );
}

/** Answers every request and every upgrade with one HTTP status. */
export function statusPeer(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<Peer> {
  const server = createHttpServer((_request, response) => {
    response.writeHead(status, headers);
    response.end();
  });
  server.on('upgrade', (_request, socket: Socket) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} Any\r\n${lines.join('')}Content-Length: 0\r\n\r\n`);
  });
  return listenOnLoopback(server);
}

/** A text frame as a server sends it. */
export const serverFrame = (text: string): Buffer => frameOf(opcode.text, Buffer.from(text));

/** Answers the request for a web socket with that head. */
export function acceptUpgrade(socket: Socket, head: string): void {
  socket.write(`${upgraded(acceptOf(head))}\r\n\r\n`);
}

/**
 * Accepts the upgrade and the hub's handshake as a good server would, then hands the bare socket over.
 * What the client sends from then on can be read from it.
 */
export function rawPeer(behave: (socket: Socket) => void): Promise<Peer> {
  return listenOnLoopback(
    createServer((socket) => {
      let head = '';
      const readHead = (chunk: Buffer): void => {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        socket.off('data', readHead);
        acceptUpgrade(socket, head);
        socket.once('data', () => {
          socket.write(serverFrame(`{}${separator}`));
          behave(socket);
        });
      };
      socket.on('data', readHead);
    }),
  );
}
