import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { derangement, seededRandom } from '../../../src/base/random';
import { buildPlan } from '../../../src/plan/buildPlan';
import {
  entryIndexOfSource,
  countGroups,
  skipAbsentTargets,
  populationsOf,
  senderRanksOfWorker,
  senderCount,
  nonSendersUpTo,
  type Population,
} from '../../../src/plan/population';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { Parameters } from '../../../src/usecases/parameters';
import { planOf, shortStep } from '../../fakes/plan';

const message = { messageSize: 10, sendingInterval: 1000 };

function populated(
  useCase: string,
  connections: number,
  parameters: Parameters = {},
  seed = 1,
): Population {
  const plan = planOf({ useCase, connections, seed, parameters: { ...message, ...parameters } });
  return populationsOf(plan)[0]!;
}

/** All connections the population says a source's message is meant for. */
function receiversOf(population: Population, source: number, connections: number): number[] {
  return indices(connections).filter((receiver) => population.isReceiver(source, receiver));
}
const indices = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const groupings = fc.record({
  connections: fc.integer({ min: 1, max: 25 }),
  groupCount: fc.integer({ min: 1, max: 30 }),
  perConnection: fc.integer({ min: 1, max: 8 }),
  seed: fc.integer(),
});

describe('the population', () => {
  it('sends an echo to the sender alone, and a broadcast to everyone', () => {
    const [echo, broadcast] = [populated('echo', 4), populated('broadcast', 4)];
    for (const source of indices(4)) {
      assert.deepEqual(receiversOf(echo, source, 4), [source]);
      assert.deepEqual(receiversOf(broadcast, source, 4), [0, 1, 2, 3]);
    }
  });

  it('gives each sender one other connection for the whole run, and each another one', () => {
    const oneOther = fc.property(fc.integer({ min: 2, max: 80 }), fc.integer(), (count, seed) => {
      const population = populated('sendToClient', count, { targets: 'fixed' }, seed);
      const targets = [...population.fixedTargets!];
      assert.deepEqual([...new Set(targets)].length, count);
      for (const [source, target] of targets.entries()) {
        assert.notEqual(target, source);
        assert.deepEqual(receiversOf(population, source, count), [target]);
      }
    });
    fc.assert(oneOther, { numRuns: 60 });
  });

  it('leaves the receiver open when targets are random', () => {
    const population = populated('sendToClient', 3, { targets: 'random' });
    assert.equal(population.fixedTargets, undefined);
    assert.equal(population.isReceiver(0, 2), true);
  });

  it('knows the members of every group a sender may send to as brute force does', () => {
    const same = fc.property(groupings, fc.boolean(), (drawn, random) => {
      const { connections, groupCount, perConnection, seed } = drawn;
      const parameters = {
        ...{ groupCount, groupsPerConnection: perConnection, sendersPer: 'connection' },
        ...(random && { targets: 'random' }),
      };
      const useCase = random ? 'restSendToGroup' : 'sendToGroup';
      const population = populated(useCase, connections, parameters, seed);
      const joined = Math.min(perConnection, groupCount);
      const slots = random ? groupCount : joined;
      const { sourcesPerSender, groupsPerConnection } = population;
      assert.deepEqual([sourcesPerSender, groupsPerConnection], [slots, joined]);
      const groupsOf = indices(connections).map((connection) =>
        indices(joined).map((slot) => population.groupOf(connection, slot)),
      );
      for (const source of indices(connections * slots)) {
        const group = population.groupOf(Math.floor(source / slots), source % slots);
        const members = indices(connections).filter((index) => groupsOf[index]!.includes(group));
        assert.deepEqual(receiversOf(population, source, connections), members);
      }
      for (const sender of indices(connections)) {
        const sentTo = indices(slots).map((slot) => population.groupOf(sender, slot));
        assert.equal(new Set(sentTo).size, slots);
      }
    });
    fc.assert(same, { numRuns: 150 });
  });

  it('deals senders over the groups so that counts differ by at most one where groups have room', () => {
    const dealt = fc.property(groupings, fc.nat(), ({ connections, groupCount, seed }, some) => {
      const parameters = { groupCount, groupsPerConnection: 1, sendersPer: 'group' };
      const { senderOrder } = populated('sendToGroup', connections, parameters, seed);
      assert.deepEqual(
        [...senderOrder].sort((a, b) => a - b),
        indices(connections),
      );
      const counts = new Map<number, number>();
      const sizes = new Map<number, number>();
      for (const index of indices(connections))
        sizes.set(index % groupCount, (sizes.get(index % groupCount) ?? 0) + 1);
      const senders = some % (connections + 1);
      for (const connection of senderOrder.subarray(0, senders))
        counts.set(connection % groupCount, (counts.get(connection % groupCount) ?? 0) + 1);
      const most = Math.max(0, ...counts.values());
      for (const [group, size] of sizes)
        assert.ok((counts.get(group) ?? 0) >= Math.min(size, most - 1));
    });
    fc.assert(dealt, { numRuns: 200 });
  });

  it('keeps its senders from step to step and adds new ones', () => {
    const { senderOrder } = populated('echo', 50);
    const few = senderRanksOfWorker(senderOrder, 10, 0, 1).map((rank) => senderOrder[rank]!);
    const more = senderRanksOfWorker(senderOrder, 30, 0, 1).map((rank) => senderOrder[rank]!);
    assert.deepEqual(more.subarray(0, 10), few);
  });

  it('is the same in every worker and another one with another seed', () => {
    const order = (seed: number): string =>
      populated('sendToClient', 40, { targets: 'fixed' }, seed).fixedTargets!.join();
    assert.equal(order(5), order(5));
    assert.notEqual(order(5), order(6));
  });

  it('is split over the workers without gap or overlap', () => {
    const whole = fc.property(groupings, fc.nat(), ({ connections, perConnection, seed }, some) => {
      const workers = perConnection;
      const senders = some % (connections + 1);
      const { senderOrder } = populated('echo', connections, {}, seed);
      const parts = indices(workers).map((worker) =>
        senderRanksOfWorker(senderOrder, senders, worker, workers),
      );
      for (const [worker, ranks] of parts.entries()) {
        for (const rank of ranks) assert.equal(senderOrder[rank]! % workers, worker);
        assert.deepEqual(
          [...ranks],
          [...ranks].sort((a, b) => a - b),
        );
      }
      const all = parts.flatMap((ranks) => [...ranks]).sort((a, b) => a - b);
      assert.deepEqual(all, indices(senders));
    });
    fc.assert(whole, { numRuns: 200 });
  });
});

