import assert from 'node:assert/strict';
import { startBenchHub } from '../../../src/servers/benchHub';
import { hubDialect, probeHub } from '../../../src/wire/probeHub';
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
      assert.equal(probe.methods.length, 11);
      assert.equal(probe.dialect, 'recordLatency');
      assert.ok(probe.connectMs > 0 && probe.connectMs < 5000);
    } finally {
      await hub.dispose();
    }
  });

  it('finds the methods of a hub of the newer contract', async () => {
    const hub = await startBenchHub({ dialect: 'measure' });
    try {
      const probe = await probeHub(endpointOf(hub.url));
      assert.ok(probe.reachable);
      assert.equal(probe.dialect, 'measure');
      assert.deepEqual(
        probe.methods.map(({ name, present }) => (present ? name : `no ${name}`)),
        ['Echo', 'Broadcast', 'SendToConnection', 'GroupBroadcast', 'JoinGroup', 'LeaveGroup'],
      );
      assert.equal(await hubDialect(endpointOf(hub.url)), 'measure');
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

describe('hubDialect', () => {
  it('is recordLatency at a hub that greets', async () => {
    const hub = await startBenchHub();
    try {
      assert.equal(await hubDialect(endpointOf(hub.url)), 'recordLatency');
    } finally {
      await hub.dispose();
    }
  });

  it('is measure at a hub that neither greets nor tells the id', async () => {
    const hub = await startRawHub();
    try {
      const asking = hubDialect(endpointOf(hub.url, { skipNegotiation: true }));
      const peer = await hub.nextPeer();
      const frame = await peer.nextFrame();
      const { invocationId, target } = JSON.parse(frame.payload.toString().slice(0, -1)) as {
        invocationId: string;
        target: string;
      };
      assert.equal(target, 'GetConnectionId');
      peer.socket.write(hubFrame({ type: 3, invocationId, error: 'Method does not exist.' }));
      assert.equal(await asking, 'measure');
    } finally {
      await hub.dispose();
    }
  });

  it('leaves a hub that cannot be reached to the run, which says why', async () => {
    const hub = await startBenchHub();
    await hub.dispose();
    assert.equal(await hubDialect(endpointOf(hub.url)), undefined);
  });
});
