import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startBenchHub } from '../../../src/servers/hub/benchHub';
import { isEmbeddedHub, openTarget } from '../../../src/targets/openTarget';
import { upgradeUnasked } from '../../fakes/upgrading';
import { scenarioWith } from '../capacity/scenarios';

async function withServer(server: Server, use: (url: string) => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hub`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('isEmbeddedHub', () => {
  it('knows the embedded hub by its answer, without opening a connection or using up a fault', async () => {
    const hub = await startBenchHub();
    try {
      assert.equal(await isEmbeddedHub(hub.url), true);
      const { counts, connectionCount } = hub;
      assert.deepEqual([connectionCount, counts.refused], [0, 0]);
      const target = { kind: 'hubUrl', urls: [hub.url] } as const;
      const context = {
        reference: () => undefined,
        serverScript: 'none',
        readFile: () => Promise.reject(new Error('nothing to read')),
      };
      const opened = await openTarget(scenarioWith({ service: 'hub', target }), context);
      assert.equal(opened.emulated, true);
      const urls = [hub.url, 'https://example.invalid/hub'];
      const mixed = scenarioWith({ service: 'hub', target: { kind: 'hubUrl', urls } });
      assert.equal((await openTarget(mixed, context)).emulated, undefined, 'not all of them');
    } finally {
      await hub.dispose();
    }
  });

  it('takes no other server for it, and gives one up that does not answer', async () => {
    const other = createServer((_request, response) => void response.end('mine'));
    await withServer(other, async (url) => assert.equal(await isEmbeddedHub(url), false));
    const broken = createServer((request) => request.socket.destroy());
    await withServer(broken, async (url) => assert.equal(await isEmbeddedHub(url), false));
    const upgrading = createServer(upgradeUnasked);
    await withServer(upgrading, async (url) => assert.equal(await isEmbeddedHub(url), false));
    const silent = createServer(() => undefined);
    await withServer(silent, async (url) => assert.equal(await isEmbeddedHub(url), false));
  });

  it('asks nobody else', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    await withServer(server, async (url) => {
      assert.equal(await isEmbeddedHub(url.replace('http:', 'https:')), false);
      assert.equal(await isEmbeddedHub('http://example.invalid/hub'), false);
    });
    assert.equal(asked, 0);
  });
});
