import assert from 'node:assert/strict';
import {
  HttpTransportType,
  HubConnectionBuilder,
  LogLevel,
  type HubConnection,
} from '@microsoft/signalr';
import { startBenchHub, type BenchHub } from '../../../src/servers/hub/benchHub';

describe('bench hub with @microsoft/signalr', () => {
  let hub: BenchHub;
  const connections: HubConnection[] = [];

  async function connect(
    skipNegotiation: boolean,
    transport = HttpTransportType.WebSockets,
  ): Promise<HubConnection> {
    const connection = new HubConnectionBuilder()
      .withUrl(hub.url, { transport, skipNegotiation })
      .configureLogging(LogLevel.None)
      .build();
    connections.push(connection);
    const welcomed = new Promise((resolve) => connection.on('OnConnected', resolve));
    await connection.start();
    const id = await connection.invoke<string>('GetConnectionId');
    if (!skipNegotiation) assert.equal(id, connection.connectionId);
    assert.equal(await welcomed, id);
    return connection;
  }

  function next(connection: HubConnection, callback: string): Promise<unknown> {
    return new Promise((resolve) => {
      connection.on(callback, (value) => {
        connection.off(callback);
        resolve(value);
      });
    });
  }

  beforeEach(async () => (hub = await startBenchHub()));
  afterEach(async () => {
    await Promise.all(connections.splice(0).map((connection) => connection.stop()));
    await hub.dispose();
  });

  for (const [skipNegotiation, transport] of [
    [false, HttpTransportType.WebSockets],
    [true, HttpTransportType.WebSockets],
    [false, HttpTransportType.ServerSentEvents],
    [false, HttpTransportType.LongPolling],
  ] as const) {
    const way = `${HttpTransportType[transport]} ${skipNegotiation ? 'without' : 'with'} negotiation`;
    it(`serves every method over ${way}`, async () => {
      const [a, b] = await Promise.all([
        connect(skipNegotiation, transport),
        connect(skipNegotiation, transport),
      ]);
      const blob = 'ä"\\€😀'.repeat(400);
      const payload = { 'payload.Timestamp': 1.5, 'payload.MessageBlob': blob };

      const echoed = next(a, 'RecordLatency');
      assert.equal(await a.invoke('Echo', payload), null);
      assert.deepEqual(await echoed, payload);

      const all = [next(a, 'RecordLatency'), next(b, 'RecordLatency')];
      await a.send('Broadcast', payload);
      assert.deepEqual(await Promise.all(all), [payload, payload]);

      const id = await b.invoke<string>('GetConnectionId');
      const direct = next(b, 'RecordLatency');
      await a.send('SendToClient', { ...payload, 'information.ConnectionId': id });
      assert.deepEqual(await direct, { ...payload, 'information.ConnectionId': id });

      const called = next(b, 'ConnectionId');
      await b.send('ConnectionId');
      assert.equal(await called, id);

      const joined = next(b, 'JoinGroup');
      await b.invoke('JoinGroup', 'team ä');
      await joined;
      const grouped = next(b, 'RecordLatency');
      await a.invoke('SendToGroup', { ...payload, 'information.GroupName': 'team ä' });
      assert.deepEqual(await grouped, { ...payload, 'information.GroupName': 'team ä' });
      const left = next(b, 'LeaveGroup');
      await b.invoke('LeaveGroup', 'team ä');
      await left;

      await assert.rejects(a.invoke('Nothing'), /Method does not exist/);
      assert.equal(hub.counts.deliveries, 5);
      assert.equal(hub.connectionCount, 2);
    });
  }

  for (const transport of [
    HttpTransportType.WebSockets,
    HttpTransportType.ServerSentEvents,
    HttpTransportType.LongPolling,
  ]) {
    const name = HttpTransportType[transport];
    it(`says to clients at disposal that they may reconnect, over ${name}`, async () => {
      const connection = await connect(false, transport);
      const closed = new Promise((resolve) => connection.onclose(resolve));
      await hub.dispose();
      assert.equal(await closed, undefined);
    });

    it(`notices that a client stops, over ${name}`, async () => {
      const connection = await connect(false, transport);
      await connection.stop();
      while (hub.connectionCount > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    });
  }
});
