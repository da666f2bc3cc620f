import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  agentOfConnection,
  agentOfWorker,
  connectionsOfAgent,
  workersOfAgent,
} from '../../../src/plan/plan';
import { populationsOf } from '../../../src/plan/population';
import { planOf } from '../../fakes/plan';

const counts = fc.record({
  agents: fc.integer({ min: 1, max: 5 }),
  each: fc.integer({ min: 1, max: 4 }),
  connections: fc.integer({ min: 1, max: 60 }),
  seed: fc.nat(),
});
const all = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe('agents of a plan', () => {
  it('have all workers and all connections between them, each once', () => {
    const shared = fc.property(counts, ({ agents, each, connections }) => {
      const plan = planOf({ agents, connections }, agents * each);
      const workers = all(agents).flatMap((agent) => workersOfAgent(plan, agent));
      assert.deepEqual(workers, all(agents * each));
      const own = all(agents).map((agent) => connectionsOfAgent(plan, agent));
      own.forEach((list, agent) => {
        for (const connection of list) {
          assert.equal(agentOfConnection(plan, connection), agent);
          assert.equal(agentOfWorker(plan, connection % workers.length), agent);
        }
      });
      const found = own.flatMap((list) => [...list]).sort((a, b) => a - b);
      assert.deepEqual(found, all(connections));
    });
    fc.assert(shared);
  });

  it('keep messages to single connections to themselves, each to another one', () => {
    const apart = fc.property(counts, ({ agents, each, connections, seed }) => {
      const plan = planOf({ agents, connections, seed, useCase: 'sendToClient' }, agents * each);
      const [population] = populationsOf(plan);
      const targets = [...population!.fixedTargets!];
      assert.deepEqual(
        [...targets].sort((a, b) => a - b),
        all(connections),
      );
      targets.forEach((target, sender) => {
        assert.equal(agentOfConnection(plan, target), agentOfConnection(plan, sender));
        const own = connectionsOfAgent(plan, agentOfConnection(plan, sender));
        assert.equal(target === sender, own.length === 1);
      });
    });
    fc.assert(apart);
  });

  it('change nothing of a plan for one', () => {
    const targets = (agents?: number): number[] => [
      ...populationsOf(planOf({ useCase: 'sendToClient', ...(agents && { agents }) }, 2))[0]!
        .fixedTargets!,
    ];
    assert.deepEqual(targets(1), targets());
    assert.notDeepEqual(targets(2), targets());
  });
});
