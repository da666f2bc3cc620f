import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { startBenchHub } from '../../../src/servers/hub/benchHub';
import { isEmbeddedHub, openTarget } from '../../../src/targets/openTarget';
import { upgradeUnasked } from '../../fakes/upgrading';
import { targetContext } from '../../fakes/targetContext';
import { testServers } from '../../fakes/testServers';
import { scenarioWith } from '../capacity/scenarios';

describe('isEmbeddedHub', () => {
  const listen = testServers();
  const urlOf = async (server: Server): Promise<string> =>
    `http://127.0.0.1:${await listen(server)}/hub`;

  it('knows the embedded hub by its answer, without opening a connection or using up a fault', async () => {
    const hub = await startBenchHub();
    try {
      assert.equal(await isEmbeddedHub(hub.url), true);
      const { counts, connectionCount } = hub;
      assert.deepEqual([connectionCount, counts.refused], [0, 0]);
      const target = { kind: 'hubUrl', urls: [hub.url] } as const;
      const context = targetContext();
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
    for (const answer of [
      (_request, response) => void response.end('mine'),
      (request) => request.socket.destroy(),
      upgradeUnasked,
      () => undefined,
    ] satisfies RequestListener[])
      assert.equal(await isEmbeddedHub(await urlOf(createServer(answer))), false);
  });

  it('asks nobody else', async () => {
    let asked = 0;
    const server = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    const url = await urlOf(server);
    assert.equal(await isEmbeddedHub(url.replace('http:', 'https:')), false);
    assert.equal(await isEmbeddedHub('http://example.invalid/hub'), false);
    assert.equal(asked, 0);
  });
});
