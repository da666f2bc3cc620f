import * as net from 'node:net';
import type { AddressInfo } from 'node:net';

/** A way to a server on loopback whose WebSockets, or whatever else, can be cut. */
export interface Relay {
  readonly port: number;
  /** Cuts all of them that stand now; other requests go on. */
  cut(): void;
  dispose(): void;
}

/**
 * @param isCut whether {@link Relay.cut} cuts a connection that begins so
 * @param ownPort 0 for a free one
 */
export async function startRelay(
  port: number,
  isCut = (head: string): boolean => head.startsWith('GET /client'),
  ownPort = 0,
): Promise<Relay> {
  const sockets = new Set<net.Socket>();
  const webSockets = new Set<net.Socket>();
  const server = net.createServer((client) => {
    const upstream = net.connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        webSockets.delete(socket);
        other.destroy();
      });
    }
    client.once('data', (head: Buffer) => {
      if (isCut(head.toString('latin1'))) webSockets.add(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(ownPort, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      for (const socket of webSockets) socket.resetAndDestroy();
    },
    dispose: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
