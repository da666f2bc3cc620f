import assert from 'node:assert/strict';
import { loadOf } from '../../../../src/capacity/load/loadOf';
import { buildPlan } from '../../../../src/plan/buildPlan';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { peakSenders, meanShareOfPeak, stagesDurationMs } from '../../../../src/scenario/steps';
import { describeLoad } from '../../../../src/run/runWords';
import { testProblems, brief, messageOf, scenarioOf, withConfig } from '../parsed';
import { scenarioSchema } from '../../../../src/scenario/keys/schema';
import { redactScenario } from '../../../../src/results/completeResult';
import { scenarioCopy } from '../../../../src/results/scenarioCopy';
import { isIP } from 'node:net';
import fc from 'fast-check';

const staged = (stages: string, ...lines: string[]): string =>
  `${withConfig('connections: 1000', `stages: ${stages}`, ...lines)}scenario:\n  name: echo\n`;
const usual = '[{ to: 500, over: 30s, hold: 1m }, { to: 0, over: 10s }]';

describe('stages of a file', () => {
  it('are the only step, with as many senders as the highest of them', () => {
    const text = staged(usual);
    const scenario = scenarioOf(text);
    assert.deepEqual(brief(text), []);
    assert.deepEqual(scenario.stages, {
      from: 0,
      stages: [
        { to: 500, overMs: 30_000, holdMs: 60_000 },
        { to: 0, overMs: 10_000, holdMs: 0 },
      ],
    });
    const { baseSending, step, singleStepDurationMs, warmupMs } = scenario;
    assert.deepEqual([baseSending, step, singleStepDurationMs, warmupMs], [500, 0, 100_000, 0]);
    const plan = buildPlan(scenario, { workers: 2, seed: 1, runId: 1 });
    assert.equal(plan.steps.length, 1);
    assert.deepEqual(
      [plan.steps[0]!.senders, plan.steps[0]!.stages, plan.steps[0]!.measureMs],
      [500, scenario.stages, 100_000],
    );
    assert.match(describeLoad(scenario), /1,000 connections in 2 stages of up to 500 senders$/);
  });

  it('begin with baseSending where that is written, and are warmed up then', () => {
    const { stages, warmupMs, baseSending } = scenarioOf(staged(usual, 'baseSending: 700'));
    assert.deepEqual([stages?.from, warmupMs, baseSending], [700, 5000, 700]);
  });

  it('may name rates, which are as many senders as it takes', () => {
    const rate = (text: string): unknown =>
      scenarioOf(`${staged('[{ rate: 100/s, hold: 10s }]')}${text}`).stages?.stages[0]?.to;
    assert.equal(rate(''), 100);
    assert.equal(rate('  parameters: { sendingInterval: 500ms }\n'), 50);
    const mix = `${withConfig('connections: 100', 'stages: [{ rate: 60/s, hold: 10s }]')}scenarios:
  - { name: echo, senders: 50% }
  - { name: broadcast, senders: 50%, parameters: { sendingInterval: 500ms } }
`;
    // Half of them send once a second, half of them twice.
    assert.equal(scenarioOf(mix).stages?.stages[0]?.to, 40);
  });

  it('are counted by their peak in the estimate, which says so', () => {
    const found = loadOf(scenarioOf(staged(usual, 'arrivals: poisson')));
    assert.ok('input' in found);
    assert.ok(found.input.assumptions?.some((text) => /its peak counts, 500 senders/.test(text)));
    assert.ok(found.input.assumptions?.some((text) => /mean rate counts/.test(text)));
  });

  it('have a peak, a mean and a length', () => {
    const spec = {
      from: 10,
      stages: [
        { to: 30, overMs: 1000, holdMs: 0 },
        { to: 0, overMs: 0, holdMs: 1000 },
      ],
    };
    assert.deepEqual(
      [peakSenders(spec), meanShareOfPeak(spec), stagesDurationMs(spec.stages)],
      [30, 1 / 3, 2000],
    );
    assert.equal(meanShareOfPeak(undefined), 1);
  });

  testProblems(`
    no list | stages: 5 | | error wrong-type "5" | must be a list
    no map | stages: [500, { to: 5, hold: 1s }] | | error wrong-type "500" | Each entry of stages is a map
    no goal | stages: [{ over: 3s }, { to: 5, hold: 1s }] | | error kind "{ over: 3s }" | needs one of to or rate
    two goals | stages: [{ to: 5, rate: 5/s, over: 3s }, { to: 5, hold: 1s }] | | error kind "5/s" | both
    no time | stages: [{ to: 5 }] | | error empty-value "stages" | take no time
    too many | stages: [{ to: 1001, hold: 1s }] | | error stages "[{ to: 1001, hold: 1s }]" | up to 1,001 senders
    nobody | stages: [{ to: 0, hold: 1s }] | | error nothing-sent "[{ to: 0, hold: 1s }]" | No stage has a sender
    a misspelt key | stages: [{ to: 5, hodl: 1s, over: 1s }] | | error unknown-key "hodl" | hold
    steps beside them | stages: [{ to: 5, hold: 1s }] // step: 5 | | warning no-effect "step" | step has no effect
    a search | stages: [{ to: 5, hold: 1s }] | search: { of: senders } | error stages "[{ to: 5, hold: 1s }]" | cannot have stages
    Poisson | stages: [{ to: 5, hold: 1s }] // pacing: closed // arrivals: poisson | | warning no-effect "poisson" | arrivals has no
  `);

  it('are bounded in number, and never throw', () => {
    const many = `[${Array.from({ length: 1001 }, () => '{ to: 1, hold: 1s }').join(', ')}]`;
    assert.match(messageOf(staged(many), 'above-bounds'), /at most 1,000/);
    for (const stages of ['[', '[null]', '[[]]', '{}', '[{ to: -1, hold: 1s }]', '[{ rate: x }]'])
      assert.doesNotThrow(() => parseScenario(staged(stages)));
  });
});

