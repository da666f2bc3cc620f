import assert from 'node:assert/strict';
import { assertConsistent, assertExact, loadRun, onlyStep } from './loadRun';

/** One message of one sender of two. */
const once = { connections: 2, baseSending: 1, step: 0, warmup: 0, skipNegotiation: false };

describe('the largest payloads a file may have', function () {
  for (const [messageSize, config] of [
    ['16MB', { protocol: 'messagepack' }],
    ['16MB', { transport: 'LongPolling' }],
  ] as const)
    it(`are taken by the embedded hub: ${messageSize} ${JSON.stringify(config)}`, async () => {
      const run = await loadRun({
        target: 'local',
        useCase: 'sendToClient',
        parameters: { messageSize, sendingInterval: '500ms' },
        config: { ...once, ...config },
      });
      assert.deepEqual(run.errors, {});
      assertExact(onlyStep(run), 1, 1);
      assert.equal(run.connections.dropped, 0);
      assertConsistent(run);
    });
});
