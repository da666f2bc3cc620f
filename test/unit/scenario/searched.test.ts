import assert from 'node:assert/strict';
import fc from 'fast-check';
import { plannedRate, scenarioAtSearchValue, stepsOf } from '../../../src/scenario/steps';
import { searchStepOf, buildSearchPlan } from '../../../src/plan/buildPlan';
import { brief, errorsOf, fixed, problemOf, scenarioOf, withConfig } from './parsed';

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

  it('asks for a range that there is', () => {
    const text = searching('to: 5000');
    assert.deepEqual(errorsOf(text), ['search-range']);
    assert.deepEqual(errorsOf(fixed(text, problemOf(text, 'search-range'))), []);
    assert.deepEqual(errorsOf(searching('from: 500', 'to: 400')), ['search-range']);
  });

  it('takes as long as its budget, however many steps the file would have', () => {
    const many = withConfig('connections: 100000', 'baseSending: 1', 'step: 1');
    assert.ok(errorsOf(many).includes('too-many-steps'));
    assert.deepEqual(errorsOf(`${many}search:\n`), []);
  });

  it('asks for something that can be varied', () => {
    const problems = (text: string): string[] =>
      brief(text).filter((line) => line.includes('search-of'));
    assert.equal(problems(`${searching('of: senders')}scenario:\n  name: connectOnly\n`).length, 1);
    assert.equal(
      problems(`${searching('of: connections')}scenario:\n  name: connectOnly\n`).length,
      0,
    );
    const closed = withConfig('connections: 10', 'pacing: closed');
    assert.equal(problems(`${closed}search: { of: rate }\n`).length, 1);
    const sizes = 'scenario:\n  name: echo\n  parameters: { messageSizes: 1KB-4KB }\n';
    assert.equal(problems(`${searching('of: messageSize')}${sizes}`).length, 1);
  });
});

describe('scenarioAtSearchValue', () => {
  const at = (of: string, value: number, more = ''): ReturnType<typeof scenarioAtSearchValue> =>
    scenarioAtSearchValue(scenarioOf(searching(`of: ${of}`, 'to: 800') + more), value);

  it('has one step, with that many senders', () => {
    const { connections, ...scenario } = at('senders', 123);
    assert.deepEqual(
      stepsOf({ connections, ...scenario }).map(({ senders }) => senders),
      [123],
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
    const rate = searchStepOf(scenario)(400, 3);
    assert.deepEqual([rate.index, rate.senders, rate.intervalsMs], [3, 800, [2000]]);
    const size = searchStepOf(scenarioOf(searching('of: messageSize')))(4096, 1);
    assert.deepEqual([size.messageBytes, size.intervalsMs], [4096, undefined]);
    const connections = searchStepOf(scenarioOf(searching('of: connections')))(64, 2);
    assert.deepEqual([connections.connections, connections.senders], [64, 64]);
  });
});
