import assert from 'node:assert/strict';
import { withHub } from '../fakes/loadHub';
import { assertExact } from '../load/loadRun';
import { assertBetween } from './assertBetween';
import { measuredRun } from './measuredRun';

/**
 * What the median may read above the 50 ms of the server: requests cost both sides more than frames, which
 * shows on two busy cores; and what leaves while no poll is there waits for the next one.
 */
const extraMs = 5;

for (const transport of ['ServerSentEvents', 'LongPolling'] as const) {
  describe(`latency over ${transport}`, function () {
    this.timeout(60_000);
    const over = { transport, skipNegotiation: false };

    it('reads 50 ms from a server that answers after 50 ms', () =>
      withHub('--delay 50ms', async ({ url }) => {
        const { step, machineMs } = await measuredRun({
          target: url,
          config: { ...over, connections: 10, singleStepDuration: '2s', warmup: '500ms' },
          parameters: { sendingInterval: '125ms' },
        });
        assertExact(step, 160, 160);
        assertBetween('p50', step.latencyUs.p50, 50, 50 + extraMs + machineMs);
        assertBetween('p50 from the send', step.sendLatencyUs.p50, 50, 50 + extraMs + machineMs);
        assert.ok(step.latencyUs.min >= 50_000, `min ${step.latencyUs.min} us`);
      }));

    it('shows a stall of 1 s in a step of 4 s as the schedule has it', () =>
      withHub('--stall 1s@1s', async ({ url }) => {
        const { step, machineMaxMs } = await measuredRun({
          target: url,
          config: {
            ...over,
            connections: 10,
            singleStepDuration: '4s',
            warmup: 0,
            drain: '5s',
          },
          parameters: { sendingInterval: '100ms' },
        });
        assertExact(step, 400, 400);
        assertBetween('p99', step.latencyUs.p99, 750, 1100 + machineMaxMs);
        assertBetween('max', step.latencyUs.max, 750, 1100 + machineMaxMs);
        assertBetween('p50', step.latencyUs.p50, 0, 500 + machineMaxMs);
      }));
  });
}
