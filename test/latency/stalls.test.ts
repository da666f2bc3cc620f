import assert from 'node:assert/strict';
import { withHub } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { assertExact } from '../load/loadRun';
import { assertBetween } from './assertBetween';
import { measuredRun } from './measuredRun';

describe('the latency of messages that have to wait', function () {
  // Each has a hub and a reference of its own, and waits far more than it works.
  const beside = sideBySide();

  for (const transport of ['Websockets', 'ServerSentEvents', 'LongPolling'] as const)
    beside(`shows a stall of 1 s in a step of 6 s as the schedule has it: ${transport}`, () =>
      // Counted from the first message of the reference: the run may take a while until it measures.
      withHub('--stall 1s@4s', async ({ url }) => {
        const { run, step, reference } = await measuredRun({
          target: url,
          config: {
            ...{ transport, skipNegotiation: false, connections: 10 },
            ...{ singleStepDuration: '6s', warmup: 0, drain: '5s' },
          },
          parameters: { sendingInterval: '100ms' },
          slo: { p99: '500ms' },
        });
        // Nothing is lost: what was sent meanwhile waits in the server.
        assertExact(step, 600, 600);
        // A thread and a process may each be held up in other moments.
        const mostMs = reference.maxMs + 250;
        assertBetween('p99', step.latencyUs.p99, 750, mostMs);
        assertBetween('max', step.latencyUs.max, 750, mostMs);
        assertBetween('p50', step.latencyUs.p50, 0, reference.p50Ms + 250);
        // Over WebSockets the stalled server still took what was sent, so the generator was on time, as far as the
        // machine let it, and the second series, which begins at the real send, has the stall as well.
        if (transport === 'Websockets') {
          const leastMs = 750 - step.generator.slipP99Us / 1000;
          assertBetween('p99 from the send', step.sendLatencyUs.p99, leastMs, mostMs);
          assertBetween('max from the send', step.sendLatencyUs.max, leastMs, mostMs);
        }
        assert.ok(step.sendLatencyUs.mean <= step.latencyUs.mean);
        // A machine that holds the generator up as well makes the run invalid.
        const { valid, cause } = step.generator;
        assert.equal(run.verdict.status, valid ? 'fail' : 'invalid');
        const isOpen = cause === 'slip' || cause === 'starved';
        assert.ok(run.verdict.reasons.some(({ code }) => code === (isOpen ? 'slip' : 'slo-p99')));
      }),
    );

  beside('counts from the intended time when the generator itself is late', () =>
    withHub('', async ({ url }) => {
      const { run, step, reference } = await measuredRun({
        target: url,
        config: { connections: 10, singleStepDuration: '2s', warmup: 0 },
        parameters: { sendingInterval: '20ms' },
        slo: { p99: '100ms' },
        workerScript: require.resolve('../fakes/loadSleepyWorker'),
      });
      assertExact(step, 1000, 1000);
      // The worker sleeps half a second: 250 messages leave up to half a second late, but get a quick answer.
      assertBetween('max', step.latencyUs.max, 450, 1000 + reference.maxMs);
      assertBetween('p90', step.latencyUs.p90, 200, 1000 + reference.maxMs);
      const mostMs = step.latencyUs.p90 / 2000 + reference.p99Ms;
      assertBetween('p90 from the send', step.sendLatencyUs.p90, 0, mostMs);
      assertBetween("the slip's p99", step.generator.slipP99Us, 400, 1000 + reference.maxMs);
      assert.equal(step.generator.valid, false);
      assert.equal(run.verdict.status, 'invalid');
      assert.ok(run.verdict.reasons.some(({ code }) => code === 'slip'));
    }),
  );
});