describe('the populations of a mix', () => {
  const group = { ...message, groupCount: 3, groupsPerConnection: 2, sendersPer: 'group' };
  const plan = planOf({
    connections: 30,
    entries: [
      { useCase: 'echo', parameters: message },
      { useCase: 'sendToGroup', parameters: group },
      { useCase: 'sendToGroup', parameters: { ...group, groupCount: 5 } },
      { useCase: 'broadcast', parameters: message },
    ],
    steps: [
      { ...shortStep, senders: 8, perEntry: [2, 3, 2, 1] },
      { ...shortStep, index: 2, senders: 20, perEntry: [6, 5, 2, 7] },
    ],
  });
  const populations = populationsOf(plan);

  it('give each connection to one entry at most, in every step', () => {
    for (const step of plan.steps) {
      const senders = populations.flatMap(({ senderOrder }, position) => [
        ...senderOrder.subarray(0, senderCount(step, position)),
      ]);
      assert.equal(senders.length, step.senders);
      const silent = [...nonSendersUpTo(plan, populations, step.index)];
      assert.deepEqual(
        [...senders, ...silent].sort((a, b) => a - b),
        indices(30),
      );
    }
  });

  it('distinguish sources and groups of the entries', () => {
    const [, groups, others, last] = populations as [Population, ...Population[]];
    assert.deepEqual(
      populations.map(({ firstSource }) => firstSource),
      [0, 30, 90, 150],
    );
    assert.deepEqual(
      populations.map(({ firstGroup }) => firstGroup),
      [0, 1, 4, 9],
    );
    assert.deepEqual(
      [0, 29, 30, 89, 90, 150, 179, 180].map((source) => entryIndexOfSource(populations, source)),
      [0, 0, 1, 1, 2, 3, 3, -1],
    );
    assert.notEqual(groups!.groupName(1), others!.groupName(1));
    assert.equal(last!.senderOrder.length, 30 - 6 - 5 - 2);
  });

  it('have their senders one after the other, where connections send as they are listed', () => {
    const { scenario } =
      parseScenario(`config: { connections: 30, baseSending: 10, step: 10, senderOrder: listed }
scenarios: [{ name: echo, senders: 20% }, { name: broadcast, senders: 50% }, { name: echo }]`);
    const listed = buildPlan(scenario!, { workers: 2, seed: 5, runId: 1 });
    const orders = populationsOf(listed).map(({ senderOrder }) => [...senderOrder]);
    assert.deepEqual(orders[0], [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(
      orders.map(({ length }) => length),
      [6, 15, 9],
    );
    assert.deepEqual(orders.flat(), indices(30));
  });

  it('share groups where sessions say so, under one name', () => {
    const session = {
      useCase: 'session',
      parameters: {
        ...{ sessionInterval: 1000, groupCount: 3, sharedGroups: 'rooms' },
        steps: JSON.stringify([
          {
            ...{ kind: 'call', method: 'Post', arguments: ['{group}', '{text}'] },
            ...{ reply: 'callback', callback: 'Posted', receivers: 'group', group: 'none' },
          },
        ]),
      },
    };
    const other = { ...session, parameters: { ...session.parameters, sharedGroups: 'halls' } };
    const entries = [{ useCase: 'echo', parameters: message }, session, other, session];
    const all = populationsOf(planOf({ connections: 12, entries }));
    assert.deepEqual(
      all.map(({ firstGroup, groupCount, othersMove }) => [firstGroup, groupCount, othersMove]),
      [
        [0, 1, false],
        [1, 3, true],
        [4, 3, true],
        [1, 3, true],
      ],
    );
    assert.equal(countGroups(all), 7);
    const names = all.map((each) => each.groupName(2));
    assert.equal(names[1], names[3]);
    assert.equal(new Set(names).size, 3);
    // Connection 4 is in the group of connection 1, whatever entry sends.
    assert.deepEqual(
      all.slice(1).map((each) => [each.isReceiver(1, 4), each.isReceiver(1, 3)]),
      [1, 2, 3].map(() => [true, false]),
    );
  });

  it('have names of one length in all runs', () => {
    const names = [1, 0xc0_ff_ee_01].map((runId) =>
      populationsOf({ ...plan, runId, entries: [plan.entries[1]!] })[0]!.groupName(1),
    );
    assert.deepEqual(names, ['sendToGroup_00000001_1', 'sendToGroup_c0ffee01_1']);
  });

  it('deal the senders of an entry over its groups', () => {
    const dealt = [...populations[1]!.senderOrder].map((connection) => connection % 3);
    assert.deepEqual(dealt, [0, 1, 2, 0, 1]);
  });
});

describe('skipAbsentTargets', () => {
  it('keeps everybody who takes part writing to, and written to by, one other', () => {
    const kept = fc.property(
      fc.integer(),
      fc.array(fc.boolean(), { minLength: 2, maxLength: 60 }),
      (seed, takesPart) => {
        const targets = derangement(takesPart.length, seededRandom(seed));
        skipAbsentTargets(targets, (connection) => takesPart[connection]!);
        const senders = takesPart.flatMap((part, connection) => (part ? [connection] : []));
        const receivers = senders.map((sender) => targets[sender]!);
        assert.deepEqual(
          [...receivers].sort((a, b) => a - b),
          senders,
        );
        if (senders.length > 1) senders.forEach((one) => assert.notEqual(targets[one], one));
      },
    );
    fc.assert(kept, { numRuns: 300 });
  });
});
