import assert from 'node:assert/strict';
import { stepsOf } from '../../../../src/scenario/steps';
import {
  brief,
  errorsOf,
  fixed,
  messageOf,
  problemOf,
  scenarioOf,
  testProblems,
  withConfig,
} from '../parsed';

const mix = (...entries: string[]): string =>
  `${withConfig('connections: 100', 'baseSending: 100')}scenarios:\n${entries.map((entry) => `  - { ${entry} }\n`).join('')}`;

describe('senders and steps', () => {
  testProblems(`
    more senders than connections | connections: 100 // baseSending: 200 | | warning base-sending "200"
    the default number of senders | connections: 100 | | none
    a run of more than a day | connections: 1000 // baseSending: 1 // step: 1 | | warning long-run "1" | 1,000 steps of 4 min: the run takes 66\\.7 h
    more than 10,000 steps | connections: 100000 // baseSending: 1 // step: 1 | | error too-many-steps "1"
    steps that sendingSteps limits | connections: 100000 // step: 1 // sendingSteps: 3 | | none
    no sender | baseSending: 0 // step: 0 | | error nothing-sent "0"
    no sender where nothing is sent | baseSending: 0 // step: 0 | scenario: { name: connectOnly } | info no-effect "0" + info no-effect "0"
    repeats | repeat: 3 | | none
    no repeat | repeat: 0 | | error below-bounds "0"
    too many repeats | repeat: 101 | | error above-bounds "101"
    a long run of repeats | repeat: 100 // singleStepDuration: 20m | | warning long-run "100" | These are \\d+ steps .* or lower repeat\\.
    repeats of connecting | repeat: 3 | scenario: { name: connectOnly } | info no-effect "3"
    repeats of a search | repeat: 3 | search: { of: senders } | info no-effect "3"
    a drop when the step is over | singleStepDuration: 10s // dropAllAfter: 10s | | error drop-all "10s"
    a drop within the step | singleStepDuration: 10s // dropAllAfter: 5s | | none
    a drop too early | dropAllAfter: 500ms | | error below-bounds "500ms"
    an interval longer than a step | singleStepDuration: 5s | scenario: { parameters: { sendingInterval: 10s } } | warning nothing-sent "10s"
  `);

  it('as many as there are connections at most', () => {
    assert.equal(scenarioOf(withConfig('connections: 100', 'baseSending: 200')).baseSending, 100);
    assert.equal(scenarioOf(withConfig('connections: 100')).baseSending, 100);
  });

  it('sending to another connection takes two, however the other is chosen', () => {
    for (const way of [
      'name: sendToClient',
      'name: sendToClient\n  parameters: { targets: random }',
      "name: invoke\n  parameters: { method: M, arguments: ['{receiver}', '{text}'], reply: callback, callback: C, receivers: client }",
    ]) {
      const file = (count: number): string =>
        `${withConfig(`connections: ${count}`, 'baseSending: 1')}scenario:\n  ${way}\n`;
      assert.match(messageOf(file(1), 'nothing-sent'), /there is only one/);
      assert.equal(fixed(file(1), problemOf(file(1), 'nothing-sent')), file(2));
      assert.deepEqual(errorsOf(file(2)), []);
    }
  });

  it('keys about senders have no effect where nothing is sent, and rounds make the steps', () => {
    const text = `${withConfig('baseSending: 10', 'step: 20')}scenario: { name: connectOnly, parameters: { rounds: 3 } }\n`;
    assert.deepEqual(brief(text).sort(), ['info no-effect "10"', 'info no-effect "20"']);
    const steps = stepsOf(scenarioOf(text)).map(({ index, senders }) => `${index}: ${senders}`);
    assert.deepEqual(steps, ['1: 0', '2: 0', '3: 0']);
  });

  it('kind: perf repairs as the Azure SignalR benchmark did, unless the file says otherwise', () => {
    const repairs = (start: string, ...lines: string[]): boolean =>
      scenarioOf(start + withConfig(...lines)).repair;
    assert.equal(repairs(''), false);
    assert.equal(repairs('kind: perf\n'), true);
    assert.equal(repairs('kind: perf\n', 'repair: false'), false);
    assert.equal(repairs('kind: perf2\n', 'repair: true'), true);
  });
});

