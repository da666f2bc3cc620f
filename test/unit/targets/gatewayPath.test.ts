import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { decodeJwt } from 'jose';
import { listenOnLoopback } from '../../../src/servers/http/loopbackServer';
import { serviceConnection, openTarget } from '../../../src/targets/openTarget';
import { probeService } from '../../../src/targets/service/openService';
import { targetContext } from '../../fakes/targetContext';
import { scenarioWith } from '../capacity/scenarios';

const context = targetContext();
const parts = 'Endpoint=http://localhost:1;AccessKey=made-up-for-tests;Version=1.0;';

describe('a gateway below a path', () => {
  for (const [service, path] of [
    ['signalr', '/client/?hub=chat'],
    ['webpubsub', '/client/hubs/chat'],
  ] as const)
    it(`is where clients go: ${service}`, async () => {
      const value = `${parts}ClientEndpoint=http://localhost:2/in/;ServerEndpoint=http://localhost:3/out`;
      const target = { kind: 'connectionString', value } as const;
      const entries = [{ name: 'restBroadcast', parameters: {} } as never];
      const scenario = scenarioWith({ service, target, entries, hub: 'chat' });
      const { endpoint, url } = await openTarget(scenario, context);
      assert.deepEqual(endpoint.urls, [`http://localhost:2/in${path}`]);
      assert.equal(url, 'http://localhost:2/in (hub chat)');
      assert.equal(endpoint.service?.restUrl, 'http://localhost:3/out');
    });

  it('is where REST calls go, with tokens for the service behind it', async () => {
    const calls: unknown[] = [];
    const server = createServer(({ url = '', headers }, response) => {
      const token = headers.authorization?.replace('Bearer ', '') ?? '';
      calls.push([url.split('?')[0], decodeJwt(token).aud]);
      response.writeHead(200).end();
    });
    const port = await listenOnLoopback(server, 0);
    const gateway = serviceConnection(`${parts}ServerEndpoint=http://127.0.0.1:${port}/out/`);
    const { reachable } = await probeService(gateway, context);
    server.close();
    assert.ok(reachable);
    const group = '/api/hubs/signalrbench/groups/signalr-bench-doctor';
    assert.deepEqual(calls, [
      ['/out/api/health', 'http://localhost/api/health'],
      [`/out${group}`, `http://localhost${group}`],
    ]);
  });
});