describe('intervals of a file', () => {
  const entryOf = (...parameters: string[]): unknown => {
    const text = `scenario:\n  name: echo\n  parameters: { ${parameters.join(', ')} }\n`;
    assert.deepEqual(
      parseScenario(text).problems.filter(({ severity }) => severity !== 'info'),
      [],
    );
    const plan = buildPlan(scenarioOf(text), { workers: 1, seed: 1, runId: 1 });
    return plan.entries[0]!.intervals;
  };

  it('are drawn where a distribution or a spread is written', () => {
    assert.equal(entryOf(), undefined);
    assert.deepEqual(entryOf('intervalSpread: 30%'), { distribution: 'uniform', spread: 0.3 });
    for (const distribution of ['lognormal', 'exponential'])
      assert.deepEqual(entryOf(`intervalDistribution: ${distribution}`), {
        distribution,
        spread: 0.5,
      });
  });
});

const pushing = (pushes: string, scenario = 'name: connectOnly'): string =>
  `${withConfig('connections: 100', `pushes: ${pushes}`)}scenario: { ${scenario} }\n`;
const price = 'name: PriceChanged, perSecond: 2, size: 38';

describe('pushes of a file', () => {
  it('have a name, a rate, a size and those whom they reach, everyone where nobody says so', () => {
    const text = pushing(
      `[{ ${price} }, { name: Typing, perSecond: 30/m, size: 1KB, to: group }, { name: Ping, perSecond: 0.1/s, size: 2, to: client }]`,
      'name: sendToGroup, parameters: { groupCount: 10 }',
    );
    assert.deepEqual(brief(text), []);
    assert.deepEqual(scenarioOf(text).pushes, [
      { name: 'PriceChanged', perSecond: 2, bytes: 38, to: 'everyone' },
      { name: 'Typing', perSecond: 0.5, bytes: 1024, to: 'group' },
      { name: 'Ping', perSecond: 0.1, bytes: 2, to: 'client' },
    ]);
    assert.equal(scenarioOf(withConfig()).pushes, undefined);
  });

  testProblems(`
    no list | pushes: { name: A } | | error wrong-type "{ name: A }" | pushes must be a list
    no map | pushes: [A] | | error wrong-type "A" | Each entry of pushes is a map
    no name | pushes: [{ perSecond: 2, size: 9 }] | | error missing-key "{ perSecond: 2, size: 9 }" | has no name\\.
    no rate and no size | pushes: [{ name: A }] | | error missing-key "{ name: A }" | has no perSecond, size\\.
    an empty name | pushes: [{ name: ' ', perSecond: 2, size: 9 }] | | error empty-value "' '" | name is an empty
    a long name | pushes: [{ name: ${'a'.repeat(101)}, perSecond: 2, size: 9 }] | | error too-large "${'a'.repeat(101)}" | longer than 100
    no rate above 0 | pushes: [{ name: A, perSecond: 0, size: 9 }] | | error below-bounds "0" | perSecond must
    a rate beyond all hubs | pushes: [{ name: A, perSecond: 2000000, size: 9 }] | | error above-bounds "2000000" | at most 1,000,000
    a size of 0 | pushes: [{ name: A, perSecond: 2, size: 0 }] | | error below-bounds "0" | size must be at least
    a size beyond 16 MB | pushes: [{ name: A, perSecond: 2, size: 17MB }] | | error above-bounds "17MB" | 16 MB
    others | pushes: [{ ${price}, to: users }] | | error unknown-value "users" | everyone, group or client
    a misspelt key | pushes: [{ ${price}, too: client }] | | error unknown-key "too" | "to"
    groups of nobody | pushes: [{ ${price}, to: group }] | | error push-group "group" | to: client
    the top | | pushes: [{ ${price} }] | error unknown-key "pushes" | in config
  `);

  it('are bounded in number, in the schema, too, and never throw', () => {
    const many = `[${Array.from({ length: 101 }, () => `{ ${price} }`).join(', ')}]`;
    assert.match(messageOf(pushing(many), 'above-bounds'), /at most 100/);
    assert.equal(scenarioOf(pushing(many)).pushes?.length, 100);
    const schema = JSON.stringify(scenarioSchema());
    assert.match(schema, /"pushes":\{[^{}]*"type":"array","minItems":1,"maxItems":100,/);
    for (const pushes of ['[', '[null]', '[[]]', '{}', '[{ name: 5, size: x }]', '[{ to: [] }]'])
      assert.doesNotThrow(() => parseScenario(pushing(pushes)));
  });
});

const text = (observe: string): string =>
  `config:\n  target: local\n  observe:\n${observe}\nscenario:\n  name: echo\n`;

const resource =
  '/subscriptions/0/resourceGroups/g/providers/Microsoft.SignalRService/SignalR/chat';

describe('config.observe', () => {
  it('is a list of endpoints and resources', () => {
    const { scenario, problems } = parseScenario(
      text(
        `    - { prometheus: 'http://localhost:5000/metrics', authorization: 'Bearer \${secret:metrics}', series: 'orders_*, cache' }\n    - { azureMonitor: ${resource}, region: westeurope }`,
      ),
    );
    assert.deepEqual(
      problems.filter(({ severity }) => severity === 'error'),
      [],
    );
    assert.deepEqual(scenario?.observe, [
      {
        ...{ kind: 'prometheus', url: 'http://localhost:5000/metrics' },
        ...{ authorization: 'Bearer ${secret:metrics}', series: ['orders_*', 'cache'] },
      },
      { kind: 'azureMonitor', resource, region: 'westeurope' },
    ]);
  });

  testProblems(`
    no list | observe: { prometheus: 'http://a/' } | | error wrong-type "{ prometheus: 'http://a/' }" | must be a list
    no map | observe: [http://a/] | | error wrong-type "http://a/" | Each entry of observe is a map
    nothing to observe | observe: [{ series: a }] | | error kind "{ series: a }" | needs one of prometheus or azureMonitor
    two things in one | observe: [{ prometheus: 'http://a/', azureMonitor: ${resource} }] | | error kind "${resource}" | has both prometheus and azureMonitor
    no URL | observe: [{ prometheus: localhost }] | | error wrong-text "localhost" | not a URL of an endpoint
    a file | observe: [{ prometheus: 'file:///etc/passwd' }] | | error wrong-text "'file:///etc/passwd'" | not a URL of an endpoint
    no pattern | observe: [{ prometheus: 'http://a/', series: 'a{b}' }] | | error wrong-text "'a{b}'" | series holds at most 20 names
    no resource | observe: [{ azureMonitor: chat, region: westeurope }] | | error wrong-text "chat" | not a resource of Azure
    no region | observe: [{ azureMonitor: ${resource} }] | | error observe "azureMonitor" | needs the region
    an unknown key | observe: [{ prometheus: 'http://a/', header: b }] | | error unknown-key "header" | header
  `);

  it('leaves no key in what is stored', () => {
    const written = text(
      "    - { prometheus: 'http://user:pass-word@a/metrics?key=hidden1', authorization: 'Bearer hidden-token' }",
    );
    const { scenario } = parseScenario(written);
    for (const stored of [JSON.stringify(redactScenario(scenario!)), scenarioCopy(written)]) {
      assert.doesNotMatch(stored, /hidden|pass-word/);
      assert.match(stored, /a\/metrics/);
    }
  });
});

describe('localAddresses', () => {
  const parse = (written: string, overrides: readonly { path: string; value: string }[] = []) => {
    const text = `config:\n  target: local\n  connections: 10\n  localAddresses: ${written}\nscenario:\n  name: echo\n`;
    const { scenario, problems } = parseScenario(text, { overrides });
    const said = problems.filter(({ severity }) => severity === 'error');
    return { addresses: scenario?.localAddresses, said: said.map(({ message }) => message) };
  };

  it('are a list, one text, or nothing', () => {
    const both = { addresses: ['127.0.0.2', '::1'], said: [] };
    assert.deepEqual(parse("[127.0.0.2, '::1']"), both);
    assert.deepEqual(parse("'127.0.0.2, ::1'"), both);
    assert.deepEqual(parse(''), { addresses: undefined, said: [] });
    const value = '127.0.0.2,::1';
    assert.deepEqual(parse('127.0.0.9', [{ path: 'config.localAddresses', value }]), both);
  });

  it('are what Node takes for addresses', () => {
    const group = fc.oneof(
      fc.stringMatching(/^[0-9a-f]{0,5}$/),
      fc.constantFrom('', '12', '::', '127.0.0.1', '256.0.0.1', 'g'),
    );
    const address = fc.oneof(
      fc.ipV6(),
      fc.ipV4(),
      fc.array(group, { minLength: 1, maxLength: 9 }).map((groups) => groups.join(':')),
      fc.constantFrom('12:34', '1::2::3', '::ffff:1.2.3.4', '1:2:3:4:5:6:7::', '1.2.3.4::', ':1'),
    );
    const texts = fc.array(
      address.filter((text) => text !== ''),
      { minLength: 20, maxLength: 40 },
    );
    fc.assert(
      fc.property(texts, (all) => {
        const { addresses = [] } = parse(JSON.stringify(all));
        const expected = all.filter((text) => isIP(text) !== 0);
        assert.deepEqual(addresses, expected);
      }),
      { numRuns: 10 },
    );
  });

  it('are refused where they are none', () => {
    for (const bad of ['"12:34"', 'localhost', '256.0.0.1', '1.2.3', '{ a: 1 }', '[[1]]']) {
      const { addresses, said } = parse(bad);
      assert.equal(addresses, undefined, bad);
      assert.match(
        said.join(),
        /in localAddresses is not an IP address; write one of this machine/,
        bad,
      );
    }
  });
});
