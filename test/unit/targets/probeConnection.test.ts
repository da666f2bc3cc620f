import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startAzureSignalr } from '../../../src/servers/azureSignalr/serviceEmulator';
import { listenOnLoopback } from '../../../src/servers/http/loopbackServer';
import { startWebPubSubEmulator } from '../../../src/servers/webpubsub/webPubSubEmulator';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { probeTargetOf } from '../../../src/targets/openTarget';
import { targetContext } from '../../fakes/targetContext';
import type { ServiceProbe, TargetContext } from '../../../src/targets/target';

const probe = (
  text: string,
  values: Record<string, string> = {},
  { service = '', ...change }: Partial<TargetContext> & { readonly service?: string } = {},
): Promise<ServiceProbe | undefined> => {
  const overrides = [
    { path: 'config.target', value: text },
    ...(service === '' ? [] : [{ path: 'config.service', value: service }]),
  ];
  const { scenario } = parseScenario('mode: simple\n', { overrides });
  return probeTargetOf(scenario!, targetContext(values, change));
};
const wrongKey = 'a-key-that-nobody-else-has';

describe('probeTargetOf', () => {
  for (const [name, start] of [
    ['Azure SignalR Service', () => startAzureSignalr({ port: 0 })],
    ['Azure Web PubSub', () => startWebPubSubEmulator({ port: 0 })],
  ] as const) {
    it(`reports whether ${name} accepts the key, and repeats no key`, async () => {
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

  it('says of a 403 what keeps a good key out', async () => {
    const server = createServer(({ url }, response) => {
      response.writeHead(url?.startsWith('/api/health') === true ? 200 : 403).end();
    });
    const port = await listenOnLoopback(server, 0);
    const refused = await probe(`Endpoint=http://127.0.0.1;Port=${port};AccessKey=${wrongKey}`);
    server.close();
    assert.ok(refused?.reachable === false);
    assert.equal(refused.errorClass, 'unauthorized');
    assert.match(refused.message, /403: its access keys are disabled .* network access rules/);
  });

  it('starts the emulator of a service, asks it, and ends it', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
    const emulator = await startWebPubSubEmulator({ port: 0 });
    try {
      const { connectionString } = emulator;
      const serverScript = path.join(folder, 'server.cjs');
      const ended = path.join(folder, 'ended');
      const end = `require('fs').writeFileSync(${JSON.stringify(ended)}, ''); process.exit(0);`;
      await writeFile(
        serverScript,
        `if (process.argv[3] !== 'web-pubsub') process.exit(1);
        console.log(${JSON.stringify(JSON.stringify({ connectionString }))});
        process.stdin.resume().on('end', () => { ${end} });`,
      );
      const asked = (service: string): Promise<ServiceProbe | undefined> =>
        probe('local', {}, { serverScript, service });
      assert.equal((await asked('webpubsub'))?.reachable, true);
      assert.ok(existsSync(ended));
      await assert.rejects(asked('signalr'), { code: 'local-hub' });
      assert.equal(await asked('hub'), undefined);
    } finally {
      await emulator.dispose();
      await rm(folder, { recursive: true });
    }
  });

  it('reports a server that is no service, and one that is not there', async () => {
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

  it('lets in an identity that a key is lent to, and says when it may not make REST calls', async () => {
    /** Who knows the way to the key is Azure SignalR Service; the rest is answered as given. */
    const statuses = { key: 200, group: 403 };
    const server = createServer(({ url = '' }, response) => {
      const isKey = url.startsWith('/api/v1/auth/accessKey');
      const status = url.startsWith('/api/health') ? 200 : statuses[isKey ? 'key' : 'group'];
      response.writeHead(status).end(isKey ? '{"KeyId":"k","AccessKey":"lent"}' : undefined);
    });
    const port = await listenOnLoopback(server, 0);
    const ask = async (): Promise<object> => {
      const found = await probe(
        `Endpoint=http://127.0.0.1;Port=${port};AuthType=azure;Version=1.0;`,
        {},
        { editorAccount: () => Promise.resolve({ token: 'of somebody', expiresAtMs: Infinity }) },
      );
      return { ...found, connectMs: 0 };
    };
    const found = {
      url: `http://127.0.0.1:${port}`,
      reachable: true,
      signedIn: true,
      connectMs: 0,
    };
    try {
      assert.deepEqual(await ask(), { ...found, missingRestRole: 'SignalR Service Owner' });
      statuses.group = 404;
      assert.deepEqual(await ask(), found);
      statuses.group = 500;
      assert.equal(((await ask()) as ServiceProbe).reachable, false);
      statuses.key = 403;
      await assert.rejects(ask(), { code: 'sign-in', message: /role SignalR App Server \(or/ });
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('leaves hub URLs alone, and names what is missing', async () => {
    assert.equal(await probe('http://localhost:5050/hub'), undefined);
    assert.equal(await probe('${env:HUB}', { HUB: 'http://localhost:5050/hub' }), undefined);
    await assert.rejects(probe('${env:HUB}'), /environment variable HUB/);
    await assert.rejects(
      probe('${env:CONNECTION}', {
        CONNECTION: 'Endpoint=https://x.service.signalr.net;Version=1.0',
      }),
      /no AccessKey/,
    );
  });
});
