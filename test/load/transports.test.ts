import assert from 'node:assert/strict';
import { withHubHere } from '../fakes/loadHub';
import { assertConsistent, assertExact, loadRun, onlyStep } from './loadRun';

describe('load in MessagePack over LongPolling', () => {
  it('counts payloads of bytes in sizes of a list exactly', () =>
    withHubHere('', async ({ url }) => {
      const run = await loadRun({
        target: url,
        useCase: 'sendToGroup',
        parameters: { groupCount: 3, payload: 'binary', messageSizes: '256B 50%, 4KB 50%' },
        workers: 2,
        config: { transport: 'LongPolling', protocol: 'messagepack', skipNegotiation: false },
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, {});
      assertExact(onlyStep(run), 200, (7 * 7 + 7 * 7 + 6 * 6) * 10);
      assertConsistent(run);
    }));
});

describe('load over HTTP', () => {
  it('keeps order and offers all where sends are faster than answers', () =>
    withHubHere('--delay 20ms', async ({ url }) => {
      const run = await loadRun({
        target: url,
        config: {
          ...{ transport: 'ServerSentEvents', skipNegotiation: false },
          ...{ connections: 5, singleStepDuration: '500ms' },
        },
        parameters: { sendingInterval: '2ms' },
      });
      assertExact(onlyStep(run), 1250, 1250);
    }));

  it('says why the hub closed a connection', () =>
    withHubHere('--close-after 5', async ({ url }) => {
      const over = { transport: 'LongPolling', skipNegotiation: false };
      const config = { ...over, warmup: 0, singleStepDuration: '30s' };
      const run = await loadRun({ target: url, config });
      assert.equal(run.ending, 'targetLost');
      assert.deepEqual(run.errors, { closed: 20 });
      assert.match(run.errorExamples[0]!.text, /Closed on purpose after 5/);
      assertConsistent(run);
    }));
});
