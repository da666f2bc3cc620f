import assert from 'node:assert/strict';
import { openTarget } from '../../../src/targets/openTarget';
import { targetContext } from '../../fakes/targetContext';
import { scenarioWith } from '../capacity/scenarios';

/** Opens a hub with a token endpoint in a reference. */
async function open(value: string): Promise<void> {
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
      await assert.rejects(open(bad), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'identities');
        assert.match(error.message, /the url of identities is no whole URL/);
        return !error.message.includes(bad);
      });
  });
});
