import assert from 'node:assert/strict';
import {
  HttpTransportType,
  HubConnectionBuilder,
  LogLevel,
  Subject,
  type HubConnection,
} from '@microsoft/signalr';
import { requireAspNet, startAspNetServer, type AspNetServer } from './aspnetServer';

/** What the server of these tests offers beyond the sends that the engine's own tests use. */
describe('the hubs of the ASP.NET Core server with the official client', function () {
  this.timeout(30_000);
  let server: AspNetServer;
  const connections: HubConnection[] = [];

  before(async function () {
    requireAspNet(this);
    server = await startAspNetServer();
  });
  afterEach(() => Promise.all(connections.splice(0).map((connection) => connection.stop())));
  after(() => (server as AspNetServer | undefined)?.dispose());

  async function connect(transport: HttpTransportType, path?: string): Promise<HubConnection> {
    const url = path === undefined ? server.url : new URL(path, server.url).href;
    const connection = new HubConnectionBuilder()
      .withUrl(url, { transport })
      .configureLogging(LogLevel.None)
      .build();
    connections.push(connection);
    connection.on('OnConnected', () => undefined);
    await connection.start();
    return connection;
  }

  /** All items of a stream. */
  function itemsOf<T>(connection: HubConnection, method: string, ...args: unknown[]): Promise<T[]> {
    return new Promise((resolve, reject) => {
      const items: T[] = [];
      connection.stream<T>(method, ...args).subscribe({
        next: (item) => items.push(item),
        complete: () => resolve(items),
        error: reject,
      });
    });
  }

  for (const transport of [
    HttpTransportType.WebSockets,
    HttpTransportType.ServerSentEvents,
    HttpTransportType.LongPolling,
  ]) {
    it(`stream both ways, up only and down only, over ${HttpTransportType[transport]}`, async () => {
      const connection = await connect(transport);
      const sent = [{ n: 1 }, { n: 2 }, { n: 3 }];

      const both = new Subject<object>();
      const echoed = itemsOf<object>(connection, 'StreamingEcho', both, 5);
      for (const item of sent) both.next(item);
      both.complete();
      assert.deepEqual(await echoed, sent);

      const up = new Subject<object>();
      const counted = connection.invoke<number>('Upload', up);
      for (const item of sent) up.next(item);
      up.complete();
      assert.equal(await counted, 3);

      assert.deepEqual(await itemsOf<number>(connection, 'Count', 3, 1), [0, 1, 2]);
    });
  }

  it('stop a stream that nobody wants any more', async () => {
    const connection = await connect(HttpTransportType.WebSockets);
    const items: number[] = [];
    await new Promise<void>((resolve, reject) => {
      const subscription = connection.stream<number>('Count', 1000, 20).subscribe({
        next: (item) => {
          items.push(item);
          if (items.length === 2) {
            subscription.dispose();
            resolve();
          }
        },
        complete: () => undefined,
        error: reject,
      });
    });
    assert.equal(await connection.invoke<number>('Upload', ended()), 0);
    assert.deepEqual(items, [0, 1]);
  });

  it('speak the Measure dialect', async () => {
    const connection = await connect(HttpTransportType.WebSockets, '/measure');
    // Ticks of .NET are above what a JavaScript number holds exactly; this one is a multiple of 128.
    const ticks = 638_000_000_000_000_000;
    const measured = new Promise((resolve) => {
      connection.on('Measure', (...args: unknown[]) => resolve(args));
    });
    await connection.invoke('Echo', ticks, 'payload');
    assert.deepEqual(await measured, [ticks, 'payload']);
    await connection.invoke('JoinGroup', 'g');
    const grouped = new Promise((resolve) => {
      connection.on('Measure', (...args: unknown[]) => resolve(args));
    });
    await connection.invoke('GroupBroadcast', 'g', ticks, 'to the group');
    assert.deepEqual(await grouped, [ticks, 'to the group']);
  });

  it('take their time, one call of a connection after the other', async () => {
    const connection = await connect(HttpTransportType.WebSockets);
    const order: number[] = [];
    connection.on('RecordLatency', ({ n }: { n: number }) => order.push(n));
    await Promise.all([
      connection.invoke('SlowEcho', { n: 1 }, 200),
      connection.invoke('SlowEcho', { n: 2 }, 0),
    ]);
    assert.deepEqual(order, [1, 2]);
  });

  it('end the connection on request', async () => {
    const connection = await connect(HttpTransportType.WebSockets);
    const closed = new Promise((resolve) => connection.onclose(resolve));
    await connection.send('Abort');
    await closed;
  });
});

function ended(): Subject<object> {
  const subject = new Subject<object>();
  // Items may only follow the invocation.
  setTimeout(() => subject.complete(), 10);
  return subject;
}
