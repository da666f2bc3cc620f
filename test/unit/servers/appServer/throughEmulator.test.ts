import assert from 'node:assert/strict';
import {
  HttpTransportType,
  HubConnectionBuilder,
  LogLevel,
  Subject,
  type HubConnection,
} from '@microsoft/signalr';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import { decodeProtectedHeader } from 'jose';
import { startAppServer, type AppServer } from '../../../../src/servers/appServer/appServer';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../../../src/servers/azureSignalr/serviceEmulator';
import { until } from '../../../fakes/until';
import { ServiceFaults } from '../../../fakes/serviceFaults';

type Payload = Readonly<Record<string, string>>;

/** An official client that has negotiated with an app server, and what it was called with. */
interface Client {
  readonly connection: HubConnection;
  readonly latencies: Payload[];
  readonly callbacks: string[];
}

const kinds = [
  [HttpTransportType.WebSockets, 'json'],
  [HttpTransportType.WebSockets, 'messagepack'],
  [HttpTransportType.ServerSentEvents, 'json'],
  [HttpTransportType.LongPolling, 'messagepack'],
] as const;

function placeOf({ connectionString }: AzureSignalr) {
  const [, audience = '', port = '', accessKey = ''] =
    /^Endpoint=([^;]+);Port=([0-9]+);AccessKey=([^;]+)/.exec(connectionString) ?? [];
  const origin = `${audience}:${port}`;
  return { place: { audience, clientEndpoint: origin, serverEndpoint: origin }, accessKey };
}

describe('app server behind the emulator', () => {
  let service: AzureSignalr;
  let servers: AppServer[] = [];
  let clients: Client[] = [];

  beforeEach(async () => {
    service = await startAzureSignalr();
    servers = await Promise.all([1, 2].map(() => start()));
  });
  afterEach(async () => {
    await Promise.all(clients.map(({ connection }) => connection.stop()));
    clients = [];
    await Promise.all(servers.map((server) => server.dispose()));
    await service.dispose();
  });

  function start(): Promise<AppServer> {
    const { place, accessKey } = placeOf(service);
    const instance = { ...place, accessKey };
    return startAppServer({ service: instance, hub: 'Bench', serverConnections: 3 });
  }

  async function client(
    server: AppServer,
    [transport, protocol]: (typeof kinds)[number] = kinds[0],
  ): Promise<Client> {
    const builder = new HubConnectionBuilder()
      .withUrl(server.url, { transport })
      .configureLogging(LogLevel.None);
    if (protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol());
    const connection = builder.build();
    const made: Client = { connection, latencies: [], callbacks: [] };
    connection.on('RecordLatency', (payload: Payload) => made.latencies.push(payload));
    for (const name of ['OnConnected', 'JoinGroup', 'LeaveGroup'])
      connection.on(name, () => made.callbacks.push(name));
    clients.push(made);
    await connection.start();
    return made;
  }

  it('serves the whole hub contract over all transports and both protocols', async () => {
    const all: Client[] = [];
    for (const [index, kind] of kinds.entries()) all.push(await client(servers[index % 2]!, kind));
    for (const [index, { connection, latencies }] of all.entries()) {
      await connection.invoke('Echo', { 'payload.MessageBlob': `echo ${index}` });
      await until('the echo', () => latencies.length === 1);
      assert.deepEqual(latencies, [{ 'payload.MessageBlob': `echo ${index}` }]);
    }
    await all[1]!.connection.invoke('Broadcast', { 'payload.MessageBlob': 'to all' });
    const ids = await Promise.all(
      all.map(({ connection }) => connection.invoke<string>('GetConnectionId')),
    );
    const toThird = { 'information.ConnectionId': ids[2]!, 'payload.MessageBlob': 'to one' };
    await all[3]!.connection.invoke('SendToClient', toThird);
    await Promise.all([0, 3].map((index) => all[index]!.connection.invoke('JoinGroup', 'g')));
    const toGroup = { 'information.GroupName': 'g', 'payload.MessageBlob': 'to group' };
    await all[2]!.connection.invoke('SendToGroup', toGroup);
    await all[3]!.connection.invoke('LeaveGroup', 'g');
    await all[2]!.connection.invoke('SendToGroup', toGroup);
    const blobs = [
      ['echo 0', 'to all', 'to group', 'to group'],
      ['echo 1', 'to all'],
      ['echo 2', 'to all', 'to one'],
      ['echo 3', 'to all', 'to group'],
    ];
    await until('all deliveries', () =>
      all.every(({ latencies }, index) => latencies.length >= blobs[index]!.length),
    );
    assert.deepEqual(
      all.map(({ latencies }) => latencies.map((each) => each['payload.MessageBlob'])),
      blobs,
    );
    assert.deepEqual(all[3]!.callbacks, ['OnConnected', 'JoinGroup', 'LeaveGroup']);
    await assert.rejects(
      all[0]!.connection.invoke('NoSuchMethod'),
      /HubException: Method does not exist/,
    );
  });

  it('comes in by a sign-in, and makes its tokens with what was renewed', async () => {
    const shown: string[] = [];
    const own = await startAzureSignalr({
      signIns: (token) => {
        shown.push(token);
        return token === 'poor' ? 'forbidden' : 'accepted';
      },
    });
    const startWith = (bearer: string, id: string): Promise<AppServer> => {
      const service = { ...placeOf(own).place, bearer, signingKey: { id, text: id } };
      return startAppServer({ service, hub: 'Bench', serverConnections: 1, backOffMs: 10 });
    };
    try {
      await assert.rejects(startWith('poor', 'k1'), /403\. Assign the role SignalR App Server/);
      const server = await startWith('first', 'k1');
      try {
        const kid = async (): Promise<string | undefined> => {
          const answer = await fetch(`${server.url}/negotiate`, { method: 'POST' });
          const { accessToken } = (await answer.json()) as { accessToken: string };
          return decodeProtectedHeader(accessToken).kid;
        };
        assert.equal(await kid(), 'k1');
        server.renew({ bearer: 'second', signingKey: { id: 'k2', text: 'k2' } });
        assert.equal(await kid(), 'k2');
        new ServiceFaults(own).closeServers('bench');
        await until('a connection with the new token', () => shown.includes('second'));
      } finally {
        await server.dispose();
      }
    } finally {
      await own.dispose();
    }
  });

  it('streams, and serves clients of a server that goes away no more', async () => {
    const [first, second] = [await client(servers[0]!), await client(servers[1]!)];
    const upload = new Subject<Payload>();
    const items: Payload[] = [];
    const streamed = new Promise<void>((complete, error) => {
      const next = (item: Payload): number => items.push(item);
      first.connection
        .stream<Payload>('StreamingEcho', 0, upload)
        .subscribe({ next, complete, error });
    });
    for (let index = 0; index < 5; index++) upload.next({ 'payload.MessageBlob': String(index) });
    upload.complete();
    await streamed;
    assert.deepEqual(
      items.map((each) => each['payload.MessageBlob']),
      ['0', '1', '2', '3', '4'],
    );
    const total = servers[0]!.counts.clients + servers[1]!.counts.clients;
    assert.equal(total, 2);
    // The service chooses the app server: whose clients these are says only the count.
    const closed: Promise<unknown>[] = [first, second].map(
      ({ connection }) => new Promise((resolve) => connection.onclose(resolve)),
    );
    await Promise.all(servers.map((server) => server.dispose()));
    await Promise.all(closed);
  });
});
