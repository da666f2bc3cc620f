import assert from 'node:assert/strict';
import {
  HttpTransportType,
  HubConnectionBuilder,
  LogLevel,
  Subject,
  type HubConnection,
} from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { startBenchHub, type BenchHub } from '../../src/servers/hub/benchHub';

/** The official client, with what it received. */
class Official {
  readonly deliveries: unknown[] = [];
  readonly joined: Promise<void>;
  private wake: () => void = () => undefined;

  private constructor(readonly connection: HubConnection) {
    connection.on('RecordLatency', (payload) => {
      this.deliveries.push(payload);
      this.wake();
    });
    this.joined = new Promise((resolve) => connection.on('JoinGroup', resolve));
    // Without a listener the client warns of each greeting.
    connection.on('OnConnected', () => undefined);
  }

  static async connect(
    url: string,
    protocol: 'json' | 'messagepack',
    transport = HttpTransportType.WebSockets,
  ): Promise<Official> {
    const builder = new HubConnectionBuilder().withUrl(url, { transport });
    if (protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol());
    const official = new Official(builder.configureLogging(LogLevel.None).build());
    await official.connection.start();
    return official;
  }

  /** The first `count` deliveries. */
  async received(count: number): Promise<unknown[]> {
    while (this.deliveries.length < count)
      await new Promise<void>((resolve) => (this.wake = resolve));
    return this.deliveries.splice(0, count);
  }
}

describe('the official client with MessagePack against the embedded hub', function () {
  let hub: BenchHub;
  const clients: Official[] = [];
  const connect = async (
    protocol: 'json' | 'messagepack' = 'messagepack',
    transport?: HttpTransportType,
  ): Promise<Official> => {
    const client = await Official.connect(hub.url, protocol, transport);
    clients.push(client);
    return client;
  };

  beforeEach(async () => (hub = await startBenchHub()));
  afterEach(async () => {
    for (const { connection } of clients.splice(0)) await connection.stop();
    await hub.dispose();
  });

  const payload = {
    'payload.Timestamp': 1_800_000_000_000,
    'payload.MessageBlob': 'ü'.repeat(40_000),
    nested: [1, -1.5, null, true, { a: [] }],
  };

  for (const transport of [HttpTransportType.WebSockets, HttpTransportType.LongPolling])
    it(`gets its long echoes back, in order, over ${HttpTransportType[transport]}`, async () => {
      const client = await connect('messagepack', transport);
      for (let n = 0; n < 20; n++) await client.connection.send('Echo', { ...payload, n });
      const expected = Array.from({ length: 20 }, (_, n) => ({ ...payload, n }));
      assert.deepEqual(await client.received(20), expected);
    });

  it('gets bytes as bytes', async () => {
    const client = await connect();
    const bytes = Uint8Array.from({ length: 1000 }, (_, at) => at & 255);
    await client.connection.invoke('Echo', { bytes });
    const [echo] = (await client.received(1)) as [{ bytes: Uint8Array }];
    assert.deepEqual(new Uint8Array(echo.bytes), bytes);
  });

  it('invokes, joins, and shares broadcasts and groups with a client that speaks JSON', async () => {
    const [packed, other, text] = [await connect(), await connect(), await connect('json')];
    const id = await packed.connection.invoke<string>('GetConnectionId');
    await text.connection.send('SendToClient', { 'information.ConnectionId': id });
    assert.deepEqual(await packed.received(1), [{ 'information.ConnectionId': id }]);
    for (const { connection } of [packed, text]) await connection.invoke('JoinGroup', 'g');
    await Promise.all([packed.joined, text.joined]);
    const toGroup = { ...payload, 'information.GroupName': 'g' };
    for (const { connection } of [packed, text]) await connection.invoke('SendToGroup', toGroup);
    for (const member of [packed, text])
      assert.deepEqual(await member.received(2), [toGroup, toGroup]);
    for (const { connection } of [other, text]) await connection.invoke('Broadcast', payload);
    for (const client of [packed, other, text])
      assert.deepEqual(await client.received(2), [payload, payload]);
    assert.equal(hub.counts.deliveries, 1 + 4 + 6);
  });

  it('streams there and back, and may cancel', async () => {
    const { connection } = await connect();
    const upload = new Subject<unknown>();
    const items: unknown[] = [];
    const ended = new Promise<void>((resolve, reject) => {
      connection.stream('StreamingEcho', 1, upload).subscribe({
        next: (item) => items.push(item),
        error: reject,
        complete: resolve,
      });
    });
    const sent = Array.from({ length: 20 }, (_, n) => ({ n, ...payload }));
    for (const item of sent) upload.next(item);
    upload.complete();
    await ended;
    assert.deepEqual(items, sent);
    const endless = new Subject<unknown>();
    const first = new Promise((resolve) => {
      const subscription = connection.stream('StreamingEcho', 0, endless).subscribe({
        next: (item) => {
          subscription.dispose();
          resolve(item);
        },
        error: () => undefined,
        complete: () => undefined,
      });
    });
    endless.next(payload);
    assert.deepEqual(await first, payload);
    assert.equal(typeof (await connection.invoke('GetConnectionId')), 'string');
  });
});
