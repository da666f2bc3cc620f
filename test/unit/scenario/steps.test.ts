import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Scenario, SenderShare } from '../../../src/scenario/scenario';
import {
  lastStepSenders,
  maximumSteps,
  stepCount,
  stepsOf,
  plannedRate,
  scenarioAtSearchValue,
} from '../../../src/scenario/steps';
import { rowsOf, scenarioOf, errorsOf, withConfig, testProblems } from './parsed';
import { createSearchStep, buildSearchPlan } from '../../../src/plan/buildPlan';

const defaults = scenarioOf('config:\n  target: local\n');

function scenario(
  [connections, baseSending, step, sendingSteps]: readonly [number, number, number, number],
  mix: readonly (SenderShare | undefined)[] = [undefined],
): Scenario {
  const entries = mix.map((senders) => ({
    name: 'echo',
    parameters: {},
    ...(senders === undefined ? {} : { senders }),
  }));
  return { ...defaults, connections, baseSending, step, sendingSteps, entries };
}

const count = (n: number): SenderShare => ({ kind: 'count', count: n });
const share = (n: number): SenderShare => ({ kind: 'share', share: n });

describe('the steps', () => {
  // Connections, baseSending, step and sendingSteps; senders of each step.
  const tables = rowsOf(`
    1000 500 500 0 | 500 1000
    1000 500 500 1 | 500
    1000 500 500 9 | 500 1000
    1000 500 300 0 | 500 800 1000
    1000 500 300 2 | 500 800
    1900 700 600 0 | 700 1300 1900
    100 1 1 1 | 1
    100 50 100 0 | 50 100
    100 100 10 0 | 100
    100 500 10 0 | 100
    100 30 0 0 | 30
    100 30 0 5 | 30
    100 0 50 0 | 0 50 100
    1 1 1 0 | 1
  `).map((row) => row.map((cell) => cell.split(' ').map(Number)));
  for (const [keys, senders] of tables as [[number, number, number, number], number[]][]) {
    it(`of ${keys.join(' ')} have ${senders.join(', ')} senders`, () => {
      const steps = stepsOf(scenario(keys)).map((one) => [one.index, one.senders]);
      const expected = senders.map((count, at) => [at + 1, count]);
      assert.deepEqual(steps, expected);
      assert.equal(stepCount(scenario(keys)), senders.length);
      assert.equal(lastStepSenders(scenario(keys)), senders.at(-1));
    });
  }

  it('are at most 10,000, however many are asked for', () => {
    const many = scenario([1_000_000, 1, 1, 0]);
    assert.equal(stepCount(many), 1_000_000);
    assert.equal(stepsOf(many).length, maximumSteps);
  });
});

describe('the senders of a mix', () => {
  const mixes: [mix: (SenderShare | undefined)[], last: number, perEntry: number[]][] = [
    [[undefined], 1000, [1000]],
    [[undefined, undefined], 1000, [500, 500]],
    [[undefined, undefined, undefined], 1000, [334, 333, 333]],
    [[count(100), undefined], 1000, [100, 900]],
    [[share(0.3), undefined], 1000, [300, 700]],
    [[share(0.5), share(0.5)], 501, [251, 250]],
    [[share(1 / 3), share(1 / 3), share(1 / 3)], 100, [34, 33, 33]],
    [[count(10), share(0.5), undefined, undefined], 100, [10, 50, 20, 20]],
    [[count(10), share(0.2)], 100, [10, 20]],
    [[count(100), undefined], 100, [100, 0]],
  ];
  for (const [mix, last, perEntry] of mixes) {
    it(`of ${last} are ${perEntry.join(' + ')}`, () => {
      assert.deepEqual(stepsOf(scenario([last, last, 0, 0], mix))[0]!.perEntry, perEntry);
    });
  }

  it('in earlier steps are in proportion', () => {
    const steps = stepsOf(scenario([1000, 500, 250, 0], [count(100), share(0.4), undefined]));
    assert.deepEqual(
      steps.map(({ perEntry }) => perEntry),
      [
        [50, 200, 250],
        [75, 300, 375],
        [100, 400, 500],
      ],
    );
  });

  it('are whole, never negative and never more than the step has', () => {
    const senders = fc.option(
      fc.oneof(
        fc.integer({ min: 1, max: 300 }).map(count),
        fc.integer({ min: 1, max: 25 }).map((percent) => share(percent / 100)),
      ),
      { nil: undefined },
    );
    const numbers = fc.tuple(
      fc.integer({ min: 1200, max: 5000 }),
      fc.integer({ min: 1200, max: 5000 }),
      fc.integer({ min: 0, max: 2000 }),
      fc.integer({ min: 0, max: 5 }),
    );
    fc.assert(
      fc.property(numbers, fc.array(senders, { minLength: 1, maxLength: 4 }), (keys, mix) => {
        const shares = mix.map((one) => (one?.kind === 'share' ? one.share : 0));
        const counts = mix.map((one) => (one?.kind === 'count' ? one.count : 0));
        const last = lastStepSenders(scenario(keys));
        const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
        fc.pre(sum(shares) * last + sum(counts) <= last);
        for (const step of stepsOf(scenario(keys, mix))) {
          assert.ok(step.perEntry.every((value) => Number.isInteger(value) && value >= 0));
          assert.ok(sum([...step.perEntry]) <= step.senders);
          if (mix.includes(undefined)) assert.equal(sum([...step.perEntry]), step.senders);
        }
      }),
      { numRuns: 200 },
    );
  });
});

