import assert from 'node:assert/strict';
import { withHub } from '../fakes/loadHub';
import { assertConsistent, assertExact, loadRun, onlyStep } from './loadRun';

/** Fails with the figures when the value lies outside. Microseconds, limits in milliseconds. */
function assertBetween(what: string, us: number, fromMs: number, toMs: number): void {
  const ms = us / 1000;
  assert.ok(ms >= fromMs && ms <= toMs, `${what} is ${ms} ms, not ${fromMs} to ${toMs}`);
}

/**
 * What the median may read above the 50 ms of the server: requests cost both sides more than frames, which
 * shows on two busy cores; and what leaves while no poll is there waits for the next one.
 */
const extraMs = 5;

describe('load in MessagePack over LongPolling', () => {
  it('counts payloads of bytes in sizes of a list exactly', () =>
    withHub('', async ({ url }) => {
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

for (const transport of ['ServerSentEvents', 'LongPolling'] as const) {
  describe(`load over ${transport}`, function () {
    this.timeout(60_000);
    const over = { transport, skipNegotiation: false };

    it('reads 50 ms from a server that answers after 50 ms', () =>
      withHub('--delay 50ms', async ({ url }) => {
        const run = await loadRun({
          target: url,
          config: { ...over, connections: 10, singleStepDuration: '2s', warmup: '500ms' },
          parameters: { sendingInterval: '125ms' },
        });
        const step = onlyStep(run);
        assertExact(step, 160, 160);
        assertBetween('p50', step.latencyUs.p50, 50, 50 + extraMs);
        assertBetween('p50 from the send', step.sendLatencyUs.p50, 50, 50 + extraMs);
        assert.ok(step.latencyUs.min >= 50_000, `min ${step.latencyUs.min} us`);
      }));

    it('shows a stall of 1 s in a step of 4 s as the schedule has it', () =>
      withHub('--stall 1s@1s', async ({ url }) => {
        const run = await loadRun({
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
        const step = onlyStep(run);
        assertExact(step, 400, 400);
        assertBetween('p99', step.latencyUs.p99, 850, 1100);
        assertBetween('max', step.latencyUs.max, 850, 1100);
        assertBetween('p50', step.latencyUs.p50, 0, 500);
      }));

    it('keeps order and offers within 0.1 % where sends are faster than answers', () =>
      withHub('--delay 20ms', async ({ url }) => {
        const run = await loadRun({
          target: url,
          config: { ...over, connections: 10, singleStepDuration: '1500ms' },
          parameters: { sendingInterval: '2ms' },
        });
        const step = onlyStep(run);
        assertExact(step, 7500, 7500);
      }));

    it('counts what the hub drops and doubles', () =>
      withHub('--drop-every 10', async ({ url }) => {
        const config = { ...over, drain: '1500ms', warmup: 0 };
        const run = await loadRun({ target: url, config });
        const step = onlyStep(run);
        assert.deepEqual([step.sent, step.expected, step.lost], [200, 200, 20]);
      }));

    it('tells why the hub closed a connection', () =>
      withHub('--close-after 5', async ({ url }) => {
        const run = await loadRun({ target: url, config: { ...over, warmup: 0 } });
        assert.equal(run.ending, 'targetLost');
        assert.deepEqual(run.errors, { closed: 20 });
        assert.match(run.errorExamples[0]!.text, /Closed on purpose after 5/);
        assertConsistent(run);
      }));
  });
}
