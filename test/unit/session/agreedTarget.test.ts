import assert from 'node:assert/strict';
import { agreedTarget } from '../../../src/session/askTarget';
import type { OpenTarget } from '../../../src/targets/target';
import { redirectHosts } from '../../../src/wire/connect/probeHub';
import { endpointOf } from '../../fakes/endpoint';
import { redirectingHub } from '../../fakes/redirectingHub';

const targetOf = (...urls: string[]): OpenTarget => ({
  kind: 'hubUrl',
  endpoint: endpointOf(urls[0]!, { urls }),
  secrets: [],
  url: urls.join(', '),
  hostsBeyond: [],
  dispose: () => Promise.resolve(),
});

describe('agreedTarget', () => {
  const asked: (readonly string[])[] = [];
  const answer = (agreed: boolean) => (beyond: readonly string[]) => {
    asked.push(beyond);
    return Promise.resolve(agreed);
  };
  beforeEach(() => (asked.length = 0));

  it('asks about the host that a hub on this machine redirects to', async () => {
    const hub = await redirectingHub('http://signalr-prod.example/client/?hub=h');
    try {
      const target = targetOf(hub.url);
      const redirects = await redirectHosts(target.endpoint);
      assert.equal(await agreedTarget(target, answer(false), redirects), undefined);
      assert.equal(await agreedTarget(target, answer(true), redirects), target);
      assert.deepEqual(asked, [['signalr-prod.example'], ['signalr-prod.example']]);
    } finally {
      hub.dispose();
    }
  });

  it('keeps connections on this machine where nobody had to be asked', async () => {
    const target = targetOf('http://localhost:5050/hub');
    const agreed = await agreedTarget(target, answer(true), []);
    assert.equal(agreed?.endpoint.staysOnLoopback, true);
    assert.deepEqual(asked, []);
  });

  it('asks nothing of the embedded hub', async () => {
    const target: OpenTarget = { ...targetOf('http://127.0.0.1:1/h'), kind: 'local' };
    assert.equal(await agreedTarget(target, answer(false), ['a.example']), target);
  });
});
