import assert from 'node:assert/strict';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { rowsOf } from '../parsed';
import { listCalls, pausesOf, sessionStepsOf } from '../../../../src/usecases/sessionSteps';

const head = 'config: { connections: 100 }\nscenario:\n  name: session\n  parameters:\n';

const scenarioOf = (parameters: string): string => head + parameters.replace(/^/gm, '    ');

/** What is wrong, each with the text that it is about. */
function problemsOf(parameters: string): string[] {
  const text = scenarioOf(parameters);
  return parseScenario(text)
    .problems.filter(({ severity }) => severity !== 'info')
    .map(({ code, offset, length }) => `${code}: ${text.slice(offset, offset + length)}`);
}

const steps = (...lines: readonly string[]): string =>
  ['sessionInterval: 30s', 'steps:', ...lines.map((line) => `  ${line}`)].join('\n');

const whole = steps(
  "- { call: JoinRoom, arguments: ['room-{group}'] }",
  '- repeat: 10',
  '  every: 2s',
  '  steps:',
  '    - call: SendMessage',
  "      arguments: ['room-{group}', { author: '{senderIndex}', text: '{text:200B}' }]",
  '      reply: callback',
  '      callback: MessagePosted',
  '      receivers: group',
  '- call: GetHistory',
  "  arguments: ['room-{group}', 20]",
  "  keep: { last: '$[0].id' }",
  "- { call: Acknowledge, arguments: ['{last}'] }",
  '- wait: 5s',
  "- { call: LeaveRoom, arguments: ['room-{group}'] }",
);

