import assert from 'node:assert/strict';
import { withHub } from '../fakes/loadHub';
import { assertExact } from '../load/loadRun';
import { assertBetween } from './assertBetween';
import { measuredRun } from './measuredRun';

describe('latency over WebSockets', function () {
  this.timeout(60_000);

  it('reads 50 ms from a server that answers after 50 ms', () =>
    withHub('--delay 50ms', async ({ url }) => {
      const { step, machineMs } = await measuredRun({
        target: url,
        config: { connections: 10, singleStepDuration: '2s', warmup: '500ms' },
        parameters: { sendingInterval: '125ms' },
      });
      assertExact(step, 160, 160);
      assertBetween('p50', step.latencyUs.p50, 50, 55 + machineMs);
      // From the real send: without what the generator itself was late.
      assertBetween('p50 from the send', step.sendLatencyUs.p50, 50, 55 + machineMs);
      assert.ok(step.latencyUs.min >= 50_000, `min ${step.latencyUs.min} us`);
    }));

  it('shows a stall of 2 s in a step of 10 s as the schedule has it', () =>
    withHub('--stall 2s@3s', async ({ url }) => {
      const { run, step, machineMaxMs } = await measuredRun({
        target: url,
        config: { connections: 10, singleStepDuration: '10s', warmup: 0, drain: '5s' },
        parameters: { sendingInterval: '100ms' },
        slo: { p99: '1s' },
      });
      // Nothing is lost: what was sent meanwhile waits in the server.
      assertExact(step, 1000, 1000);
      assertBetween('p99', step.latencyUs.p99, 1700, 2100 + machineMaxMs);
      assertBetween('max', step.latencyUs.max, 1700, 2100 + machineMaxMs);
      assertBetween('p50', step.latencyUs.p50, 0, 500 + machineMaxMs);
      // The stalled server still took what was sent, so the generator was on time, as far as the machine let
      // it, and the second series, which begins at the real send, has the stall as well.
      const slipMs = step.generator.slipP99Us / 1000;
      assertBetween(
        'p99 from the send',
        step.sendLatencyUs.p99,
        1700 - slipMs,
        2100 + machineMaxMs,
      );
      assertBetween(
        'max from the send',
        step.sendLatencyUs.max,
        1700 - slipMs,
        2100 + machineMaxMs,
      );
      assert.ok(step.sendLatencyUs.mean <= step.latencyUs.mean);
      // A machine that holds the generator up as well makes the run invalid; the SLO is missed all the same.
      const { valid } = step.generator;
      assert.equal(run.verdict.status, valid ? 'fail' : 'invalid');
      assert.deepEqual(
        run.verdict.reasons.map(({ code }) => code),
        [...(valid ? [] : ['slip']), 'slo-p99'],
      );
    }));

  it('counts from the intended time when the generator itself is late', () =>
    withHub('', async ({ url }) => {
      const { run, step, machineMs, machineMaxMs } = await measuredRun({
        target: url,
        config: { connections: 10, singleStepDuration: '2s', warmup: 0 },
        parameters: { sendingInterval: '20ms' },
        slo: { p99: '1s' },
        workerScript: require.resolve('../fakes/loadSleepyWorker'),
      });
      assertExact(step, 1000, 1000);
      // The worker sleeps half a second: 250 messages leave up to half a second late, but get a quick answer.
      assertBetween('max', step.latencyUs.max, 450, 1500 + machineMaxMs);
      assertBetween('p90', step.latencyUs.p90, 200, 1500 + machineMaxMs);
      const mostMs = step.latencyUs.p90 / 2000 + machineMs;
      assertBetween('p90 from the send', step.sendLatencyUs.p90, 0, mostMs);
      assertBetween("the slip's p99", step.generator.slipP99Us, 400, 1500 + machineMaxMs);
      assert.equal(step.generator.valid, false);
      assert.equal(run.verdict.status, 'invalid');
      assert.ok(run.verdict.reasons.some(({ code }) => code === 'slip'));
    }));
});
