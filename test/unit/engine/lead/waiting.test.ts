import assert from 'node:assert/strict';
import { connectLimitMs, prepareLimitMs } from '../../../../src/engine/lead/waiting';
import { planOf } from '../../../fakes/plan';

describe('the longest time of a phase', () => {
  const plan = { ...planOf({ connections: 1000 }, 2), connectTimeoutMs: 4000 };
  const workers = plan.workers.map((worker) => ({ ...worker, connectInFlight: 50 }));

  it('is that of the ramp, and of every connect that waits for others and fails', () => {
    const slow = { ...plan, workers, arrivingRate: 100 };
    // 10 s until the last is due; 500 of a worker, 50 at once: ten times 4 s.
    assert.equal(connectLimitMs(slow, 1000), 50_000);
    assert.equal(connectLimitMs(slow, 0), 0);
    const arrival = { mode: 'HighPress', batchWaitMs: 1000 } as const;
    // Ten batches of 50 each.
    assert.equal(connectLimitMs({ ...slow, arrival }, 1000), 40_000 + 10 * 5000);
  });

  it('is that of every call of the preparation', () => {
    // 500 of a worker, 100 at once, and each asks for its id and joins a group.
    assert.equal(prepareLimitMs(plan, 1000), 5 * 3 * 10_000);
  });
});