describe('the steps of a session', () => {
  it('are read with their defaults, and named by their methods', () => {
    assert.deepEqual(problemsOf(whole), []);
    const { parameters } = parseScenario(scenarioOf(whole)).scenario!.entries[0]!;
    const read = sessionStepsOf(parameters);
    const calls = listCalls(read);
    assert.deepEqual(
      calls.map(({ name, times }) => [name, times].join(' ')),
      ['JoinRoom 1', 'SendMessage 10', 'GetHistory 1', 'Acknowledge 1', 'LeaveRoom 1'],
    );
    assert.deepEqual(
      calls.map(({ step }) => step.kind === 'call' && step.group),
      ['join', 'none', 'none', 'none', 'leave'],
    );
    assert.equal(pausesOf(read), 25_000);
    // Groups of about ten.
    assert.equal(parameters['groupCount'], 10);
  });

  it('may have lists of pauses, of which one is drawn', () => {
    const read = steps(
      '- call: A',
      '- wait: [0, 0.5s, 1s]',
      '- { repeat: 3, every: [1s, 3s], steps: [{ call: B }, { wait: [200ms, 1s] }] }',
    );
    assert.deepEqual(problemsOf(read), []);
    const all = sessionStepsOf(parseScenario(scenarioOf(read)).scenario!.entries[0]!.parameters);
    // 0.5 s, and three rounds of 2 s.
    assert.equal(pausesOf(all), 6500);
    assert.equal(pausesOf(all, 'longest'), 10_000);
    assert.equal(pausesOf(all, 'shortest'), 3000);
    for (const [written, problem] of [
      ['- wait: []', 'empty-value: []'],
      [`- wait: [${'1s, '.repeat(101)}]`, 'above-bounds: [1s,'],
      ['- wait: [1s, soon]', 'wrong-type: soon'],
      ['- wait: [1s, [2s]]', 'wrong-type: [2s]'],
      ['- wait: [1s, -1s]', 'negative: -1s'],
      ['- wait: [1s, 2]', 'unit: 2'],
      ['- wait: [1s, 25h]', 'session-length: 30s + above-bounds: 25h'],
      // In the mean as long as the others, yet one round may be late by its own pauses.
      [
        '- { repeat: 2, every: [1s, 3s], steps: [{ call: B }, { wait: 1500ms }] }',
        'session-length: [1s, 3s]',
      ],
      [
        '- { repeat: 2, every: 2s, steps: [{ call: B }, { wait: [1s, 2100ms] }] }',
        'session-length: 2s',
      ],
      // Longer than the interval in the mean.
      ['- wait: [1s, 60s]', 'session-length: 30s'],
    ])
      assert.deepEqual(
        problemsOf(steps('- call: A', written!)).map((each) => each.replace(/(\[1s,) 1s.*/, '$1')),
        problem!.split(' + '),
        written,
      );
    assert.deepEqual(problemsOf(steps('- call: A', '- wait: [1s, 58s]')), []);
  });

  it('may have texts of several sizes, with weights', () => {
    const call = (text: string, more = 'reply: none'): string =>
      steps(`- { call: A, arguments: ['${text}'], ${more} }`);
    const back = 'reply: callback, callback: B';
    for (const text of ['{text:200B 3, 2KB 1}', 'a {text:60B}, {text:1KB-4KB}', '{text:60,90}'])
      assert.deepEqual(problemsOf(call(text, back)), [], text);
    const eight = '{text:1,2,3,4,5,6,7,8}';
    assert.deepEqual(problemsOf(call(eight + eight)), []);
    for (const [written, problem] of [
      [call('{text:200B 3; 2KB 1}'), 'placeholder: {text:200B 3; 2KB 1}'],
      [call('{text:200B 0}'), 'placeholder: {text:200B 0}'],
      [call('{text:1KB, 17MB}'), 'placeholder: {text:1KB, 17MB}'],
      // Our stamp must have room in each of them.
      [call('{text:20B, 200B}', back), 'no-stamp: arguments'],
      [call(`${eight}${eight}{text:1,2}`), 'arguments: arguments'],
      [call('{text:9MB, 8MB}{text:8MB,9MB}'), 'arguments: arguments'],
    ])
      assert.deepEqual(
        problemsOf(written!).map((each) => each.replace(/: \['.*/, ': arguments')),
        [problem],
        written,
      );
  });

  it('may join groups beside other sessions, but not where others move by themselves', () => {
    const joining = `{ name: session, parameters: { sessionInterval: 9s, groupCount: 10, steps: [{ call: JoinRoom, arguments: ['{group}'] }, { call: S, arguments: ['{group}', '{text}'], reply: callback, callback: P, receivers: group }] } }`;
    const codes = (...entries: readonly string[]): string[] =>
      parseScenario(
        `config: { connections: 100, baseSending: 50, step: 0 }\nscenarios: [${entries.join(', ')}]`,
      )
        .problems.filter(({ severity }) => severity === 'error')
        .map(({ code }) => code);
    assert.deepEqual(codes(joining, joining), []);
    const moving = '{ name: frequentJoinLeaveGroup, parameters: { groupCount: 10 } }';
    assert.deepEqual(codes(joining, moving), ['mix-groups']);
  });

  it('may share groups in a mix, as many of them, where one joins', () => {
    const join = "{ call: JoinRoom, arguments: ['{group}'] }";
    const post =
      "{ call: S, arguments: ['{group}', '{text}'], reply: callback, callback: P, receivers: group }";
    const entry = (steps: string, more = 'groupCount: 10', name = 'rooms'): string =>
      `{ name: session, parameters: { sessionInterval: 9s, sharedGroups: ${name}, ${more}, steps: [${steps}] } }`;
    const codes = (...entries: readonly string[]): string[] =>
      parseScenario(
        `config: { target: local, connections: 100, baseSending: 100, warmup: 9s }\nscenarios: [${entries.join(', ')}]`,
      ).problems.map(({ severity, code }) => `${severity} ${code}`);
    assert.deepEqual(codes(entry(join), entry(post)), []);
    assert.deepEqual(codes(entry(post), entry(post)), ['error nobody-joins']);
    assert.deepEqual(codes(entry(join), entry(post, 'groupCount: 20')), ['error group-count']);
    assert.deepEqual(codes(entry(join), entry('{ call: A }')), ['error missing-placeholder']);
    assert.deepEqual(codes(entry(join), entry(`${join}, ${post}`, 'groupCount: 10', 'halls')), [
      'info no-effect',
      'info no-effect',
    ]);
  });

  it('are told what of them cannot be counted, or is not measured from the beginning', () => {
    const said = (parameters: string, config = ''): string[] =>
      parseScenario(
        `config: { connections: 100, singleStepDuration: 1m${config} }\nscenario:\n  name: session\n  parameters:\n${parameters.replace(/^/gm, '    ')}\n`,
      )
        .problems.filter(({ code }) => code !== 'no-target')
        .map(({ severity, code, message }) => `${severity} ${code}: ${message}`);
    const [rising, ...none] = said(whole);
    assert.deepEqual(none, []);
    assert.match(
      rising!,
      /^info rising-load: Senders begin .* within 30 s, of which only the first 5 s are warm-up\. With warmup: 30 s the/,
    );
    assert.deepEqual(said(whole, ', warmup: 30s'), []);
    const atOnce = whole.replace(/\n *every: 2s/, '').replace(/\n *- wait: 5s/, '');
    assert.deepEqual(
      said(atOnce, ', warmup: 30s').map((text) => text.slice(0, 53)),
      ['info short-stay: The session leaves its group without'],
    );
  });

  // What is wrong, the steps with // between lines (behind an @ all parameters), and the problems with their places.
  const wrong = rowsOf(`
    no steps | @sessionInterval: 30s | missing-key: session
    something to keep of what nothing waits for | - { on: A, within: 0, keep: { x: '$' } } // - call: A | other-reply: { x: '$' }
    how often that comes which is waited for | - { on: A, perSession: 2 } // - call: A | other-reply: 2
    less than nothing that comes | - { on: A, within: 0, perSession: -1 } // - call: A | negative: -1
    no interval | @steps: [{ call: A }] | missing-key: session
    an empty list | @sessionInterval: 30s // steps: [] | empty-value: []
    a step without a kind | - { arguments: [1] } | step-kind: arguments
    a time in the name of an event | - on: X within 5s | event-name: X within 5s
    a misspelt kind | - { cal: A } | step-kind: cal
    two kinds | - { call: A, wait: 1s } | step-kind: { call: A, wait: 1s } + unknown-key: wait
    a key of another kind | - { call: A, items: 2 } | unknown-key: items
    a value that nobody keeps | - { call: A, arguments: ['{lost}'] } | placeholder: {lost}
    a value before it is kept | - { call: A, arguments: ['is {x1}'] } // - { call: B, keep: { x1: '$' } } | kept-later: {x1}
    a value that is kept in a round after it is used | - repeat: 2 //   steps: [{ call: A, arguments: ['{x}'] }, { call: B, keep: { x: '$' } }] | kept-later: {x}
    an if that nobody can answer | - call: A // - { if: x, steps: [{ call: A }] } | kept-unknown: x
    no JSONPath | - { call: A, keep: { x: 'id' } } | json-path: 'id'
    a broken JSONPath | - { call: A, keep: { x: '$[' } } | json-path: '$['
    a JSONPath with a pattern | - { call: A, keep: { x: '$[?match(@.a, "(a+)+")].id' } } | json-path: '$[?match(@.a, "(a+)+")].id'
    the name of a placeholder | - { call: A, keep: { sender: '$' } } | bad-name: sender
    something to keep of no answer | - { call: A, reply: none, keep: { x: '$' } } | other-reply: { x: '$' }
    a callback without a name | - { call: A, reply: callback, arguments: ['{text}'] } | missing-callback: callback
    a callback without a stamp | - { call: A, reply: callback, callback: B } | no-stamp: callback
    a group that is not named | - { call: A, reply: callback, callback: B, receivers: group, arguments: ['{text}'] } | missing-placeholder: group
    callbacks to everyone beside a group | - { call: A, reply: callback, callback: B, receivers: everyone, arguments: ['{text}', '{group}'] } | receivers: - { call: A, reply
    too many rounds | - { repeat: 10001, steps: [{ call: A }] } | above-bounds: 10001
    too many calls | - { repeat: 1000, steps: [{ repeat: 1000, steps: [{ call: A }] }] } | above-bounds: - { repeat: 1000
    steps that are too deep | - { repeat: 2, steps: [ { repeat: 2, steps: [ { repeat: 2, steps: [ { repeat: 2, steps: [ { repeat: 2, steps: [ { call: A } ] } ] } ] } ] } ] } | too-deep: [ { call: A } ]
    pauses longer than the interval | - call: A // - wait: 31s | session-length: 30s
    rounds longer than their interval | - { repeat: 2, every: 1s, steps: [{ call: A }, { wait: 2s }] } | session-length: 1s
    nothing but pauses | - wait: 1s | no-call: 
    no ways | - call: A // - choose: [] | wrong-type: []
    a way without steps | - call: A // - choose: [{ weight: 2 }] | missing-key: { weight: 2 }
  `);
  for (const [what, written, problems] of wrong)
    it(`are refused with ${what}, where it stands`, () => {
      const lines = written!.split(' // ');
      const whole = written!.startsWith('@');
      const found = problemsOf(whole ? lines.join('\n').slice(1) : steps(...lines));
      const expected = problems!.split(' + ');
      assert.equal(found.length, expected.length, found.join('\n'));
      expected.forEach((start, at) => assert.ok(found[at]!.startsWith(start), found.join('\n')));
    });
});
