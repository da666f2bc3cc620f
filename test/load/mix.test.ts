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
});
