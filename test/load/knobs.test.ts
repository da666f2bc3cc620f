import assert from 'node:assert/strict';
import { withHubHere } from '../fakes/loadHub';
import { assertConsistent, loadRun, missedBy, onlyStep } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

/** Warm-up messages are deliveries too, so the hub's every n-th is known only without them. */
const noWarmup = { warmup: 0 };

describe('what a target does wrong is counted exactly', function () {
  const test = sideBySide();

  test('losses', () =>
    withHubHere('--drop-every 7', async ({ url }) => {
      const config = { ...noWarmup, drain: '1s' };
      const run = await loadRun({ target: url, workers: 2, config });
      const step = onlyStep(run);
      assert.equal(step.expected, 200);
      assert.equal(step.lost, Math.floor(200 / 7));
      assert.equal(step.duplicated + step.outOfOrder + step.extra, 0);
      assertConsistent(run);
      // 28 of 200 is more than the 1 % that may be slower than any limit, and more than may be lost.
      assert.deepEqual(missedBy(run), ['slo-p99', 'slo-delivered']);
    }));

  test('duplicates, which are no deliveries of their own', () =>
    withHubHere('--dup-every 7', async ({ url }) => {
      const run = await loadRun({ target: url, config: noWarmup });
      const step = onlyStep(run);
      assert.equal(step.expected, 200);
      assert.equal(step.received, 200);
      assert.equal(step.duplicated, Math.floor(200 / 7));
      assert.equal(step.lost + step.outOfOrder + step.extra, 0);
      assertConsistent(run);
      assert.deepEqual(missedBy(run), ['slo-duplicated']);
      assert.equal(
        run.verdict.reasons.at(-1)?.message,
        'step 1: 28 duplicates came on top of the 200 expected (14 %), above the limit of 0 %',
      );
    }));

  test('deliveries that come after the drain, in the step they were sent in', () =>
    withHubHere('--delay 1500ms', async ({ url }) => {
      const config = {
        ...noWarmup,
        baseSending: 10,
        step: 10,
        singleStepDuration: '1s',
        drain: '500ms',
      };
      const run = await loadRun({ target: url, config, keepGoing: true, workers: 2 });
      const [first, second] = run.steps;
      assert.ok(first && second);
      // Everything sent in the first step arrives during the second: by the workers' own clocks all of it is late.
      const { sent, received, lost, late, outOfOrder, duplicated, latencyUs } = first;
      assert.deepEqual([sent, received, lost, late], [200, 0, 200, 200]);
      assert.deepEqual([outOfOrder, duplicated, latencyUs.count], [0, 0, 0]);
      assert.ok(missedBy(first).includes('slo-delivered'), 'judged by what had come in time');
      // The run ends with the second step's drain, and most of that step never arrives.
      assert.equal(second.sent, 400);
      assert.ok(second.lost >= 300, `${second.lost} lost`);
      assertConsistent(run);
    }));

  test('connections that the server closes', () =>
    withHubHere('--close-after 5', (closing) =>
      withHubHere('', async (good) => {
        const run = await loadRun({
          target: [good.url, closing.url],
          config: { ...noWarmup, drain: '1s' },
        });
        assert.equal(run.ending, 'completed');
        assert.equal(run.connections.connected, 20);
        assert.equal(run.connections.dropped, 10);
        assert.deepEqual(run.errors, { closed: 10 });
        assert.match(run.errorExamples[0]!.text, /Closed on purpose after 5 invocations/);
        const step = onlyStep(run);
        assert.deepEqual(step.errors, { closed: 10 });
        // Five messages each until the close; more may cross it on their way and are lost.
        assert.ok(step.sent >= 150 && step.sent <= 200, `${step.sent} sent`);
        assert.equal(step.received, 150);
        assertConsistent(run);
        assert.ok(missedBy(run).includes('slo-dropped'));
      }),
    ));

  test('connects that are throttled: waits as long as asked, and counts them', () =>
    withHubHere('--throttle 20@2s', async ({ url }) => {
      const run = await loadRun({ target: url, config: { skipNegotiation: false } });
      assert.equal(run.connections.connected, 20);
      assert.equal(run.connections.failed, 0);
      assert.ok(run.connections.connectUs.p50 >= 2_000_000, `${run.connections.connectUs.p50} us`);
      assert.deepEqual(run.errors, { throttled: 20 });
      assert.equal(onlyStep(run).received, 200);
      assert.deepEqual(onlyStep(run).errors, {});
    }));

  test('connects that are refused for a while are tried again', () =>
    withHubHere('--refuse 5', async ({ url }) => {
      const run = await loadRun({ target: url });
      assert.equal(run.connections.connected, 20);
      assert.equal(run.connections.failed, 0);
      assert.deepEqual(run.errors, { upgrade: 5 });
      assert.match(run.errorExamples[0]!.text, /503/);
    }));
});
