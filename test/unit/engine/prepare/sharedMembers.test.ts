import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { populationsOf } from '../../../../src/plan/population';
import {
  countOpenConnections,
  SharedMembers,
  createMemberMemory,
} from '../../../../src/engine/prepare/sharedMembers';
import { planOf } from '../../../fakes/plan';

const nowUs = (): number => performance.now() * 1000;

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
      const population = populationsOf(planOf({ useCase: 'sendToGroup', parameters }));
      const shared = createMemberMemory(10, 4);
      const workers = [0, 1].map(() => new SharedMembers(shared, population, nowUs));
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
    fc.assert(counted, { numRuns: 100 });
  });

  it('decides by the send time on which side of a change a message was counted', () => {
    let atUs = 10.2;
    const clock = (): number => (atUs += 0.3);
    const members = new SharedMembers(createMemberMemory(2, 1), populationsOf(planOf()), clock);
    assert.equal(members.wasMember(1, 1e9, false), false, 'never joined');
    const before = members.version();
    const beforeUs = Math.floor(clock());
    members.join(1);
    const joinedUs = Math.floor(clock());
    assert.ok(members.version() > before && members.version() % 2 === 0);
    assert.deepEqual(
      [members.wasMember(1, beforeUs, false), members.wasMember(1, joinedUs, false)],
      [false, true],
    );
    members.leave(1);
    const leftUs = Math.floor(clock());
    assert.deepEqual(
      [members.wasMember(1, joinedUs, false), members.wasMember(1, leftUs, false)],
      [true, false],
    );
    members.join(1);
    assert.deepEqual(
      [members.wasMember(1, leftUs, false), members.wasMember(1, clock(), false)],
      [false, true],
    );
  });

  it('counts one that moves in the groups of entries where all stay, and there alone', () => {
    const groups = { groupCount: 2, groupsPerConnection: 1, sendersPer: 'connection' };
    const parameters = { messageSize: 1, sendingInterval: 1, joinLeaveInterval: 1, ...groups };
    const entries = ['broadcast', 'sendToGroup', 'frequentJoinLeaveGroup'].map((useCase) => ({
      useCase,
      parameters,
    }));
    const shared = createMemberMemory(10, 5);
    const members = new SharedMembers(shared, populationsOf(planOf({ entries })), nowUs);
    const counts = (): number[] => [0, 1, 2, 3, 4].map((group) => members.count(group));
    members.join(1);
    members.joinOutside(3);
    assert.deepEqual(counts(), [2, 0, 2, 0, 1]);
    const sentUs = nowUs();
    assert.deepEqual(
      [members.wasMember(3, sentUs, false), members.wasMember(3, sentUs, true)],
      [true, false],
    );
    assert.deepEqual([members.isInside(1), members.isInside(3)], [true, false]);
    members.leave(3);
    members.join(3);
    assert.deepEqual(counts(), [2, 0, 2, 0, 2]);
    assert.equal(members.wasMember(3, nowUs(), true), true);
    for (const index of [1, 3]) members.leave(index);
    assert.deepEqual(counts(), [0, 0, 0, 0, 0]);
  });

  it('knows at most how many messages a member that has moved out still waits for', () => {
    const populations = populationsOf(
      planOf({ useCase: 'frequentJoinLeaveGroup', parameters: { groupCount: 1 } }),
    );
    const shared = createMemberMemory(4, 1, { counts: true });
    const [mine, other] = [0, 1].map(() => new SharedMembers(shared, populations, nowUs));
    mine!.joinOutside(1);
    const send = (): void => {
      for (const begins of [true, false]) other!.counting(0, begins);
    };
    send();
    // One whose receivers are just being counted may be meant for it.
    other!.counting(0, true);
    mine!.move(1, populations[0]!, true);
    other!.counting(0, false);
    send();
    send();
    mine!.came(1);
    other!.counting(0, true);
    mine!.move(1, populations[0]!, false);
    other!.counting(0, false);
    send();
    assert.equal(mine!.missing(1), 3);
    for (let times = 0; times < 3; times++) mine!.came(1);
    assert.equal(mine!.missing(1), 0);
    mine!.move(1, populations[0]!, true);
    mine!.move(1, populations[0]!, false);
    assert.equal(mine!.missing(1), 0, 'what came before is over');
  });

  it('keeps ids for all workers, new ones included, and refuses those that are too long', () => {
    const shared = createMemberMemory(3, 1, { ids: true });
    const population = populationsOf(planOf({ useCase: 'sendToClient' }));
    const [mine, other] = [0, 1].map(() => new SharedMembers(shared, population, nowUs));
    assert.equal(other!.idOf(2), undefined);
    mine!.join(2, Buffer.from('first'));
    assert.equal(String(other!.idOf(2)), 'first');
    mine!.leave(2);
    assert.equal(String(other!.idOf(2)), 'first', 'whoever was prepared once keeps its place');
    for (const id of ['other', 'a much longer one', 'x'.repeat(255)]) {
      mine!.leave(2);
      assert.equal(mine!.join(2, Buffer.from(id)), true);
      assert.equal(String(other!.idOf(2)), id);
    }
    assert.equal(mine!.join(1, Buffer.alloc(256, 'x')), false);
    assert.equal(other!.isOpen(1), false);
    assert.equal(countOpenConnections(shared), 1);
  });
});
