import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A way to a server on loopback that takes so long there, and so long back. */
export class SlowRelay {
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(
    port: number,
    thereMs: number,
    backMs: number,
    host = '127.0.0.1',
  ): Promise<SlowRelay> {
    const server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const [from, to, ms] of [
        [near, far, thereMs],
        [far, near, backMs],
      ] as const) {
        relay.sockets.add(from.setNoDelay());
        from.on('data', (bytes) => setTimeout(() => to.write(bytes), ms));
        from.on('close', () => to.destroy());
        from.on('error', () => to.destroy());
      }
    }).listen(0, host);
    const relay = new SlowRelay(server);
    await once(server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  dispose(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }
}
