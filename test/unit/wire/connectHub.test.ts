import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ConnectFailure, mayRetry } from '../../../src/wire/connectFailure';
import { connectHub, type ConnectContext } from '../../../src/wire/connectHub';
import type { Endpoint } from '../../../src/wire/endpoint';
import { negotiateAgents } from '../../../src/wire/negotiate';
import { sdkOpener } from '../../../src/wire/sdk/sdkConnection';
import { endpointOf } from '../../fakes/endpoint';
import { RecordingListener } from '../../fakes/recordingListener';

const transferFormats = ['Text', 'Binary'];
const admitted = JSON.stringify({
  ...{ negotiateVersion: 1, connectionId: 'c', connectionToken: 't' },
  availableTransports: ['WebSockets', 'ServerSentEvents', 'LongPolling'].map((transport) => ({
    ...{ transport, transferFormats },
  })),
});

describe('a hub that does not know the connection', () => {
  let server: Server;
  /** What negotiate is answered with. */
  let status: number;

  beforeEach(async () => {
    server = createServer(({ url = '' }, response) => {
      const isNegotiate = url.startsWith('/hub/negotiate');
      response.writeHead(isNegotiate ? status : 404).end(isNegotiate ? admitted : '');
    });
    server.on('upgrade', (_, socket) => {
      socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    status = 200;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  /** Why it cannot be connected to. */
  async function failure(changes: Partial<Endpoint>): Promise<ConnectFailure> {
    const { port } = server.address() as AddressInfo;
    const endpoint = endpointOf(`http://127.0.0.1:${port}/hub`, changes);
    const context: ConnectContext = {
      ...{ endpoint, agents: negotiateAgents(endpoint, 1), listener: new RecordingListener() },
      options: { maximumMessageBytes: 1e6, maximumUnsentBytes: 1e6 },
      ...(endpoint.driver === 'sdk' && { open: sdkOpener(endpoint) }),
    };
    const found: unknown = await connectHub(0, context, AbortSignal.timeout(5000)).catch(
      (error: unknown) => error,
    );
    assert.ok(found instanceof ConnectFailure && found.errorClass === 'notFound', String(found));
    return found;
  }

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
