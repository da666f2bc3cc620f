import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import type { AddressInfo } from 'node:net';
import { startClassicHub } from '../../../../src/servers/classic/classicHub';
import { classicCodec } from '../../../../src/wire/classic/classicCodec';
import { connectHub } from '../../../../src/wire/connect/connectHub';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { ClassicPeer } from '../../../fakes/classicPeer';
import { endpointOf } from '../../../fakes/endpoint';
import { RecordingListener } from '../../../fakes/recordingListener';
import { until } from '../../../fakes/until';

class Listener extends RecordingListener {
  readonly reported: string[] = [];
  override received(_: HubConnection, buffer: Buffer, start: number, end: number): void {
    this.texts.push(buffer.toString('utf8', start, end));
  }
  interrupted(): void {
    this.reported.push('interrupted');
  }
  recovered(): void {
    this.reported.push('recovered');
  }
}

/** A way to the hub that can be cut; who comes then waits until it is open again. */
class Way {
  private readonly clients = new Set<net.Socket>();
  private waiting: (() => void)[] | undefined;
  private readonly server = net.createServer((client) => {
    this.clients.add(client);
    client.on('error', () => undefined);
    const join = (): void => {
      const upstream = net.connect(this.port, '127.0.0.1');
      upstream.on('error', () => client.destroy());
      client.once('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    };
    if (this.waiting === undefined) join();
    else this.waiting.push(join);
  });

  constructor(private readonly port: number) {}

  async listen(): Promise<number> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  cut(): void {
    this.waiting = [];
    for (const client of this.clients) client.destroy();
  }

  open(): void {
    for (const join of this.waiting ?? []) join();
    this.waiting = undefined;
  }

  close(): void {
    for (const client of this.clients) client.destroy();
    this.server.close();
  }
}

describe('a connection to a hub of ASP.NET SignalR that has not kept everything', () => {
  for (const transport of [undefined, 'ServerSentEvents', 'LongPolling'] as const)
    it(`comes back without the oldest messages, and fails in nothing, over ${transport ?? 'WebSockets'}`, async () => {
      const hub = await startClassicHub();
      const way = new Way(Number(new URL(hub.url).port));
      const url = new URL(hub.url);
      url.port = String(await way.listen());
      const endpoint = endpointOf(url.href, { classic: true, ...(transport && { transport }) });
      const agents = new SocketAgents(endpoint, 2);
      const listener = new Listener();
      const codec = classicCodec('signalrbench');
      const options = { maximumMessageBytes: 100_000, maximumUnsentBytes: 100_000, codec };
      let connection: HubConnection | undefined;
      try {
        const context = { endpoint, agents, listener, options };
        connection = await connectHub(0, context, AbortSignal.timeout(4000));
        const numbers = (): number[] =>
          [...listener.texts.join('').matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
        const other = await ClassicPeer.start(hub.url);
        await other.invoke('Broadcast', { n: 0 });
        await until('the first message', () => numbers().includes(0));
        way.cut();
        await until('the cut', () => listener.reported.length > 0);
        await other.untilHeard();
        // Two more than the hub keeps for it.
        for (let n = 1; n <= 1002; n++) await other.invoke('Broadcast', { n });
        way.open();
        await until('the last message', () => numbers().includes(1002));
        await other.invoke('Broadcast', { n: 1003 });
        await until('the next message', () => numbers().includes(1003));
        assert.deepEqual(numbers(), [0, ...Array.from({ length: 1001 }, (_, at) => at + 3)]);
        assert.deepEqual(listener.reported, ['interrupted', 'recovered']);
        assert.deepEqual(listener.losses, []);
        other.socket.terminate();
      } finally {
        connection?.destroy();
        agents.destroy();
        way.close();
        await hub.dispose();
      }
    });
});
