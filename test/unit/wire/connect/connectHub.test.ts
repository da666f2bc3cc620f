import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { ConnectFailure, mayRetry } from '../../../../src/wire/connectFailure';
import { connectHub, type ConnectContext } from '../../../../src/wire/connect/connectHub';
import type { Endpoint } from '../../../../src/base/endpoint';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { sdkOpener } from '../../../../src/wire/sdk/sdkConnection';
import { endpointOf } from '../../../fakes/endpoint';
import { RecordingListener } from '../../../fakes/recordingListener';
import { testServers } from '../../../fakes/testServers';

const transferFormats = ['Text', 'Binary'];
const admitted = JSON.stringify({
  ...{ negotiateVersion: 1, connectionId: 'c', connectionToken: 't' },
  availableTransports: ['WebSockets', 'ServerSentEvents', 'LongPolling'].map((transport) => ({
    ...{ transport, transferFormats },
  })),
});

describe('a hub that does not know the connection', () => {
  const listen = testServers();
  let port: number;
  /** What negotiate is answered with. */
  let status: number;
  /** User in the headers and room in the query of each request. */
  let named: string[];
  const note = ({ url = '', headers }: IncomingMessage): void => {
    const room = new URL(url, 'http://localhost').searchParams.get('room') ?? '';
    named.push(`${String(headers['x-user'])} ${room}`);
  };

  beforeEach(async () => {
    const server = createServer((request, response) => {
      note(request);
      const { url = '' } = request;
      const isNegotiate = url.startsWith('/hub/negotiate');
      response.writeHead(isNegotiate ? status : 404).end(isNegotiate ? admitted : '');
    });
    server.on('upgrade', (request, socket) => {
      note(request);
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    port = await listen(server);
    status = 200;
    named = [];
  });

  /** Why it cannot be connected to. */
  async function failure(changes: Partial<Endpoint>, index = 0): Promise<ConnectFailure> {
    const endpoint = endpointOf(`http://127.0.0.1:${port}/hub`, changes);
    const context: ConnectContext = {
      ...{ endpoint, agents: new SocketAgents(endpoint, 1), listener: new RecordingListener() },
      options: { maximumMessageBytes: 1e6, maximumUnsentBytes: 1e6 },
      ...(endpoint.driver === 'sdk' && { open: sdkOpener(endpoint) }),
    };
    const found: unknown = await connectHub(index, context, new AbortController().signal).catch(
      (error: unknown) => error,
    );
    assert.ok(found instanceof ConnectFailure && found.errorClass === 'notFound', String(found));
    return found;
  }

  it('gets the number of the connection, where headers and query have it, over every way', async () => {
    const number = { name: 'senderIndex' } as const;
    const personal = {
      headers: { 'X-User': ['user-', number, '-', number] },
      query: { room: [number] },
    };
    for (const driver of [undefined, 'sdk'] as const)
      for (const transport of [undefined, 'ServerSentEvents', 'LongPolling'] as const)
        for (const skipNegotiation of transport === undefined ? [false, true] : [false]) {
          named = [];
          const way = { ...(driver && { driver }), ...(transport && { transport }) };
          await failure({ ...way, skipNegotiation, personal }, 12);
          const requests = named.length;
          assert.ok(requests >= (skipNegotiation ? 1 : 2), JSON.stringify(way));
          assert.deepEqual(named, Array<string>(requests).fill('user-12-12 12'));
        }
  });

  const ways: readonly Partial<Endpoint>[] = [
    {},
    { transport: 'ServerSentEvents' },
    { transport: 'LongPolling' },
  ];
  for (const driver of [undefined, 'sdk'] as const)
    for (const way of ways)
      it(`is asked again after a negotiate, not about one: ${driver ?? 'native'} ${way.transport ?? 'WebSockets'}`, async () => {
        const endpoint = { ...way, ...(driver !== undefined && { driver }) };
        assert.equal(mayRetry(await failure(endpoint)), true);
        status = 404;
        assert.equal(mayRetry(await failure(endpoint)), false);
        if (way.transport !== undefined) return;
        assert.equal(mayRetry(await failure({ ...endpoint, skipNegotiation: true })), false);
      });
});
