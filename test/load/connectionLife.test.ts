import assert from 'node:assert/strict';
import type { StepSummary } from '../../src/measure/summary';
import { startHub, startHubHere, withHubHere, type HubHere, type LoadHub } from '../fakes/loadHub';
import { assertConsistent, loadRun, onlyStep } from './loadRun';
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

describe('connections that come and go', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  // A delivery that takes more than a second misses a connection that leaves: few at once.
  const test = sideBySide(2);

  for (const [transport, protocol] of [
    ['Websockets', 'json'],
    ['LongPolling', 'messagepack'],
  ]) {
    test(`loses no count over ${transport} in ${protocol} when lives are short`, async () => {
      const run = await loadRun({
        target: hub.url,
        entries: [
          { name: 'broadcast', senders: 2, parameters: { sendingInterval: '200ms' } },
          { name: 'sendToClient', senders: 9, parameters: { targets: 'random' } },
          { name: 'sendToGroup', senders: 9, parameters: { groupCount: 3 } },
        ],
        config: {
          ...{ transport, protocol, skipNegotiation: transport === 'Websockets' },
          ...{ lifetime: '1s', singleStepDuration: '2s', arrivingRate: 100 },
        },
        workers: transport === 'Websockets' ? 2 : 1,
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, {});
      const { dropped, notBack, life, reconnected } = run.connections;
      assert.deepEqual([dropped, notBack], [0, undefined]);
      assert.equal(life?.drops, 0);
      // Some are on their way back when the step ends: how many, the machine decides.
      assert.ok(life.closed > 0);
      assert.ok(life.closed >= reconnected, `${life.closed} closed, ${reconnected} reconnected`);
      assert.ok(life.sla.mean > 0 && life.sla.mean < 1, `${life.sla.mean}`);
      assertNothingLost(onlyStep(run));
      const { open, held = open } = onlyStep(run).connections!;
      assert.ok(held >= open && held <= 20, `${held} held, ${open} open`);
      assertConsistent(run);
    });
  }

  it('loses no count in a storm, and reports how long the recovery took', async () => {
    const run = await loadRun({
      target: hub.url,
      useCase: 'sendToGroup',
      parameters: { groupCount: 10, sendingInterval: '500ms' },
      config: {
        connections: 40,
        dropAllAfter: '2s',
        reconnectPolicy: 'atOnce',
        // Enough for a busy machine to let all of them in again.
        singleStepDuration: '9s',
      },
      workers: 2,
    });
    assert.equal(run.ending, 'completed');
    const { connected, dropped, reconnected, life } = run.connections;
    assert.deepEqual([connected, dropped, reconnected, life?.closed], [40, 0, 40, 40]);
    const step = onlyStep(run);
    assertNothingLost(step);
    assertConsistent(run);
    const [recovery, ...more] = step.recoveries ?? [];
    assert.deepEqual(more, []);
    assert.ok(recovery);
    assert.equal(recovery.missing, 40);
    assert.ok(Math.abs(recovery.atS - 2) < 0.01, `${recovery.atS} s`);
    assert.ok(
      recovery.connectionsS! > 0 && recovery.connectionsS! < 7,
      `${recovery.connectionsS} s`,
    );
    assert.ok(recovery.latencyS! > recovery.connectionsS! && recovery.latencyS! <= 7.5);
    assert.deepEqual(step.connections, { requested: 40, open: 40 });
  });

  test('repairs what the server closes, with groups, and counts it as dropped', () =>
    withHubHere('--close-after 10', async ({ url }) => {
      const run = await loadRun({
        target: url,
        useCase: 'sendToGroup',
        parameters: { groupCount: 4 },
        config: {
          repair: true,
          reconnectDelay: '100ms',
          singleStepDuration: '1500ms',
          drain: '1s',
        },
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
      assert.ok(step.received > 20 * 10, `${step.received} received`);
      assert.equal(step.duplicated + step.outOfOrder, 0);
      // A busy machine may make the step invalid on top.
      assert.notEqual(run.verdict.status, 'pass');
      assert.ok(run.verdict.reasons.some(({ code }) => code === 'slo-dropped'));
    }));

  test('leaves those in their last moment alone when a step begins, and lets no life grow by it', () =>
    withHubHere('--delay 300ms', async ({ url }) => {
      const run = await loadRun({
        target: url,
        useCase: 'frequentJoinLeaveGroup',
        parameters: { sendingInterval: '50ms', groupCount: 5, joinLeaveInterval: '2s' },
        config: {
          ...{ connections: 40, baseSending: 2, step: 2, sendingSteps: 3, lifetime: '2s' },
          ...{ singleStepDuration: '1s', warmup: 0, drain: '2s' },
        },
        workers: 2,
        keepGoing: true,
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, {});
      for (const step of run.steps) if (step.latencyUs.max < 900_000) assert.equal(step.lost, 0);
      // With a mean of 2 s most of 40 end in the 3 s.
      const { closed } = run.connections.life!;
      assert.ok(closed >= 30, `${closed} closed`);
      assertConsistent(run);
    }));

  test('waits for a server that is gone for a while', async () => {
    const first = await startHub();
    const port = Number(new URL(first.url).port);
    let crashed = false;
    let second: Promise<LoadHub> | undefined;
    let secondsWithAll = 0;
    const run = await loadRun({
      target: first.url,
      parameters: { sendingInterval: '250ms' },
      config: {
        repair: true,
        reconnectDelay: '200ms',
        connections: 10,
        // Longer than a busy machine takes to start a server: the test ends the step.
        singleStepDuration: '60s',
        // What was on its way when the server died never comes.
        drain: '500ms',
      },
      workers: 2,
      keepGoing: true,
      during: (going) => {
        going.onSnapshot(({ phase, errors, connections, interval }) => {
          if (phase === 'measuring' && !crashed) {
            crashed = true;
            void first.crash();
          }
          // It comes back once somebody has missed it.
          if ((errors.refused ?? 0) > 0) second ??= startHub(`--port ${port}`);
          if (connections.reconnected === 10 && (interval?.received ?? 0) > 0)
            if ((secondsWithAll += 1) === 4) going.stop('stopped');
        });
      },
    });
    await (await second)?.dispose();
    assert.equal(run.ending, 'stopped');
    assert.deepEqual([run.connections.connected, run.connections.dropped], [10, 10]);
    assert.equal(run.connections.reconnected, 10);
    assert.ok((run.errors.refused ?? 0) > 0, 'the server was away');
    const [recovery] = onlyStep(run).recoveries ?? [];
    assert.equal(recovery?.missing, 10);
    assert.ok(recovery.connectionsS! > 0.1 && recovery.latencyS! > recovery.connectionsS!);
    assertConsistent(run);
  });
});
