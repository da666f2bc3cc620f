import { withHub } from '../fakes/loadHub';
import { assertExact } from '../load/loadRun';
import { assertBetween } from './assertBetween';
import { measuredRun } from './measuredRun';

for (const transport of ['ServerSentEvents', 'LongPolling'] as const) {
  describe(`latency over ${transport}`, function () {
    this.timeout(60_000);
    const over = { transport, skipNegotiation: false };

    it('shows a stall of 1 s in a step of 4 s as the schedule has it', () =>
      withHub('--stall 1s@2s', async ({ url }) => {
        const { step, reference } = await measuredRun({
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
        assertBetween('p99', step.latencyUs.p99, 750, reference.maxMs + 100);
        assertBetween('max', step.latencyUs.max, 750, reference.maxMs + 100);
        assertBetween('p50', step.latencyUs.p50, 0, reference.p50Ms + 250);
      }));
  });
}
