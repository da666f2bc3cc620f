import assert from 'node:assert/strict';
import type { Run } from '../../src/engine/lead/run';
import { letWorkerDie } from '../fakes/letWorkerDie';
import { startHub, startHubHere, type HubHere } from '../fakes/loadHub';
import { closedPort } from '../fakes/loadPeers';
import { assertConsistent, loadRun, onlyStep, type LoadTest } from './loadRun';

const longStep = { singleStepDuration: '30s', warmup: 0 };

/** Calls back once, when at least so many deliveries of the step were counted. */
function onceReceived(count: number, act: (run: Run) => void): NonNullable<LoadTest['during']> {
  return (run) => {
    let waits = true;
    run.onSnapshot(({ step }) => {
      if (!waits || (step?.received ?? 0) < count) return;
      waits = false;
      act(run);
    });
  };
}

/** Tests of every way a run can end. */
export function testEndings(): void {
  describe('every ending keeps what was measured', () => {
    let hub: HubHere;

    before(async () => {
      hub = await startHubHere();
    });
    after(() => hub.dispose());

    it('a stop in the middle of a step', async () => {
      const run = await loadRun({
        target: hub.url,
        config: longStep,
        workers: 2,
        during: onceReceived(100, (going) => {
          going.stop('stopped');
        }),
      });
      assert.equal(run.ending, 'stopped');
      assert.equal(run.verdict.status, 'incomplete');
      const step = onlyStep(run);
      assert.equal(step.verdict.status, 'incomplete');
      assert.ok(step.seconds > 0 && step.seconds < 30, `${step.seconds} s`);
      assert.ok(step.sent >= 100, `${step.sent} sent`);
      assert.equal(step.lost, 0);
      assertConsistent(run);
    });

    it('a stop while connecting', async () => {
      const run = await loadRun({
        target: hub.url,
        config: { connections: 500, arrivingRate: 10 },
        during: (going) => {
          let waits = true;
          going.onSnapshot(({ connections: { connected } }) => {
            if (!waits || connected === 0) return;
            waits = false;
            going.stop('stopped');
          });
        },
      });
      assert.equal(run.ending, 'stopped');
      assert.deepEqual(run.steps, []);
      const { requested, connected, failed, dropped } = run.connections;
      assert.equal(requested, 500);
      assert.ok(connected >= 1 && connected < 500, `${connected} connected`);
      assert.deepEqual([failed, dropped], [0, 0]);
    });

    it('a target that dies', async () => {
      const dying = await startHub();
      const run = await loadRun({
        target: dying.url,
        config: longStep,
        workers: 2,
        during: onceReceived(100, () => void dying.crash()),
      });
      assert.equal(run.ending, 'targetLost');
      assert.match(run.endingMessage ?? '', /All 20 connections were lost/);
      assert.equal(run.connections.dropped, 20);
      const step = onlyStep(run);
      assert.ok(step.received >= 100, `${step.received} received`);
      assert.equal(step.verdict.status, 'incomplete');
      assertConsistent(run);
    });

    it('a worker that dies', async () => {
      const run = await loadRun({
        target: hub.url,
        config: longStep,
        workers: 2,
        workerScript: require.resolve('../fakes/loadDyingWorker'),
        during: onceReceived(50, () => letWorkerDie('exit')),
      });
      assert.equal(run.ending, 'workerLost');
      assert.match(run.endingMessage ?? '', /ended by itself with code 7/);
      assert.equal(run.verdict.status, 'incomplete');
      const step = onlyStep(run);
      assert.ok(step.received >= 50, `${step.received} received`);
      assertConsistent(run);
    });

    it('a worker that dies before it could do anything', async () => {
      const run = await loadRun({ target: hub.url, workerScript: '/no/such/worker.js' });
      assert.equal(run.ending, 'workerLost');
      assert.deepEqual(run.steps, []);
      assert.match(run.endingMessage ?? '', /Cannot find module/);
    });

    it('connects of which some fail', async () => {
      const run = await loadRun({
        target: [hub.url, await closedPort()],
        config: { connectTimeout: '2s' },
      });
      assert.equal(run.ending, 'completed');
      assert.equal(run.connections.connected, 10);
      assert.equal(run.connections.failed, 10);
      const step = onlyStep(run);
      // Only connections that are there can send.
      assert.equal(step.offered, 100);
      assert.equal(step.received, 100);
      assert.equal(run.verdict.status, 'fail');
      assert.ok(run.verdict.reasons.some(({ code }) => code === 'slo-dropped'));
    });
  });
}
