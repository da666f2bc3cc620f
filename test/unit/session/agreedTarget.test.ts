import assert from 'node:assert/strict';
import { agreedTarget } from '../../../src/session/askTarget';
import type { RemoteLoad, OpenTarget } from '../../../src/targets/target';
import { redirectHosts } from '../../../src/wire/connect/probeHub';
import { endpointOf } from '../../fakes/endpoint';
import { redirectingHub } from '../../fakes/redirectingHub';

const targetOf = (beyond: readonly string[], ...urls: string[]): OpenTarget => ({
  kind: 'hubUrl',
  endpoint: endpointOf(urls[0]!, { urls }),
  secrets: [],
  url: urls.join(', '),
  hostsBeyond: beyond,
  dispose: () => Promise.resolve(),
});

describe('agreedTarget', () => {
  const asked: RemoteLoad[] = [];
  const answer = (agreed: boolean) => (beyond: RemoteLoad) => {
    asked.push(beyond);
    return Promise.resolve(agreed);
  };
  beforeEach(() => (asked.length = 0));

  it('asks about the host that a hub on this machine redirects to', async () => {
    const hub = await redirectingHub('http://signalr-prod.example/client/?hub=h');
    try {
      const target = targetOf([], hub.url);
      const redirects = await redirectHosts(target.endpoint);
      assert.equal(await agreedTarget(target, answer(false), redirects), undefined);
      assert.equal(await agreedTarget(target, answer(true), redirects), target);
      const beyond = { hosts: ['signalr-prod.example'], url: hub.url, redirected: true };
      assert.deepEqual(asked, [beyond, beyond]);
    } finally {
      hub.dispose();
    }
  });

  it('keeps connections on this machine where nobody had to be asked', async () => {
    const target = targetOf([], 'http://localhost:5050/hub');
    const agreed = await agreedTarget(target, answer(true), []);
    assert.equal(agreed?.endpoint.staysOnLoopback, true);
    assert.deepEqual(asked, []);
  });

  it('asks about the hosts that get load, whatever the URLs of negotiations', async () => {
    const target = targetOf(['a.example', 'b.example'], 'http://localhost/h');
    const agreed = await agreedTarget(target, answer(true), []);
    assert.equal(agreed, target);
    assert.deepEqual(asked[0]?.hosts, ['a.example', 'b.example']);
  });

  it('asks nothing of the embedded hub', async () => {
    const target: OpenTarget = { ...targetOf([], 'http://127.0.0.1:1/h'), kind: 'local' };
    assert.equal(await agreedTarget(target, answer(false), ['a.example']), target);
  });
});
