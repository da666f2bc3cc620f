import assert from 'node:assert/strict';
import { startBenchHub } from '../../../../src/servers/hub/benchHub';
import { redirectHosts } from '../../../../src/wire/connect/hubRedirects';
import { endpointOf } from '../../../fakes/endpoint';
import { redirectingHub } from '../../../fakes/redirectingHub';

describe('redirectHosts', () => {
  it('names each host beyond this machine once', async () => {
    const hubs = await Promise.all(
      ['https://b.example/x', 'https://b.example/y', 'http://a.example:81'].map(redirectingHub),
    );
    try {
      const urls = hubs.map(({ url }) => url);
      const hosts = await redirectHosts(endpointOf(urls[0]!, { urls }));
      assert.deepEqual(hosts, ['b.example', 'a.example:81']);
      const direct = endpointOf(urls[0]!, { urls, skipNegotiation: true });
      assert.deepEqual(await redirectHosts(direct), []);
    } finally {
      for (const hub of hubs) hub.dispose();
    }
  });

  it('names none of a hub that stays, and of one that is gone', async () => {
    const hub = await startBenchHub();
    assert.deepEqual(await redirectHosts(endpointOf(hub.url)), []);
    await hub.dispose();
    assert.deepEqual(await redirectHosts(endpointOf(hub.url)), []);
  });
});
