import * as assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { startClassicHub } from '../../src/servers/classic/classicHub';
import type { BenchHub } from '../../src/servers/hub/benchHub';
import type { BenchHubOptions } from '../../src/servers/hub/benchHubOptions';
import { ClassicPeer } from '../fakes/classicPeer';
import { until } from '../fakes/until';
import { startRelay } from '../fakes/relay';
import type { OfficialClients } from './classicClients';

const transports = ['webSockets', 'serverSentEvents', 'longPolling'] as const;

interface Kind {
  /** Who is it that uses this client. */
  readonly title: string;
  readonly start: (context: Mocha.Context) => Promise<OfficialClients>;
  /** What it says where it is refused. */
  readonly refusal: RegExp;
}

/** What each official client has to find at the hub. */
export function describeClient({ title, start, refusal }: Kind): void {
  describe(`the official client of ASP.NET SignalR for ${title}`, function () {
    let clients: OfficialClients;
    const started: OfficialClients[] = [];
    const hubs: BenchHub[] = [];
    const startHub = async (options: BenchHubOptions = {}): Promise<BenchHub> => {
      const hub = await startClassicHub(options);
      hubs.push(hub);
      return hub;
    };
    before(async function () {
      clients = await start(this);
      started.push(clients);
    });
    after(async () => {
      // None where the tests are skipped.
      await started.pop()?.dispose();
      await Promise.all(hubs.map((hub) => hub.dispose()));
    });

    async function tryCalls(hub: BenchHub, transport: string): Promise<void> {
      const name = `calls ${transport}`;
      const { ConnectionId, Name } = (await clients.open(name, hub.url, transport)) as {
        ConnectionId: string;
        Name: string;
      };
      assert.equal(Name, transport);
      assert.deepEqual(await clients.atLeast(1, name, 'OnConnected'), [[ConnectionId]]);
      const returned = (result: unknown): object => ({ result });
      assert.deepEqual(await clients.invoke(name, 'GetConnectionId'), returned(ConnectionId));
      const group = `of ${transport}`;
      await clients.invoke(name, 'JoinGroup', group);
      const messages = [
        { 'payload.MessageBlob': 'ü "x" \n', 'payload.Timestamp': '1' },
        { 'information.ConnectionId': ConnectionId, n: '2' },
        { 'information.GroupName': group, n: '3' },
      ];
      const methods = ['Echo', 'SendToClient', 'SendToGroup'];
      for (const [index, method] of methods.entries())
        assert.deepEqual(await clients.invoke(name, method, messages[index]), returned(null));
      await clients.invoke(name, 'LeaveGroup', group);
      await clients.invoke(name, 'SendToGroup', messages[2]);
      await clients.invoke(name, 'Echo', messages[0]);
      assert.deepEqual(
        await clients.atLeast(4, name, 'RecordLatency'),
        [...messages, messages[0]].map((message) => [message]),
      );
      const { error } = await clients.invoke(name, 'Nope');
      assert.equal(error, "There was an error invoking Hub method 'signalrbench.Nope'.");
      await clients.stop(name);
    }

    it('calls and is called over each transport', async () => {
      const hub = await startHub();
      await Promise.all(transports.map((transport) => tryCalls(hub, transport)));
      // Clients do not wait for an answer when they go.
      await until('the hub hears of it', () => hub.connectionCount === 0);
    });

    it('gets broadcasts over all transports', async () => {
      const hub = await startHub();
      const names = transports.map((transport) => `all ${transport}`);
      await Promise.all(names.map((name, at) => clients.open(name, hub.url, transports[at]!)));
      await clients.invoke(names[0]!, 'Broadcast', { n: 1 });
      for (const name of names)
        assert.deepEqual(await clients.atLeast(1, name, 'RecordLatency'), [[{ n: 1 }]]);
      await Promise.all(names.map((name) => clients.stop(name)));
    });

    async function tryReconnect(hub: BenchHub, transport: string): Promise<void> {
      const relay = await startRelay(Number(new URL(hub.url).port), () => true);
      const url = new URL(hub.url);
      url.port = String(relay.port);
      const name = `again ${transport}`;
      const group = `again ${transport}`;
      await clients.open(name, url.href, transport);
      await clients.invoke(name, 'JoinGroup', group);
      await clients.atLeast(1, name, 'JoinGroup');
      const other = await ClassicPeer.start(hub.url);
      let sent = 0;
      const send = async (count: number): Promise<void> => {
        for (let last = sent + count; sent < last;)
          await other.invoke('SendToGroup', { 'information.GroupName': group, n: String(sent++) });
      };
      await send(5);
      // What is on its way in a cut is lost.
      await clients.atLeast(5, name, 'RecordLatency');
      relay.cut();
      // A poll that breaks off may simply be sent again; the hub hears of it before these calls.
      if (transport !== 'longPolling') await clients.until(name, 'state', 'Reconnecting');
      await other.untilHeard();
      await send(5);
      await clients.atLeast(10, name, 'RecordLatency');
      await send(5);
      const got = (await clients.atLeast(15, name, 'RecordLatency')) as [{ n: string }][];
      assert.deepEqual(
        got.map(([{ n }]) => Number(n)),
        Array.from({ length: 15 }, (_, n) => n),
      );
      await clients.stop(name);
      await other.command('abort');
      relay.dispose();
    }

    it('misses nothing while its transport is a new one, and stays in its groups', async () => {
      const hub = await startHub();
      await Promise.all(transports.map((transport) => tryReconnect(hub, transport)));
    });

    it('stays by keep-alives', async () => {
      // Twice as long without one, and the client would reconnect.
      const keepAliveMs = 4000;
      const hub = await startHub({ keepAliveMs });
      await Promise.all(transports.map((each) => clients.open(`alive ${each}`, hub.url, each)));
      await wait(2.5 * keepAliveMs);
      for (const each of transports)
        assert.deepEqual(clients.said(`alive ${each}`, 'state'), ['Connecting', 'Connected']);
      await Promise.all(transports.map((each) => clients.stop(`alive ${each}`)));
    });

    it('reads why it is closed', async () => {
      const hub = await startHub({ closeAfter: 2 });
      await clients.open('closed', hub.url, 'webSockets');
      await clients.invoke('closed', 'Echo', {});
      void clients.invoke('closed', 'Echo', {});
      await clients.until('closed', 'state', 'Disconnected');
      assert.match(
        String(clients.said('closed', 'error')),
        /Closed on purpose after 2 invocations/,
      );
      assert.equal(hub.connectionCount, 0);
    });

    it('is refused where its hub is unknown', async () => {
      const hub = await startHub();
      const url = `${hub.url.slice(0, hub.url.lastIndexOf('/'))}/other`;
      assert.match(String(await clients.open('nowhere', url, 'webSockets')), refusal);
      assert.equal(hub.connectionCount, 0);
    });
  });
}
