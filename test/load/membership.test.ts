import assert from 'node:assert/strict';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { sideBySide } from '../fakes/sideBySide';
import { assertConsistent, assertExact, loadRun } from './loadRun';

describe('connections that move in and out of groups', function () {
  let hub: HubHere;

  before(async () => {
    hub = await startHubHere();
  });
  after(() => hub.dispose());

  const test = sideBySide(2);

  for (const [where, hosts] of [
    ['threads', { workers: 2 }],
    ['processes', { processes: 2 }],
  ] as const)
    test(`counts the senders of each group exactly and keeps joins and leaves apart, in uneven groups, on ${where}`, async () => {
      const run = await loadRun({
        target: hub.url,
        useCase: 'frequentJoinLeaveGroup',
        parameters: { groupCount: 3, joinLeaveInterval: '100ms', sendersPer: 'group' },
        config: { connections: 20, baseSending: 5, step: 15, singleStepDuration: '1s', warmup: 0 },
        ...hosts,
      });
      assert.equal(run.ending, 'completed');
      assert.deepEqual(run.errors, {});
      const [first, second] = run.steps;
      assert.ok(first && second);
      // Five senders in groups of two, two and one: each message reaches the senders of its group.
      const { leaving, membership } = first;
      assertExact(first, 5 * 20, 20 * (2 * 2 + 2 * 2 + 1));
      assert.ok(leaving! > 0, 'what reaches those that move is counted apart');
      // Fifteen connections, ten moves each; they begin outside, so they join first.
      assert.ok(membership);
      assert.equal(membership.joins + membership.leaves + membership.skipped, 150);
      assert.ok(membership.joins >= membership.leaves, `${membership.leaves} left`);
      assert.equal(membership.joinsFailed + membership.leavesFailed, 0);
      assert.equal(membership.joinUs.count, membership.joins);
      assert.equal(membership.leaveUs.count, membership.leaves);
      assert.ok(membership.joinUs.min > 0);
      // Then all send, and nobody moves.
      assertExact(second, 20 * 20, 20 * (7 * 7 + 7 * 7 + 6 * 6));
      assert.equal(second.membership?.joins, 0);
      assert.equal(second.connections?.open, 20);
      assertConsistent(run);
    });
});
