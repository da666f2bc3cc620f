import assert from 'node:assert/strict';
import { codecForEndpoint } from '../../src/wire/connect/connectHub';
import { connectHub } from '../../src/wire/connect/connectHub';
import { Invocations, type HubConnection } from '../../src/wire/hub/clientConnection';
import { hubMessageType } from '../../src/wire/message/hubMessage';
import { SocketAgents } from '../../src/wire/socket/socket';
import { ClassicPeer } from '../fakes/classicPeer';
import { endpointOf } from '../fakes/endpoint';
import { RecordingListener } from '../fakes/recordingListener';
import { startRelay } from '../fakes/relay';
import { until } from '../fakes/until';
import type { AspNetServer } from './aspnetServer';
import { startClassicServer } from './officialClassicServer';

class Listener extends RecordingListener {
  private readonly invocations = new Invocations();
  override received(connection: HubConnection, buffer: Buffer, start: number, end: number): void {
    this.texts.push(buffer.toString('utf8', start, end));
    const message = start < end ? connection.codec.read(buffer, start, end) : undefined;
    if (message?.type === hubMessageType.completion)
      this.invocations.completed(connection, message);
  }
  async join(connection: HubConnection, group: string): Promise<void> {
    const { ok } = await this.invocations.invoke(connection, 'JoinGroup', [group], 5000);
    assert.ok(ok);
  }
}

describe('a connection to the official server of ASP.NET SignalR', function () {
  let server: AspNetServer | undefined;
  before(async function () {
    server = await startClassicServer(this);
  });
  after(() => server?.dispose());

  for (const transport of [undefined, 'ServerSentEvents', 'LongPolling'] as const)
    it(`comes back to its group and has missed nothing, over ${transport ?? 'WebSockets'}`, async () => {
      const { url: at } = server!;
      // A request that sends is not cut, so that each call arrives once.
      const relay = await startRelay(
        Number(new URL(at).port),
        (head) => !/\/(?:send|start)\?/.test(head.slice(0, head.indexOf('\r\n'))),
      );
      const url = new URL(at);
      url.port = String(relay.port);
      const endpoint = endpointOf(url.href, { classic: true, ...(transport && { transport }) });
      const agents = new SocketAgents(endpoint, 2);
      const listener = new Listener();
      const codec = codecForEndpoint('classic', endpoint);
      const options = { maximumMessageBytes: 100_000, maximumUnsentBytes: 100_000, codec };
      const connection = await connectHub(
        0,
        { endpoint, agents, listener, options },
        AbortSignal.timeout(8000),
      );
      const other = await ClassicPeer.start(at);
      try {
        const group = `back ${transport}`;
        const all = (): string => listener.texts.join('');
        await listener.join(connection, group);
        // The token of its groups comes before this call, and shows them when the client comes back.
        await until('the join', () => all().includes('"M":"JoinGroup"'));
        let sent = 0;
        const send = async (count: number): Promise<void> => {
          for (let last = sent + count; sent < last; sent++)
            await other.invoke('SendToGroup', { 'information.GroupName': group, n: sent });
        };
        const numbers = (): number[] => [...all().matchAll(/"n":(\d+)/g)].map(([, n]) => Number(n));
        for (let cut = 0; cut < 3; cut++) {
          await send(20);
          relay.cut();
          await send(20);
        }
        await send(20);
        await until('the last message', () => numbers().length >= sent);
        assert.deepEqual(
          numbers(),
          Array.from({ length: 140 }, (_, n) => n),
        );
        // A poll that breaks off may come back unnoticed.
        if (transport !== 'LongPolling') {
          await until('the return', () => listener.reported.at(-1) === 'recovered');
          assert.match(listener.reported.join(), /interrupted/);
        }
        assert.deepEqual(listener.losses, []);
      } finally {
        connection.close();
        other.socket.terminate();
        agents.destroy();
        relay.dispose();
      }
    });
});
