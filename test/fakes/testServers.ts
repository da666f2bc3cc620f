import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Lets servers listen on 127.0.0.1 until the test is over; called in a `describe`. @returns the port */
export function testServers(): (server: Server) => Promise<number> {
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });
  return async (server) => {
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket.on('error', () => undefined)));
    ends.push(() => {
      server.close();
      for (const socket of sockets) socket.destroy();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
}