const base = withConfig('connections: 800', 'baseSending: 800', 'singleStepDuration: 20s');
const searching = (...keys: string[]): string =>
  `${base}search:\n${keys.map((key) => `  ${key}\n`).join('')}`;
const options = { workers: 2, seed: 1, runId: 1 };

describe('search: in a scenario', () => {
  it('is absent unless it is written, and has defaults when it is empty', () => {
    assert.equal(scenarioOf(base).search, undefined);
    assert.deepEqual(scenarioOf(`${base}search:\n`).search, {
      ...{ of: 'senders', from: 50, to: 800, precision: 0.05, budgetMs: 600_000 },
    });
  });

  it('takes what is written', () => {
    const text = searching('of: senders', 'from: 100', 'to: 700', 'precision: 2%', 'budget: 5m');
    assert.deepEqual(errorsOf(text), []);
    assert.deepEqual(scenarioOf(text).search, {
      ...{ of: 'senders', from: 100, to: 700, precision: 0.02, budgetMs: 300_000 },
    });
    assert.equal(
      scenarioOf(searching('of: messageSize', 'from: 2KB', 'to: 64KB')).search?.to,
      65_536,
    );
  });

  it('is opened by an override without a value, which changes nothing in it', () => {
    const overrides = [{ path: 'search', value: '' }];
    assert.equal(scenarioOf(base, { overrides }).search?.of, 'senders');
    assert.equal(scenarioOf(searching('of: rate'), { overrides }).search?.of, 'rate');
    const none = [{ path: 'search', value: 'false' }];
    assert.equal(scenarioOf(searching('of: rate'), { overrides: none }).search, undefined);
    const of = [{ path: 'search.of', value: 'connections' }];
    assert.equal(scenarioOf(base, { overrides: of }).search?.of, 'connections');
  });

  const at = 'connections: 800 // baseSending: 800 // singleStepDuration: 20s';
  testProblems(`
    a range above the connections | ${at} | search: { to: 5000 } | error search-range "5000"
    an empty range | ${at} | search: { from: 500, to: 400 } | error search-range "500"
    senders of what sends nothing | ${at.split(' // ')[0]!} | search: { of: senders } // scenario: { name: connectOnly } | error search-of "senders"
    connections of what sends nothing | ${at.split(' // ')[0]!} | search: { of: connections } // scenario: { name: connectOnly } | none
    a rate with closed pacing | connections: 10 // pacing: closed | search: { of: rate } | error search-of "rate"
    a size where there are several | ${at} | search: { of: messageSize } // scenario: { name: echo, parameters: { messageSizes: 1KB-4KB } } | error search-of "messageSize"
  `);

  it('takes as long as its budget, however many steps the file would have', () => {
    const many = withConfig('connections: 100000', 'baseSending: 1', 'step: 1');
    assert.ok(errorsOf(many).includes('too-many-steps'));
    assert.deepEqual(errorsOf(`${many}search:\n`), []);
  });
});

