import assert from 'node:assert/strict';
import type { StepSummary } from '../../src/measure/summary';
import { startHub, withHub, type LoadHub } from '../fakes/loadHub';
import { assertConsistent, loadRun, onlyStep, type LoadTest } from './loadRun';
import { sideBySide } from '../fakes/sideBySide';

/** Every message went where it was meant to go: nothing lost, nothing twice, however many came and went. */
function assertNothingLost(step: StepSummary): void {
  const { expected, received, lost, duplicated, outOfOrder } = step;
  assert.ok(expected > 100, `${expected} expected`);
  assert.deepEqual(
    { counted: received + lost, duplicated, outOfOrder },
    { counted: expected, duplicated: 0, outOfOrder: 0 },
  );
  // Who leaves takes part no more a second before: what a machine brings later than that is lost.
  if (step.latencyUs.max < 900_000) assert.equal(lost, 0);
}

const useCases: readonly Pick<LoadTest, 'useCase' | 'parameters'>[] = [
  { useCase: 'echo' },
  { useCase: 'broadcast', parameters: { sendingInterval: '200ms' } },
  { useCase: 'sendToClient', parameters: { targets: 'random' } },
  { useCase: 'sendToGroup', parameters: { groupCount: 3 } },
];

describe('connections that come and go', function () {
  this.timeout(120_000);
  let hub: LoadHub;

  before(async () => {
    hub = await startHub();
  });
  after(() => hub.dispose());

  // A delivery that takes more than a second misses a connection that leaves: few at once.
  const test = sideBySide(2);

  for (const { useCase, parameters = {} } of useCases) {
    test(`loses no count of ${useCase} ${Object.values(parameters).join()} when lives are short`, async () => {
      const run = await loadRun({
        target: hub.url,
        useCase: useCase!,
        parameters: { sendingInterval: '40ms', ...parameters },
        config: { lifetime: '1s', singleStepDuration: '4s' },
        workers: 2,
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, {});
      const { dropped, notBack, life, reconnected } = run.connections;
      // Some are on their way back when the step ends, as always.
      assert.deepEqual([dropped, notBack], [0, undefined]);
      assert.ok(reconnected >= 10, `${reconnected} reconnected`);
      assert.equal(life?.drops, 0);
      assert.ok(life.closed >= reconnected, `${life.closed} closed, ${reconnected} reconnected`);
      assert.ok(life.sla.mean > 0.3 && life.sla.mean <= 1, `${life.sla.mean}`);
      assertNothingLost(onlyStep(run));
      const { open, held = open } = onlyStep(run).connections!;
      assert.ok(held >= open && held <= 20, `${held} held, ${open} open`);
      assertConsistent(run);
    });
  }

  for (const [transport, protocol] of [
    ['ServerSentEvents', 'json'],
    ['LongPolling', 'messagepack'],
  ]) {
    test(`loses no count over ${transport} in ${protocol} when lives are short`, async () => {
      const over = { transport, protocol, skipNegotiation: false };
      const run = await loadRun({
        target: hub.url,
        useCase: 'sendToClient',
        parameters: { sendingInterval: '50ms', targets: 'random' },
        config: { ...over, lifetime: '1s', singleStepDuration: '4s' },
        workers: 2,
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, {});
      assert.ok(run.connections.reconnected >= 5, `${run.connections.reconnected} reconnected`);
      assertNothingLost(onlyStep(run));
      assertConsistent(run);
    });
  }

  it('loses no count in a storm, and reports how long the recovery took', async () => {
    const run = await loadRun({
      target: hub.url,
      useCase: 'sendToGroup',
      parameters: { groupCount: 20, sendingInterval: '100ms' },
      config: {
        connections: 100,
        dropAllAfter: '2s',
        reconnectPolicy: 'atOnce',
        // Enough for a busy machine to let all of them in again.
        singleStepDuration: '9s',
      },
      workers: 2,
    });
    assert.equal(run.ending, 'completed');
    const { connected, dropped, reconnected, life } = run.connections;
    assert.deepEqual([connected, dropped, reconnected, life?.closed], [100, 0, 100, 100]);
    const step = onlyStep(run);
    assertNothingLost(step);
    assertConsistent(run);
    const [recovery, ...more] = step.recoveries ?? [];
    assert.deepEqual(more, []);
    assert.ok(recovery);
    assert.equal(recovery.missing, 100);
    assert.ok(Math.abs(recovery.atS - 2) < 0.01, `${recovery.atS} s`);
    assert.ok(
      recovery.connectionsS! > 0 && recovery.connectionsS! < 7,
      `${recovery.connectionsS} s`,
    );
    assert.ok(recovery.latencyS! > recovery.connectionsS! && recovery.latencyS! <= 7.5);
    assert.deepEqual(step.connections, { requested: 100, open: 100 });
  });

  test('does not take latency for back after a storm while every second delivery is lost', () =>
    withHub('--drop-every 2', async ({ url }) => {
      const run = await loadRun({
        target: url,
        config: {
          ...{ dropAllAfter: '2s', reconnectPolicy: 'atOnce' },
          ...{ singleStepDuration: '6s', drain: '500ms' },
        },
        workers: 2,
      });
      assert.equal(run.ending, 'completed');
      const step = onlyStep(run);
      assert.ok(step.lost > 100, `${step.lost} lost`);
      const [recovery] = step.recoveries ?? [];
      assert.ok(recovery!.connectionsS! > 0);
      assert.equal(recovery!.latencyS, null);
      assertConsistent(run);
    }));

  test('fails when those it has dropped do not come back', async () => {
    const dying = await startHub();
    let timer: NodeJS.Timeout | undefined;
    const run = await loadRun({
      target: dying.url,
      useCase: 'connectOnly',
      parameters: { messageSize: undefined, sendingInterval: undefined },
      config: {
        ...{ dropAllAfter: '2s', reconnectPolicy: 'fixed', reconnectDelay: '2s' },
        singleStepDuration: '5s',
      },
      workers: 2,
      during: (going) => {
        going.onSnapshot(({ phase }) => {
          // Between the drop and the first try to come back.
          if (phase === 'measuring') timer ??= setTimeout(() => void dying.crash(), 3000);
        });
      },
    });
    assert.equal(run.ending, 'completed');
    const { connected, failed, dropped, notBack, life } = run.connections;
    assert.deepEqual([connected, failed, dropped, notBack, life?.closed], [20, 0, 0, 20, 20]);
    assert.deepEqual(onlyStep(run).connections, { requested: 20, open: 0 });
    assert.deepEqual(run.verdict.reasons, [
      {
        code: 'slo-dropped',
        message:
          '0 of 20 connections failed, 0 were dropped and 20 did not come back (100 %), above the limit of 1 %',
      },
    ]);
    assertConsistent(run);
  });

  test('repairs what the server closes, with groups, and counts it as dropped', () =>
    withHub('--close-after 40', async ({ url }) => {
      const run = await loadRun({
        target: url,
        useCase: 'sendToGroup',
        parameters: { groupCount: 4 },
        config: { repair: true, reconnectDelay: '100ms', singleStepDuration: '4s', drain: '1s' },
        workers: 2,
      });
      assert.equal(run.ending, 'completed');
      const { connected, dropped, reconnected, life } = run.connections;
      assert.deepEqual([connected, dropped], [20, 20]);
      assert.ok(reconnected >= 20, `${reconnected} reconnected`);
      assert.ok(life);
      assert.equal(life.drops, run.errors.closed);
      assert.ok(life.downMs.p50 >= 100, `${life.downMs.p50} ms`);
      assertConsistent(run);
      const step = onlyStep(run);
      assert.ok(step.received > 20 * 40, `${step.received} received`);
      assert.equal(step.duplicated + step.outOfOrder, 0);
      // A busy machine may make the step invalid on top.
      assert.notEqual(run.verdict.status, 'pass');
      assert.ok(run.verdict.reasons.some(({ code }) => code === 'slo-dropped'));
    }));

  test('repairs what could not be opened, and counts it as connected then', () =>
    withHub('--refuse 50', async ({ url }) => {
      // Each has three tries: at least ten connections fail, and at most 16.
      const run = await loadRun({
        target: url,
        config: { repair: true, reconnectDelay: '100ms', singleStepDuration: '2s' },
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, { upgrade: 50 });
      const { connected, failed, dropped, reconnected } = run.connections;
      assert.deepEqual([connected, failed, dropped, reconnected], [20, 0, 0, 0]);
      assertNothingLost(onlyStep(run));
      assertConsistent(run);
    }));

  test('leaves those in their last moment alone when a step begins, and lets no life grow by it', () =>
    withHub('--delay 300ms', async ({ url }) => {
      const run = await loadRun({
        target: url,
        useCase: 'frequentJoinLeaveGroup',
        parameters: { sendingInterval: '50ms', groupCount: 5, joinLeaveInterval: '2s' },
        config: {
          ...{ connections: 40, baseSending: 4, step: 4, sendingSteps: 4, lifetime: '2s' },
          ...{ singleStepDuration: '1s', warmup: 0, drain: '2s' },
        },
        workers: 2,
        keepGoing: true,
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, {});
      for (const step of run.steps) if (step.latencyUs.max < 900_000) assert.equal(step.lost, 0);
      // With a mean of 2 s each of 40 ends once or twice in the 4 s.
      const { closed } = run.connections.life!;
      assert.ok(closed >= 50, `${closed} closed`);
      assertConsistent(run);
    }));

  test('waits for a server that is gone for a while', async () => {
    const first = await startHub();
    const port = Number(new URL(first.url).port);
    let crashed = false;
    let second: Promise<LoadHub> | undefined;
    const run = await loadRun({
      target: first.url,
      config: {
        repair: true,
        reconnectDelay: '200ms',
        singleStepDuration: '6s',
        // What was on its way when the server died never comes.
        drain: '500ms',
      },
      workers: 2,
      keepGoing: true,
      during: (going) => {
        going.onSnapshot(({ phase, errors }) => {
          if (phase === 'measuring' && !crashed) {
            crashed = true;
            void first.crash();
          }
          // It comes back once somebody has missed it.
          if ((errors.refused ?? 0) > 0) second ??= startHub(`--port ${port}`);
        });
      },
    });
    await (await second)?.dispose();
    assert.equal(run.ending, 'completed');
    assert.deepEqual([run.connections.connected, run.connections.dropped], [20, 20]);
    assert.equal(run.connections.reconnected, 20);
    assert.ok((run.errors.refused ?? 0) > 0, 'the server was away');
    const [recovery] = onlyStep(run).recoveries ?? [];
    assert.equal(recovery?.missing, 20);
    assert.ok(recovery.connectionsS! > 0.1 && recovery.latencyS! > recovery.connectionsS!);
    assertConsistent(run);
  });

  for (const mode of ['HighPress', 'LowPress', 'LimitRatePress', 'ExtLimitRatePress']) {
    test(`opens all connections with arrivingBatchMode ${mode}`, async () => {
      const run = await loadRun({
        target: hub.url,
        config: {
          connections: 20,
          arrivingRate: 20,
          arrivingBatchMode: mode,
          arrivingBatchWait: '100ms',
          skipNegotiation: false,
        },
        workers: 2,
      });
      assert.equal(run.connections.connected, 20);
      assert.deepEqual(run.errors, {});
      assert.equal(onlyStep(run).received, 200);
    });
  }
});
