import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { splitEvenly, type Plan } from '../../../src/plan/plan';
import { buildPlan, createPlanEntry } from '../../../src/plan/buildPlan';
import { scenarioWith } from '../capacity/scenarios';

const options = { workers: 3, seed: 11, runId: 0x1_2345_6789 };

describe('split', () => {
  it('gives parts that sum to the whole and differ by at most one', () => {
    const exact = fc.property(
      fc.nat(1_000_000),
      fc.integer({ min: 1, max: 64 }),
      (total, parts) => {
        const split_ = splitEvenly(total, parts);
        assert.equal(split_.length, parts);
        assert.equal(
          split_.reduce((sum, part) => sum + part, 0),
          total,
        );
        assert.ok(Math.max(...split_) - Math.min(...split_) <= 1);
      },
    );
    fc.assert(exact, { numRuns: 300 });
  });
});

describe('buildPlan', () => {
  const scenario = scenarioWith({
    connections: 10,
    baseSending: 2,
    step: 3,
    sendingSteps: 0,
    singleStepDurationMs: 4000,
    warmupMs: 1000,
    drainMs: 2000,
    connectInFlight: 7,
  });

  it('gives the same plan for the same scenario and options, as data that can be cloned', () => {
    const plan = buildPlan(scenario, options);
    assert.deepEqual(buildPlan(scenario, options), plan);
    assert.deepEqual(structuredClone(plan), plan);
  });

  it('runs all steps as often as asked, in rounds whose numbers go on', () => {
    const once = buildPlan(scenario, options);
    const plan = buildPlan({ ...scenario, repeat: 3 }, options);
    const { length } = once.steps;
    assert.deepEqual([once.cycle, plan.cycle, plan.steps.length], [undefined, length, 3 * length]);
    assert.deepEqual(
      plan.steps.map(({ index }) => index),
      plan.steps.map((_, at) => at + 1),
    );
    for (const [at, step] of plan.steps.entries())
      assert.deepEqual({ ...step, index: 0 }, { ...once.steps[at % length]!, index: 0 });
    assert.deepEqual(buildPlan({ ...scenario, repeat: 1 }, options), once);
    const rounds = scenarioWith({
      connections: 10,
      repeat: 3,
      entries: [{ name: 'connectOnly', parameters: { rounds: 2 } }],
    });
    assert.equal(buildPlan(rounds, options).steps.length, 2);
  });

  it('takes steps and times from the scenario and keeps 32 bits of the run id', () => {
    const plan = buildPlan(scenario, options);
    assert.deepEqual(
      plan.steps.map(({ senders }) => senders),
      [2, 5, 8, 10],
    );
    assert.deepEqual(plan.steps[2], {
      index: 3,
      senders: 8,
      warmupMs: 1000,
      measureMs: 4000,
      drainMs: 2000,
    });
    assert.equal(plan.runId, 0x2345_6789);
    assert.equal(plan.seed, 11);
    assert.equal(plan.entries[0]!.useCase, 'echo');
  });

  it('shares the connects in flight among the workers, each of which has one at least', () => {
    const shares = (workers: number): number[] =>
      buildPlan(scenario, { ...options, workers }).workers.map((part) => part.connectInFlight);
    assert.deepEqual(shares(3), [3, 2, 2]);
    assert.deepEqual(shares(10), Array<number>(10).fill(1));
  });

  it('uses one worker at least and no more than there are connections', () => {
    const count = (workers: number): number =>
      buildPlan(scenario, { ...options, workers }).workers.length;
    assert.deepEqual([count(0), count(1), count(1000)], [1, 1, 10]);
  });

  it('gives each agent as many workers, one at least', () => {
    const plan = (workers: number, agents: number): Plan =>
      buildPlan(scenario, { ...options, workers, agents });
    const counts = [plan(6, 3), plan(7, 3), plan(1, 3), plan(1000, 3), plan(1, 1)];
    assert.deepEqual(
      counts.map(({ agents, workers }) => [agents, workers.length]),
      [
        [3, 6],
        [3, 6],
        [3, 3],
        [3, 9],
        [undefined, 1],
      ],
    );
    assert.deepEqual(plan(2, 1), buildPlan(scenario, { ...options, workers: 2 }));
  });

  it('refuses to measure the time to all over several agents', () => {
    const asked = { ...scenario, timeToAll: true };
    assert.equal(buildPlan(asked, options).timeToAll, true);
    assert.throws(() => buildPlan(asked, { ...options, agents: 2 }), /measured by one agent only/);
  });
});

const sending = { messageSize: 2048, sendingInterval: 500 };

describe('createPlanEntry', () => {
  it('reads intervals, sizes and contents', () => {
    const entry = createPlanEntry({
      name: 'echo',
      parameters: { ...sending, messageSizes: '256B 90%, 16KB 10%', payload: 'binary' },
    });
    assert.equal(entry.intervalMs, 500);
    assert.equal(entry.groups, undefined);
    assert.deepEqual(entry.payload, {
      content: 'binary',
      sizes: [
        { bytes: 256, weight: 90 },
        { bytes: 16_384, weight: 10 },
      ],
    });
  });

  it('reads groups, of which a connection joins no more than there are', () => {
    const parameters = { ...sending, groupCount: 3, groupsPerConnection: 5, sendersPer: 'group' };
    const entry = createPlanEntry({
      name: 'frequentJoinLeaveGroup',
      parameters: { ...parameters, joinLeaveInterval: 70, targets: 'random' },
    });
    assert.deepEqual(entry.groups, { count: 3, perConnection: 3, dealsSenders: true });
    assert.deepEqual([entry.moveIntervalMs, entry.targets], [70, 'random']);
  });

  it('measures arguments of the user’s own', () => {
    const entry = createPlanEntry({
      name: 'invoke',
      parameters: { method: 'M', arguments: '["abc"]', sendingInterval: 100 },
    });
    assert.deepEqual(entry.payload.sizes, [{ bytes: '["abc"]'.length, weight: 1 }]);
    assert.equal(entry.run.ownCall?.method, 'M');
  });

  it('has neither sizes nor an interval where nothing is sent', () => {
    const entry = createPlanEntry({ name: 'connectOnly', parameters: { rounds: 1 } });
    assert.deepEqual([entry.intervalMs, entry.payload.sizes], [0, []]);
  });

  it('refuses a use case that is not there', () => {
    assert.throws(
      () => createPlanEntry({ name: 'nothing', parameters: {} }),
      /no use case nothing/,
    );
  });
});
