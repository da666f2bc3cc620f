import assert from 'node:assert/strict';
import { startBenchHub } from '../../../src/servers/benchHub';
import { probeHub } from '../../../src/wire/probeHub';
import { endpointOf } from '../../fakes/endpoint';
import { hubFrame } from '../../fakes/frames';
import { startRawHub } from '../../fakes/rawHub';

describe('probeHub', () => {
  it('finds the methods and the dialect of the bench hub', async () => {
    const hub = await startBenchHub();
    try {
      const probe = await probeHub(endpointOf(hub.url));
      assert.ok(probe.reachable);
      const absent = probe.methods.filter(({ present }) => !present).map(({ name }) => name);
      assert.deepEqual(absent, []);
      assert.equal(probe.methods.length, 9);
      assert.equal(probe.dialect, 'recordLatency');
      assert.ok(probe.connectMs > 0 && probe.connectMs < 5000);
    } finally {
      await hub.dispose();
    }
  });

  it('tells the class and the reason when the hub cannot be reached', async () => {
    const hub = await startBenchHub();
    await hub.dispose();
    const gone = await probeHub(endpointOf(hub.url));
    assert.ok(!gone.reachable);
    assert.equal(gone.errorClass, 'refused');
  });

  it('tells the class of a wrong path', async () => {
    const hub = await startBenchHub();
    try {
      const wrong = await probeHub(endpointOf(`${hub.url}-not`));
      assert.ok(!wrong.reachable);
      assert.equal(wrong.errorClass, 'notFound');
    } finally {
      await hub.dispose();
    }
  });

  it('ends at once when the hub drops the connection', async () => {
    const hub = await startRawHub();
    try {
      const probing = probeHub(endpointOf(hub.url, { skipNegotiation: true }));
      const peer = await hub.nextPeer();
      await peer.nextFrame();
      peer.socket.end(hubFrame({ type: 7, error: 'bye' }));
      const probe = await probing;
      assert.ok(probe.reachable);
      assert.equal(probe.dialect, undefined);
      assert.ok(probe.methods.every(({ present, detail }) => !present && detail !== undefined));
    } finally {
      await hub.dispose();
    }
  });
});
