import assert from 'node:assert/strict';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { assertConsistent, assertExact, loadRun, onlyStep } from './loadRun';

describe('the time until the last receiver has a message', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  it('is measured for each message, over all workers, and judged', async () => {
    const run = await loadRun({
      target: hub.url,
      workers: 3,
      slo: { p99: '60s', 'timeToAll.max': '60s' },
      entries: [
        { name: 'echo', senders: 2 },
        { name: 'broadcast', senders: 2, parameters: { sendingInterval: '100ms' } },
        {
          ...{ name: 'sendToGroup', senders: 8 },
          parameters: { groupCount: 4, sendingInterval: '50ms' },
        },
      ],
      config: { singleStepDuration: '500ms' },
    });
    const step = onlyStep(run);
    const [echo, broadcast, group] = step.entries!;
    assertExact(broadcast!, 10, 200);
    assertExact(group!, 80, 400);
    assert.equal(echo!.timeToAllUs, undefined);
    for (const [entry, messages] of [
      [broadcast!, 10],
      [group!, 80],
      [step, 90],
    ] as const) {
      const { timeToAllUs, timeToAllMissed, latencyUs } = entry;
      assert.deepEqual([timeToAllUs?.count, timeToAllMissed], [messages, 0]);
      assert.ok(timeToAllUs!.min >= latencyUs.min);
      // Of a mix with an echo, too, it would be the percentile of other deliveries.
      if (entry === step) continue;
      // The slowest delivery is the last one of its message; no message is faster than its fastest.
      assert.equal(timeToAllUs!.max, latencyUs.max);
      assert.ok(timeToAllUs!.p50 >= latencyUs.p50);
    }
    const check = step.verdict.checks?.find(({ metric }) => metric === 'timeToAll.max');
    assert.deepEqual([check?.value, check?.met], [step.timeToAllUs!.max, true]);
    assertConsistent(run);
  });
});
