import assert from 'node:assert/strict';
import { stepsOf } from '../../../../src/scenario/steps';
import { brief, errorsOf, fixed, problemOf, scenarioOf, withConfig } from '../parsed';

const mix = (...entries: string[]): string =>
  `${withConfig('connections: 100', 'baseSending: 100')}scenarios:\n${entries.map((entry) => `  - { ${entry} }\n`).join('')}`;

describe('senders and steps', () => {
  it('more senders than connections are lowered with a warning', () => {
    const text = withConfig('connections: 100', 'baseSending: 200');
    assert.equal(scenarioOf(text).baseSending, 100);
    assert.deepEqual(brief(text), ['warning base-sending "200"']);
    assert.deepEqual(brief(fixed(text, problemOf(text, 'base-sending'))), []);
  });

  it('the default number of senders is lowered without a word', () => {
    const text = withConfig('connections: 100');
    assert.equal(scenarioOf(text).baseSending, 100);
    assert.deepEqual(brief(text), []);
  });

  it('more than 10,000 steps are an error', () => {
    const text = withConfig('connections: 100000', 'baseSending: 1', 'step: 1');
    assert.ok(brief(text).includes('error too-many-steps "1"'));
    assert.deepEqual(errorsOf(withConfig('connections: 100000', 'step: 1', 'sendingSteps: 3')), []);
  });

  it('a run of more than a day is a warning', () => {
    const text = withConfig('connections: 1000', 'baseSending: 1', 'step: 1');
    assert.match(
      problemOf(text, 'long-run').message,
      /1,000 steps of 4 min: the run takes 66\.7 h/,
    );
  });

  it('no sender at all is an error, unless nothing is meant to be sent', () => {
    const text = withConfig('baseSending: 0', 'step: 0');
    assert.ok(brief(text).includes('error nothing-sent "0"'));
    const quiet = `${text}scenario:\n  name: connectOnly\n`;
    assert.ok(!brief(quiet).some((line) => line.includes('nothing-sent')));
  });

  it('sending to another connection takes two, however the other is chosen', () => {
    const ways = [
      'name: sendToClient',
      'name: sendToClient\n  parameters: { targets: random }',
      "name: invoke\n  parameters: { method: M, arguments: ['{receiver}', '{text}'], reply: callback, callback: C, receivers: client }",
    ];
    for (const way of ways) {
      const file = (count: number): string =>
        `${withConfig(`connections: ${count}`, 'baseSending: 1')}scenario:\n  ${way}\n`;
      assert.match(problemOf(file(1), 'nothing-sent').message, /there is only one/);
      assert.deepEqual(errorsOf(file(1)), ['nothing-sent']);
      assert.equal(fixed(file(1), problemOf(file(1), 'nothing-sent')), file(2));
      assert.deepEqual(errorsOf(file(2)), []);
    }
  });

  it('keys about senders have no effect where nothing is sent, and rounds make the steps', () => {
    const text = `${withConfig('baseSending: 10', 'step: 20')}scenario:\n  name: connectOnly\n  parameters:\n    rounds: 3\n`;
    assert.deepEqual(brief(text).sort(), ['info no-effect "10"', 'info no-effect "20"']);
    assert.deepEqual(
      stepsOf(scenarioOf(text)).map(({ index, senders }) => [index, senders]),
      [
        [1, 0],
        [2, 0],
        [3, 0],
      ],
    );
  });

  it('repeat counts for the length of a run, and has no effect where nothing is repeated', () => {
    assert.equal(scenarioOf(withConfig('repeat: 3')).repeat, 3);
    assert.deepEqual(brief(withConfig('repeat: 3')), []);
    assert.deepEqual(brief(withConfig('repeat: 0')), ['error below-bounds "0"']);
    assert.deepEqual(brief(withConfig('repeat: 101')), ['error above-bounds "101"']);
    const long = withConfig('repeat: 100', 'singleStepDuration: 20m');
    assert.match(problemOf(long, 'long-run').message, /These are \d+ steps .* or lower repeat\./);
    const connecting = `${withConfig('repeat: 3')}scenario:\n  name: connectOnly\n`;
    assert.deepEqual(brief(connecting), ['info no-effect "3"']);
    const searched = `${withConfig('repeat: 3')}search:\n  of: senders\n`;
    assert.deepEqual(brief(searched), ['info no-effect "3"']);
  });

  it('dropping all connections when the step is over is an error, too early one too', () => {
    assert.deepEqual(brief(withConfig('singleStepDuration: 10s', 'dropAllAfter: 10s')), [
      'error drop-all "10s"',
    ]);
    assert.deepEqual(brief(withConfig('singleStepDuration: 10s', 'dropAllAfter: 5s')), []);
    assert.equal(errorsOf(withConfig('dropAllAfter: 500ms')).length, 1);
  });

  it('kind: perf repairs as the Azure SignalR benchmark did, unless the file says otherwise', () => {
    const repairs = (text: string): boolean => scenarioOf(text).repair;
    assert.equal(repairs(withConfig('connections: 10')), false);
    assert.equal(repairs(`kind: perf\n${withConfig('connections: 10')}`), true);
    assert.equal(repairs(`kind: perf\n${withConfig('repair: false')}`), false);
    assert.equal(repairs(`kind: perf2\n${withConfig('repair: true')}`), true);
  });

  it('an interval longer than a step is a warning', () => {
    const text = `${withConfig('singleStepDuration: 5s')}scenario:\n  parameters:\n    sendingInterval: 10s\n`;
    assert.deepEqual(brief(text), ['warning nothing-sent "10s"']);
  });
});

