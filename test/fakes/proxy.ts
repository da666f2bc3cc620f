import { once } from 'node:events';
import * as http from 'node:http';
import * as net from 'node:net';

export interface FakeProxy {
  /** With user and password when it wants them. */
  readonly url: string;
  /** What tunnels were asked for, `host:port` each. */
  readonly asked: string[];
  readonly dispose: () => Promise<void>;
}

/**
 * A proxy on loopback that opens tunnels: every host name is this machine to it.
 *
 * @param options.status answer to every request in place of a tunnel
 * @param options.password wanted of the user `me`
 */
export async function startProxy(
  options: { readonly status?: number; readonly password?: string } = {},
): Promise<FakeProxy> {
  const { status, password } = options;
  const asked: string[] = [];
  const sockets = new Set<net.Socket>();
  const server = http.createServer();
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request, socket: net.Socket, head: Buffer) => {
    socket.on('error', () => undefined);
    const authority = request.url ?? '';
    asked.push(authority);
    const wanted = `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;
    const let407 = password !== undefined && request.headers['proxy-authorization'] !== wanted;
    if (status !== undefined || let407) {
      socket.end(`HTTP/1.1 ${let407 ? 407 : status} No\r\n\r\n`);
      return;
    }
    const port = Number(/:(\d+)$/.exec(authority)?.[1]);
    const other = net.connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      other.write(head);
      other.pipe(socket).pipe(other);
    });
    sockets.add(other);
    other.on('error', () => socket.destroy());
    other.on('close', () => socket.destroy());
    socket.on('close', () => other.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const user = password === undefined ? '' : `me:${encodeURIComponent(password)}@`;
  return {
    url: `http://${user}127.0.0.1:${port}`,
    asked,
    dispose: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
