import assert from 'node:assert/strict';
import type { StepSummary } from '../../src/measure/summary';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { assertConsistent, assertExact, loadRun, onlyStep } from './loadRun';

const namesOf = ({ entries = [] }: StepSummary): string[] => entries.map(({ name }) => name);

describe('use cases side by side', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  it('are counted exactly, each by itself and together, step by step', async () => {
    const run = await loadRun({
      target: hub.url,
      workers: 2,
      entries: [
        { name: 'echo', senders: '50%' },
        { name: 'broadcast', senders: 2, parameters: { sendingInterval: '100ms' } },
        { name: 'sendToGroup', parameters: { groupCount: 4, messageSize: 100 } },
      ],
      config: { baseSending: 10, step: 10, protocol: 'messagepack' },
    });
    assert.equal(run.ending, 'completed');
    assert.deepEqual(run.errors, {});
    const [half, whole] = run.steps as [StepSummary, StepSummary];
    assert.deepEqual(namesOf(whole), ['echo', 'broadcast', 'sendToGroup']);
    // Senders 5 + 1 + 4 and 10 + 2 + 8; ten messages of a sender in half a second, five of a broadcast.
    for (const [step, echoes, broadcasts, groups] of [
      [half, 50, 5, 40],
      [whole, 100, 10, 80],
    ] as const) {
      const [echo, broadcast, group] = step.entries!;
      assertExact(echo!, echoes, echoes);
      assertExact(broadcast!, broadcasts, broadcasts * 20);
      assertExact(group!, groups, groups * 5);
      assert.equal(group!.payloadBytesOut, groups * 5 * 100);
      assertExact(step, echoes + broadcasts + groups, echoes + broadcasts * 20 + groups * 5);
    }
    assertConsistent(run);
  });

  it('share a callback, whatever case its name is written in', async () => {
    const own = (callback: string): Readonly<Record<string, unknown>> => ({
      ...{ method: 'Echo', arguments: [{ data: '{text:100}' }], reply: 'callback', callback },
    });
    const run = await loadRun({
      target: hub.url,
      workers: 2,
      entries: [
        { name: 'echo', senders: 6 },
        { name: 'invoke', senders: 6, parameters: own('RecordLatency') },
        { name: 'invoke', senders: 6, parameters: own('recordLatency') },
      ],
      config: { protocol: 'messagepack' },
    });
    assert.equal(run.ending, 'completed');
    assert.deepEqual(run.errors, {});
    for (const entry of onlyStep(run).entries!) assertExact(entry, 60, 60);
    assertConsistent(run);
  });

  it('may be the same twice, in groups of their own, while connections come, go and move', async () => {
    const groups = { groupCount: 3, groupsPerConnection: 2 };
    const run = await loadRun({
      target: hub.url,
      workers: 2,
      entries: [
        { name: 'sendToGroup', parameters: groups },
        { name: 'sendToGroup', parameters: { ...groups, groupCount: 5, sendersPer: 'group' } },
        { name: 'frequentJoinLeaveGroup', parameters: { ...groups, joinLeaveInterval: '100ms' } },
        { name: 'sendToClient' },
        { name: 'broadcast', parameters: { sendingInterval: '100ms' } },
      ],
      config: {
        connections: 40,
        baseSending: 20,
        sendingSteps: 1,
        singleStepDuration: '1s',
        lifetime: '600ms',
      },
    });
    assert.equal(run.ending, 'completed');
    const step = onlyStep(run);
    assert.deepEqual(namesOf(step).slice(0, 3), [
      'sendToGroup 1',
      'sendToGroup 2',
      'frequentJoinLeaveGroup',
    ]);
    assert.ok(run.connections.reconnected > 0, `${run.connections.reconnected} reconnected`);
    assert.ok(step.membership!.joins > 0);
    for (const { name, sent, lost, duplicated, latencyUs } of step.entries!) {
      assert.equal(duplicated, 0, name);
      // Who leaves takes part no more a second before: what a busy machine brings later than that is lost.
      if (latencyUs.max < 900_000) assert.equal(lost, 0, name);
      assert.ok(sent > 0, name);
    }
    assertConsistent(run);
  });
});