describe('a mix', () => {
  it('is read with counts, shares and equal rests', () => {
    const text = mix('name: echo, senders: 10', 'name: broadcast, senders: 30%', 'name: echo');
    assert.deepEqual(brief(text), []);
    assert.deepEqual(
      scenarioOf(text).entries.map(({ name, senders }) => [name, senders]),
      [
        ['echo', { kind: 'count', count: 10 }],
        ['broadcast', { kind: 'share', share: 0.3 }],
        ['echo', undefined],
      ],
    );
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
  ] as const) {
    it(`of ${entries.join(' and ')} is reported: ${problem}`, () => {
      assert.deepEqual(brief(mix(...entries)), [problem]);
    });
  }

  it('has no part for what sends nothing', () => {
    const text = mix('name: echo', 'name: connectOnly, senders: 90%', 'name: broadcast');
    assert.deepEqual(brief(text), ['warning no-effect "connectOnly"']);
    assert.deepEqual(stepsOf(scenarioOf(text))[0]!.perEntry, [50, 0, 50]);
  });

  it('whose shares add up to 100 % but for rounding is good', () => {
    assert.deepEqual(
      brief(
        mix('name: echo, senders: 10%', 'name: echo, senders: 20%', 'name: echo, senders: 70%'),
      ),
      [],
    );
  });

  it('beside a single scenario is an error, and so is an empty one', () => {
    const text = `${mix('name: broadcast')}scenario:\n  name: echo\n`;
    assert.deepEqual(brief(text), ['error both-scenarios "scenarios"']);
    assert.deepEqual(
      scenarioOf(text).entries.map(({ name }) => name),
      ['echo'],
    );
    for (const empty of ['scenarios: []', 'scenarios:', 'scenario:\n  name: echo\nscenarios: []'])
      assert.deepEqual(brief(`${withConfig()}${empty}\n`), ['error empty-value "scenarios"']);
  });

  it('that is no list is an error, and so is an entry that is no map', () => {
    assert.ok(errorsOf(`${withConfig()}scenarios: 5\n`).includes('wrong-type'));
    assert.ok(errorsOf(`${withConfig()}scenarios: [5]\n`).includes('wrong-type'));
  });

  it('has a bounded number of entries', () => {
    const text = mix(...Array.from({ length: 60 }, () => 'name: echo'));
    assert.ok(errorsOf(text).includes('above-bounds'));
    assert.equal(scenarioOf(text).entries.length, 50);
  });
});

describe('transport and protocol', () => {
  it('without negotiate must be Websockets', () => {
    const text = withConfig('skipNegotiation: true', 'transport: LongPolling');
    assert.deepEqual(brief(text), ['error skip-negotiation "true"']);
    assert.deepEqual(brief(fixed(text, problemOf(text, 'skip-negotiation'))), []);
    assert.deepEqual(brief(withConfig('skipNegotiation: true')), []);
  });

  it('messagepack does not go over server-sent events', () => {
    const text = withConfig('protocol: messagepack', 'transport: ServerSentEvents');
    assert.deepEqual(brief(text), ['error protocol-transport "messagepack"']);
    assert.deepEqual(brief(withConfig('protocol: messagepack', 'transport: LongPolling')), []);
  });

  it('bytes as payload need messagepack', () => {
    const scenario = 'scenario:\n  name: echo\n  parameters:\n    payload: binary\n';
    const text = withConfig() + scenario;
    assert.deepEqual(brief(text), ['error binary-payload "binary"']);
    assert.deepEqual(brief(fixed(text, problemOf(text, 'binary-payload'))), []);
    assert.deepEqual(brief(withConfig('protocol: messagepack') + scenario), []);
  });
});
