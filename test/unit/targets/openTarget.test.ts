import assert from 'node:assert/strict';
import { createServer, type RequestListener, type Server } from 'node:http';
import { ExpectedError } from '../../../src/base/expectedError';
import { serviceConnection, openTarget, isEmbeddedHub } from '../../../src/targets/openTarget';
import { targetContext } from '../../fakes/targetContext';
import { scenarioWith } from '../capacity/scenarios';
import { startBenchHub } from '../../../src/servers/hub/benchHub';
import { upgradeUnasked } from '../../fakes/upgrading';
import { testServers } from '../../fakes/testServers';

describe('serviceConnection', () => {
  it('refuses a host that is none, in words that do not repeat it', () => {
    for (const [name, url] of [
      ['Endpoint', 'http://127.0.0.300:8888'],
      ['Endpoint', 'https://1.2.3.999'],
      ['ClientEndpoint', 'https://xn--a'],
      ['ServerEndpoint', 'http://256.256.256.256/in'],
    ]) {
      const whole = name === 'Endpoint' ? '' : 'Endpoint=https://a.b;';
      assert.throws(
        () => serviceConnection(`${whole}${name}=${url};AccessKey=made-up-for-tests`),
        (error) =>
          error instanceof ExpectedError &&
          error.code === 'connection-string' &&
          error.message === `The ${name} of this connection string has no valid host.`,
      );
    }
  });
});

describe('a hub on a service', () => {
  const value = 'Endpoint=http://localhost:1;AccessKey=made-up-for-tests';
  const context = targetContext();

  for (const [service, path] of [
    ['signalr', '/client/?hub=chat_eu'],
    ['webpubsub', '/client/hubs/Chat_EU'],
  ] as const)
    it(`is called as the service writes it: ${service}`, async () => {
      const target = { kind: 'connectionString', value } as const;
      const entries = [{ name: 'restBroadcast', parameters: {} } as never];
      const scenario = scenarioWith({ service, target, entries, hub: 'Chat_EU' });
      const { endpoint, emulated } = await openTarget(scenario, context);
      assert.equal(emulated, true, 'no service is on this machine');
      assert.deepEqual(endpoint.urls, [`http://localhost:1${path}`]);
      assert.equal(endpoint.service?.hub, service === 'signalr' ? 'chat_eu' : 'Chat_EU');
    });

  it('is no emulator when a tunnel on this machine leads to a service', async () => {
    const opened = async (text: string): Promise<unknown> => {
      const target = {
        kind: 'connectionString',
        value: `${text};AccessKey=made-up-for-tests`,
      } as const;
      const entries = [{ name: 'restBroadcast', parameters: {} } as never];
      return (await openTarget(scenarioWith({ service: 'signalr', target, entries }), context))
        .emulated;
    };
    const real = 'Endpoint=https://mine.service.signalr.net';
    assert.equal(await opened(`${real};ClientEndpoint=http://localhost:1`), undefined);
    assert.equal(await opened(real), undefined);
    assert.equal(await opened('Endpoint=http://127.0.0.1:8888'), true);
  });
});

/** Opens a hub with a token endpoint in a reference. */
async function openWithTokens(value: string): Promise<void> {
  const scenario = scenarioWith({
    ...{ service: 'hub', connections: 2 },
    target: { kind: 'hubUrl', urls: ['http://127.0.0.1:9/hub'] },
    identities: {
      ...{ kind: 'url', url: '${env:T}', method: 'POST', headers: {} },
      ...{ rate: 20, inFlight: 4, timeoutMs: 1000 },
    },
  });
  const target = await openTarget(scenario, targetContext({ T: value }));
  await target.dispose();
}

describe('the URL of a token endpoint', () => {
  it('is bad input where it is none, without what the reference stands for', async () => {
    for (const bad of ['not a url', 'ftp://login.example.com/', 'S3cret'])
      await assert.rejects(openWithTokens(bad), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'identities');
        assert.match(error.message, /the url of identities is no whole URL/);
        return !error.message.includes(bad);
      });
  });
});

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
