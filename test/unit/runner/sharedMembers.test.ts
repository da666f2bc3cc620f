import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { populationOf } from '../../../src/plan/population';
import { SharedMembers, sharedPopulation } from '../../../src/runner/sharedMembers';
import { planOf } from '../../fakes/plan';

describe('SharedMembers', () => {
  it('counts each group’s open members over all workers, whoever joins or leaves twice', () => {
    const moves = fc.array(fc.tuple(fc.nat(9), fc.boolean(), fc.nat(1)), { maxLength: 40 });
    const counted = fc.property(moves, fc.integer({ min: 1, max: 4 }), (list, perConnection) => {
      const groups = {
        groupCount: 4,
        groupsPerConnection: perConnection,
        sendersPer: 'connection',
      };
      const parameters = { messageSize: 1, sendingInterval: 1, ...groups };
      const population = populationOf(planOf({ useCase: 'sendToGroup', parameters }));
      const shared = sharedPopulation(10, 4);
      const workers = [0, 1].map(() => new SharedMembers(shared, population));
      const open = new Set<number>();
      for (const [index, joins, worker] of list) {
        if (joins) workers[worker]!.join(index);
        else workers[worker]!.leave(index);
        if (joins) open.add(index);
        else open.delete(index);
      }
      for (const members of workers) {
        for (let index = 0; index < 10; index++)
          assert.equal(members.isOpen(index), open.has(index));
        for (let group = 0; group < 4; group++) {
          const inGroup = [...open].filter((index) => (group - index + 40) % 4 < perConnection);
          assert.equal(members.count(group), inGroup.length);
        }
      }
    });
    fc.assert(counted, { seed: 1, numRuns: 100 });
  });

  it('counts everyone where there are no groups', () => {
    const shared = new SharedMembers(
      sharedPopulation(10, 1),
      populationOf(planOf({ useCase: 'broadcast' })),
    );
    for (const index of [1, 5, 5, 9]) shared.join(index);
    shared.leave(5);
    assert.equal(shared.count(0), 2);
  });
});
