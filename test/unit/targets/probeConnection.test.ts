import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { startAzureSignalr } from '../../../src/servers/azureSignalr/startAzureSignalr';
import { listenOnLoopback } from '../../../src/servers/loopbackServer';
import { startWebPubSubEmulator } from '../../../src/servers/webpubsub/webPubSubEmulator';
import { probeConnection } from '../../../src/targets/probeConnection';
import type { ServiceProbe } from '../../../src/targets/probeService';

const probe = (
  text: string,
  values: Record<string, string> = {},
): Promise<ServiceProbe | undefined> =>
  probeConnection(text, {
    reference: (_kind, name) => values[name],
    serverScript: 'none',
    readFile: () => Promise.reject(new Error('nothing to read')),
  });
const wrongKey = 'a-key-that-nobody-else-has';

describe('probeConnection', () => {
  for (const [name, start] of [
    ['Azure SignalR Service', () => startAzureSignalr({ port: 0 })],
    ['Azure Web PubSub', () => startWebPubSubEmulator({ port: 0 })],
  ] as const) {
    it(`tells whether ${name} takes the key, and repeats no key`, async () => {
      const emulator = await start();
      const { connectionString } = emulator;
      try {
        const found = await probe('${env:SERVICE}', { SERVICE: connectionString });
        assert.equal(found?.reachable, true);
        assert.match(found.url, /^http:\/\/127\.0\.0\.1:\d+$/);
        const other = connectionString.replace(/AccessKey=[^;]*/, `AccessKey=${wrongKey}`);
        const refused = await probe(other);
        assert.ok(refused?.reachable === false);
        assert.equal(refused.errorClass, 'unauthorized');
        assert.ok(!JSON.stringify(refused).includes(wrongKey));
      } finally {
        await emulator.dispose();
      }
    });
  }

  it('tells a server that is no service, and one that is not there', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(404).end();
    });
    const port = await listenOnLoopback(server, 0);
    const text = `Endpoint=http://127.0.0.1:${port};AccessKey=${wrongKey};Version=1.0;`;
    const other = await probe(text);
    assert.ok(other?.reachable === false);
    assert.deepEqual(
      [other.errorClass, other.message],
      ['notFound', 'it answers, but not as Azure SignalR Service or Azure Web PubSub'],
    );
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const gone = await probe(text);
    assert.ok(gone?.reachable === false && gone.errorClass === 'refused');
  });

  it('leaves hub URLs alone, and names what is missing', async () => {
    assert.equal(await probe('http://localhost:5050/hub'), undefined);
    assert.equal(await probe('${env:HUB}', { HUB: 'http://localhost:5050/hub' }), undefined);
    await assert.rejects(probe('${env:HUB}'), /environment variable HUB/);
    await assert.rejects(
      probe('Endpoint=https://x.service.signalr.net;Version=1.0'),
      /no AccessKey/,
    );
  });
});
