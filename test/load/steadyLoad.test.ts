import assert from 'node:assert/strict';
import { withHubHere } from '../fakes/loadHub';
import { testBadTargets } from './badTargets';
import { testEndings } from './endings';
import { assertConsistent, loadRun, onlyStep, type LoadResult } from './loadRun';

describe('a thousand connections, and other runs beside them', function () {
  // Of this run only the counts are judged and of the others nothing that a busy machine changes, so
  // they need not wait for each other.
  let steady: Promise<LoadResult>;

  before('the load begins', () => {
    steady = withHubHere('', ({ url }) =>
      loadRun({
        target: url,
        config: { connections: 1000, arrivingRate: 500, singleStepDuration: '2s', warmup: '1s' },
        parameters: { sendingInterval: '1s', messageSize: 2048 },
      }),
    );
    // A failure is for the test that waits for it.
    steady.catch(() => undefined);
  });

  testBadTargets();
  testEndings();

  describe('the load of a thousand connections', () => {
    it('is what was offered, one message a second each, over the whole step', async () => {
      const run = await steady;
      const step = onlyStep(run);
      assert.equal(run.connections.connected, 1000);
      assert.equal(step.seconds, 2);
      assert.ok(Math.abs(step.offered - 2000) <= 2, `${step.offered} offered`);
      assert.ok(step.sent <= step.offered && step.sent >= step.offered - 2, `${step.sent} sent`);
      assert.equal(step.received, step.sent);
      assert.equal(step.payloadBytesIn, step.sent * 2048);
      assert.equal(step.payloadBytesOut, step.received * 2048);
      assert.ok(Number(step.wireBytesIn) > step.payloadBytesIn, `${step.wireBytesIn} bytes in`);
      assert.ok(Number(step.wireBytesOut) > step.payloadBytesOut, `${step.wireBytesOut} bytes out`);
      assertConsistent(run);
    });
  });
});
