import assert from 'node:assert/strict';
import {
  HttpTransportType,
  HubConnectionBuilder,
  LogLevel,
  Subject,
  type HubConnection,
} from '@microsoft/signalr';
import { sharedAspNetServer } from './aspnetServer';

/** The streams and the other contract; the engine's own tests use the rest. */
describe('the hubs that people are given, in ASP.NET Core, with the official client', function () {
  const server = sharedAspNetServer();
  const connections: HubConnection[] = [];

  afterEach(() => Promise.all(connections.splice(0).map((connection) => connection.stop())));

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
      const counted = connection.invoke<number>('StreamingUpload', up);
      for (const item of sent) up.next(item);
      up.complete();
      assert.equal(await counted, 3);

      assert.deepEqual(await itemsOf(connection, 'StreamingDownload', { n: 1 }, 3, 1), numbered(3));
    });
  }

  it('stop a stream that nobody wants any more', async () => {
    const connection = await connect(HttpTransportType.WebSockets);
    const items: object[] = [];
    await new Promise<void>((resolve, reject) => {
      const download = connection.stream<object>('StreamingDownload', { n: 1 }, 1000, 20);
      const subscription = download.subscribe({
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
    assert.equal(await connection.invoke<number>('StreamingUpload', ended()), 0);
    assert.deepEqual(items, numbered(2));
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
});

/** What `StreamingDownload` makes of `{ n: 1 }`. */
const numbered = (count: number): object[] =>
  Array.from({ length: count }, (_, number) => ({ 'bench.Item': `0000000${number}`, n: 1 }));

function ended(): Subject<object> {
  const subject = new Subject<object>();
  // Items may only follow the invocation.
  setTimeout(() => subject.complete(), 10);
  return subject;
}