describe('scenarioAtSearchValue', () => {
  const at = (of: string, value: number, more = ''): ReturnType<typeof scenarioAtSearchValue> =>
    scenarioAtSearchValue(scenarioOf(searching(`of: ${of}`, 'to: 800') + more), value);

  it('has one step, with that many senders', () => {
    const { connections, ...scenario } = at('senders', 123);
    assert.equal(
      stepsOf({ connections, ...scenario })
        .map(({ senders }) => senders)
        .join(),
      '123',
    );
    assert.deepEqual(
      [connections, scenario.singleStepDurationMs, scenario.search],
      [800, 20_000, undefined],
    );
  });

  it('lasts a twentieth of the budget at most, and long enough to see a queue grow', () => {
    const lengths = (budget: string): number[] => {
      const { singleStepDurationMs, warmupMs } = scenarioAtSearchValue(
        scenarioOf(searching(`budget: ${budget}`)),
        10,
      );
      return [singleStepDurationMs, warmupMs];
    };
    assert.deepEqual(lengths('200s'), [10_000, 5000]);
    assert.deepEqual(lengths('100s'), [8000, 5000]);
  });

  it('asks of sessions no rate that their own pauses do not allow', () => {
    const sessions = (interval: string, range: string, wait = '1500ms'): string =>
      `config: { target: local, connections: 20, baseSending: 20, step: 0, warmup: 1s }
search: { of: rate, ${range} }
scenario:
  name: session
  parameters:
    sessionInterval: ${interval}
    steps: [{ call: A }, { wait: ${wait} }, { call: B }]
`;
    const rangeOf = (text: string) => {
      const { from, to, ceiling } = scenarioOf(text).search!;
      return [from, to, ceiling];
    };
    // 20 clients with two calls in 1.5 s.
    assert.deepEqual(rangeOf(sessions('1s', 'from: 20, to: 2000')), [20, 26, 'pauses']);
    assert.deepEqual(rangeOf(sessions('2s', 'from: 20, to: 2000')), [20, 26, 'pauses']);
    assert.deepEqual(rangeOf(sessions('2s', 'from: 40, to: 2000')), [26, 26, 'pauses']);
    assert.deepEqual(rangeOf(sessions('2s', 'from: 5, to: 25')), [5, 25, undefined]);
    assert.deepEqual(rangeOf(sessions('2s', 'from: 5, to: 900', '0')), [5, 900, undefined]);
    const ways = sessions('1s', 'from: 20, to: 2000').replace(
      '{ wait: 1500ms }',
      '{ choose: [{ weight: 19, steps: [{ wait: 100ms }] }, { weight: 1, steps: [{ repeat: 2, every: 5s, steps: [{ wait: 1s }] }] }] }',
    );
    // 595 ms in the mean.
    assert.deepEqual(rangeOf(ways), [20, 67, 'pauses']);
    const planned = scenarioOf(ways);
    assert.deepEqual(buildSearchPlan(planned, options).search, planned.search);
    const { entries, warmupMs } = scenarioAtSearchValue(
      scenarioOf(sessions('1s', 'from: 20, to: 2000')),
      26,
    );
    assert.ok(Number(entries[0]!.parameters['sessionInterval']) >= 1500);
    assert.equal(warmupMs, 1500);
  });

  it('sends at that rate, all entries in proportion', () => {
    const scenario = at('rate', 200);
    assert.ok(Math.abs(plannedRate(scenario) - 200) < 1e-6);
    assert.equal(scenario.entries[0]!.parameters['sendingInterval'], 4000);
    assert.deepEqual(stepsOf(scenario)[0]?.senders, 800);
  });

  it('opens that many connections, which all send where all did', () => {
    const scenario = at('connections', 300);
    assert.deepEqual([scenario.connections, stepsOf(scenario)[0]?.senders], [300, 300]);
    const few = `${withConfig('connections: 800', 'baseSending: 5', 'step: 0')}search: { of: connections }\n`;
    assert.equal(stepsOf(scenarioAtSearchValue(scenarioOf(few), 300))[0]?.senders, 5);
    assert.equal(stepsOf(scenarioAtSearchValue(scenarioOf(few), 3))[0]?.senders, 3);
  });

  it('writes that message size', () => {
    assert.equal(at('messageSize', 700).entries[0]!.parameters['messageSize'], 700);
  });

  it('keeps the parts of a mix, whatever the value', () => {
    const mix =
      'scenarios:\n  - { name: echo, senders: 200 }\n  - { name: broadcast, senders: 600 }\n';
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 800 }), (value) => {
        const [step] = stepsOf(at('senders', value, mix));
        const [echo = 0, broadcast = 0] = step!.perEntry;
        assert.equal(echo + broadcast, value);
        assert.ok(Math.abs(echo - value / 4) <= 1);
      }),
    );
  });
});

describe('the plan of a search', () => {
  const scenario = scenarioOf(searching('of: rate', 'from: 100', 'to: 1600'));

  it('has room for its highest value, and repairs connections', () => {
    const plan = buildSearchPlan(scenario, options);
    assert.equal(plan.steps.length, 1);
    assert.deepEqual(plan.search, scenario.search);
    assert.equal(plan.life?.repair, true);
    assert.equal(plan.entries[0]?.intervalMs, 500);
  });

  it('names in each step what differs', () => {
    const rate = createSearchStep(scenario)(400, 3);
    assert.deepEqual([rate.index, rate.senders, rate.intervalsMs], [3, 800, [2000]]);
    const size = createSearchStep(scenarioOf(searching('of: messageSize')))(4096, 1);
    assert.deepEqual([size.messageBytes, size.intervalsMs], [4096, undefined]);
    const connections = createSearchStep(scenarioOf(searching('of: connections')))(64, 2);
    assert.deepEqual([connections.connections, connections.senders], [64, 64]);
  });
});