describe('a mix', () => {
  it('is read with counts, shares and equal rests', () => {
    const text = mix('name: echo, senders: 10', 'name: broadcast, senders: 30%', 'name: echo');
    assert.deepEqual(brief(text), []);
    const senders = scenarioOf(text).entries.map((entry) => entry.senders);
    const shares = [{ kind: 'count', count: 10 }, { kind: 'share', share: 0.3 }, undefined];
    assert.deepEqual(senders, shares);
  });

  for (const [entries, problem] of [
    [['name: echo, senders: 60', 'name: echo, senders: 41'], 'error mix-sum "41"'],
    [['name: echo, senders: 60%', 'name: echo, senders: 41%'], 'error mix-sum "41%"'],
    [['name: echo, senders: 60', 'name: echo, senders: 50%'], 'error mix-sum "50%"'],
    [['name: echo, senders: 101%'], 'error above-bounds "101%"'],
    [['name: echo, senders: 0%'], 'error below-bounds "0%"'],
    [['name: echo, senders: 0'], 'error below-bounds "0"'],
    [['name: echo, senders: 1.5'], 'error not-whole "1.5"'],
    [['name: echo, senders: some'], 'error wrong-type "some"'],
    [['name: echo, senders: [1]'], 'error wrong-type "[1]"'],
    [['senders: 5'], 'error missing-name "{ senders: 5 }"'],
    [['name: echo, sender: 5'], 'error unknown-key "sender"'],
    [['name: echo, senders: 100', 'name: broadcast'], 'warning mix-sum "broadcast"'],
    // Good but for rounding.
    [['name: echo, senders: 10%', 'name: echo, senders: 20%', 'name: echo, senders: 70%'], ''],
  ] as const)
    it(`of ${entries.join(' and ')} is reported: ${problem}`, () => {
      assert.equal(brief(mix(...entries)).join(), problem);
    });

  it('has no part for what sends nothing', () => {
    const text = mix('name: echo', 'name: connectOnly, senders: 90%', 'name: broadcast');
    assert.deepEqual(brief(text), ['warning no-effect "connectOnly"']);
    assert.deepEqual(stepsOf(scenarioOf(text))[0]!.perEntry, [50, 0, 50]);
  });

  it('beside a single scenario is an error, and a bounded number of entries is read', () => {
    const both = `${mix('name: broadcast')}scenario:\n  name: echo\n`;
    assert.deepEqual(brief(both), ['error both-scenarios "scenarios"']);
    assert.deepEqual(scenarioOf(both).entries[0]!.name, 'echo');
    const many = mix(...Array.from({ length: 60 }, () => 'name: echo'));
    assert.deepEqual(errorsOf(many), ['above-bounds']);
    assert.equal(scenarioOf(many).entries.length, 50);
  });

  testProblems(`
    an empty one | | scenarios: [] | error empty-value "scenarios"
    nothing | | scenarios: | error empty-value "scenarios"
    an empty one beside a single scenario | | scenario: { name: echo } // scenarios: [] | error empty-value "scenarios"
    no list | | scenarios: 5 | error wrong-type "5"
    no map | | scenarios: [5] | error wrong-type "5"
  `);
});

describe('transport and protocol', () => {
  testProblems(`
    long polling without negotiate | skipNegotiation: true // transport: LongPolling | | error skip-negotiation "true"
    WebSockets without negotiate | skipNegotiation: true | | none
    messagepack over server-sent events | protocol: messagepack // transport: ServerSentEvents | | error protocol-transport "messagepack"
    messagepack over long polling | protocol: messagepack // transport: LongPolling | | none
    bytes in JSON | | scenario: { name: echo, parameters: { payload: binary } } | error binary-payload "binary"
    bytes in messagepack | protocol: messagepack | scenario: { name: echo, parameters: { payload: binary } } | none
  `);
});

describe('connections that come, go and move', () => {
  const mover = 'frequentJoinLeaveGroup, parameters: { groupCount: 10 }';
  testProblems(`
    a life of 1 s | lifetime: 1s | | warning short-life "1s" | that is 50 % of the time
    a life of 100 ms | lifetime: 100ms | | warning short-life "100ms" | that is 91 % of the time
    a life of 4 s | lifetime: 4s | | warning short-life "4s" | that is 20 % of the time
    a longer life | lifetime: 5s | | none
    all send in the last step | connections: 100 // baseSending: 10 // step: 10 | scenario: { name: ${mover} } | warning nobody-moves "frequentJoinLeaveGroup" | all 100 connections send
    some do not | connections: 100 // baseSending: 10 // step: 10 // sendingSteps: 9 | scenario: { name: ${mover} } | none
    nobody is to move | connections: 100 // baseSending: 10 // step: 10 | scenario: { name: sendToGroup, parameters: { groupCount: 10 } } | none
    all entries send | connections: 100 // baseSending: 100 | scenarios: [{ name: echo, senders: 90 }, { senders: 10, name: ${mover} }] | warning nobody-moves "frequentJoinLeaveGroup"
    one connection is left | connections: 100 // baseSending: 100 | scenarios: [{ name: echo, senders: 89 }, { senders: 10, name: ${mover} }] | none
  `);
});

describe('objectives', () => {
  // 50 senders for 20 s: 1,000 deliveries.
  const twenty = 'connections: 100 // baseSending: 50 // step: 50 // singleStepDuration: 20s';
  const few =
    'Too few messages for p99\\.9: it takes 10,000 deliveries, so that 10 lie beyond it, and step 1 expects 1,000\\. It has enough for p99: let the step last longer, or send more\\.';
  testProblems(`
    too few deliveries | ${twenty} | slo: { p99.9: 1s, p99.99: 2s } | warning objective-too-fine "1s" + warning objective-too-fine "2s" | ${few}
    too few for one of them | ${twenty.replace('20s', '200s')} | slo: { p99.9: 1s, p99.99: 2s } | warning objective-too-fine "2s" | ^Too few messages for p99\\.99: .* It has enough for p99\\.9:
    many receivers | ${twenty} | slo: { p99.99: 1s } // scenario: { name: broadcast } | none
    that can be judged | ${twenty} | slo: { p99: 1ms, max: 10s } | none
    of little | ${twenty.replace('baseSending: 50', 'baseSending: 0')} | slo: { p50: 1s } | none
  `);
});
