import assert from 'node:assert/strict';
import { openTarget } from '../../../src/targets/openTarget';
import type { RemoteLoad } from '../../../src/targets/target';
import { scenarioWith } from '../capacity/scenarios';

/** Opens a service with a token endpoint in a reference, and says what was asked before. */
async function opened(value: string, written = '${env:T}'): Promise<readonly RemoteLoad[]> {
  const asked: RemoteLoad[] = [];
  const scenario = scenarioWith({
    ...{ service: 'hub', connections: 2 },
    target: { kind: 'hubUrl', urls: ['http://127.0.0.1:9/hub'] },
    identities: {
      ...{ kind: 'url', url: written, method: 'POST', headers: {} },
      ...{ perSecond: 20, inFlight: 4, timeoutMs: 1000 },
    },
  });
  const target = await openTarget(scenario, {
    reference: () => value,
    serverScript: '',
    readFile: () => Promise.resolve(''),
    agree: (beyond) => {
      asked.push(beyond);
      return Promise.resolve(true);
    },
  });
  await target.dispose();
  return [
    ...asked,
    ...(target.hostsBeyond.length > 0
      ? [{ hosts: target.hostsBeyond, url: target.url, redirected: false }]
      : []),
  ];
}

describe('the URL of a token endpoint', () => {
  it('is asked about with its references filled in', async () => {
    const remote = await opened('https://login.example.com/token');
    assert.deepEqual(
      remote.map(({ hosts }) => hosts),
      [['login.example.com']],
    );
    assert.deepEqual(await opened('http://127.0.0.1:9/token'), []);
    const parts = await opened(
      'login.example.com',
      'https://${env:H}/of/{sender}?id={senderIndex}',
    );
    assert.deepEqual(
      parts.map(({ hosts }) => hosts),
      [['login.example.com']],
    );
  });

  it('is bad input where it is none, without what the reference stands for', async () => {
    for (const bad of ['not a url', 'ftp://login.example.com/', 'S3cret'])
      await assert.rejects(opened(bad), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'identities');
        assert.match(error.message, /the url of identities is no whole URL/);
        return !error.message.includes(bad);
      });
  });
});
