import assert from 'node:assert/strict';
import { payloadOf } from '../../../../src/usecases/useCase';
import { estimate } from '../../../../src/capacity/estimate';
import { loadOf } from '../../../../src/capacity/load/loadOf';
import { streamsOf } from '../../../../src/usecases/registry';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { brief, fixed, messageOf, problemOf, rowsOf, scenarioOf } from '../parsed';

const file = (...parameters: readonly string[]): string =>
  [
    'config:',
    '  target: local',
    '  connections: 1000',
    'scenario:',
    '  name: invoke',
    '  parameters:',
    ...parameters.map((line) => `    ${line}`),
    '',
  ].join('\n');
const method = 'method: Post';
const callback = ['reply: callback', 'callback: Posted'];
const own = (lines: string): string[] => [
  ...(lines === 'reply: none' ? [] : [method]),
  ...lines.split(' // ').flatMap((line) => (line === 'CALL BACK' ? callback : line)),
];

describe('a call of the user’s own method', () => {
  it('keeps its arguments as they are written, however deep', () => {
    const text = file(
      method,
      'arguments:',
      "  - '{sender}'",
      '  - 7',
      '  - { room: a, tags: [x, { y: null }], on: true }',
      "  - - 'x {text:100} {{brace}'",
    );
    assert.deepEqual(brief(text), []);
    const { parameters } = scenarioOf(text).entries[0]!;
    assert.deepEqual(JSON.parse(String(parameters['arguments'])), [
      '{sender}',
      7,
      { room: 'a', tags: ['x', { y: null }], on: true },
      ['x {text:100} {{brace}'],
    ]);
    assert.equal(parameters['reply'], 'completion');
    assert.ok(payloadOf(parameters).meanBytes > 160 && payloadOf(parameters).meanBytes < 220);
  });

  // What is missing or wrong, parameters beside the method with // between lines, and the problems.
  for (const [title, lines, problems] of rowsOf(`
    no method | reply: none | error missing-method "invoke"
    no callback | reply: callback // arguments: ['{text}'] | error missing-callback "callback"
    a callback nobody waits for | callback: X | warning other-reply "X"
    no text to carry the stamp | CALL BACK // arguments: [1] | error no-stamp "[1]"
    too small a text | CALL BACK // arguments: ['{text:53}'] | error no-stamp "['{text:53}']"
    an unknown placeholder | arguments: ['to {sendr}'] | error placeholder "{sendr}"
    a size that is none | arguments: ['{text:big}'] | error placeholder "{text:big}"
    a value too many | arguments: ['{sender:3}'] | error placeholder "{sender:3}"
    no quotes | arguments: //   - {text:2KB} | error quotes "{text:2KB}"
    a reference | arguments: ['\${env:A}'] | error bad-reference "\${env:A}"
    no list | arguments: 5 | error wrong-type "5"
    a file outside | arguments: ['{file:../x}'] | error payload-file "'{file:../x}'" + info file-size
    a receiver nobody calls back | arguments: ['{receiver}'] | error placeholder "['{receiver}']"
    a group without a place in the message | CALL BACK // receivers: group // groupCount: 100 // arguments: ['{text}'] | error missing-placeholder "group"
    no number of groups | CALL BACK // receivers: group // arguments: ['{group}', '{text}'] | error group-count "invoke"
    a key twice | arguments: //   - a: 1 //     a: 2 | error duplicate-key "a"
    a number that cannot be sent | arguments: [12345678901234567890] | error arguments "12345678901234567890"
  `)) {
    it(`reports ${title}, where it stands`, () => {
      const found = brief(file(...own(lines!)));
      const expected = problems!.split(' + ');
      assert.equal(found.length, expected.length, found.join('\n'));
      for (const start of expected)
        assert.ok(
          found.some((one) => one.startsWith(start)),
          `${start}: ${found.join()}`,
        );
    });
  }

  it('may have streams either way', () => {
    const count = 'streamingItemCount: 4';
    const shapeOf = (...lines: readonly string[]) => {
      const text = file(method, count, ...lines);
      assert.deepEqual(brief(text), []);
      return streamsOf(scenarioOf(text).entries[0]!)!;
    };
    const down = shapeOf('reply: stream', 'arguments: [1]', 'streamingItemSendDelay: 20ms');
    const own = { arguments: '[1]', items: '[]' };
    assert.deepEqual(down, {
      ...{ method: 'Post', direction: 'download', items: 4, wanted: 4 },
      ...{ cancels: false, delayMs: 20, own },
    });
    assert.equal(shapeOf('reply: stream', 'streamingItems: [1]').direction, 'both');
    assert.equal(shapeOf('streamingItems: [1, { a: "{sender}" }]').direction, 'upload');
    const { wanted, cancels } = shapeOf('reply: stream', 'streamingCancelAfter: 4');
    assert.deepEqual([wanted, cancels], [4, true]);
  });

  for (const [title, lines, expected] of rowsOf(`
    a count of items | reply: stream | error missing-item-count "stream"
    a count of items that go up | streamingItems: [1] | error missing-item-count "[1]"
    items | streamingItems: [] // streamingItemCount: 1 | error empty-value "[]"
    a list | streamingItems: 5 // streamingItemCount: 1 | error wrong-type "5"
    a stream | reply: none // streamingItemCount: 2 | warning other-reply "2"
    an answer | reply: none // streamingItems: [1] // streamingItemCount: 2 | error other-reply "[1]"
    enough items to be cancelled | reply: stream // streamingItemCount: 2 // streamingCancelAfter: 3 | warning streams "3"
    a receiver in items | streamingItems: ['{receiver}'] // streamingItemCount: 1 | error placeholder "['{receiver}']"
    a known placeholder in items | streamingItems: ['{who}'] // streamingItemCount: 1 | error placeholder "{who}"
    a stream down to be cancelled | streamingItems: [1] // streamingItemCount: 2 // streamingCancelAfter: 1 | error streams "1"
    room for its streams | reply: stream // streamingItemCount: 1000 // streamingItemSendDelay: 1s | error streams "1s"
    a size to be said | streamingItems: [1] // streamingItemCount: 2 // streamingItemSize: 1KB | warning other-reply "1KB"
  `)) {
    it(`reports streams without ${title}`, () => {
      assert.deepEqual(brief(file(method, ...lines!.split(' // '))), [expected]);
    });
  }

  it('estimates items of streams, by their own size or what is said of it', () => {
    const traffic = (...lines: readonly string[]) => {
      const load = loadOf(scenarioOf(file(method, 'streamingItemCount: 10', ...lines)));
      assert.ok('input' in load);
      assert.match(load.input.assumptions!.join(' '), /no table for streams/);
      const { intervalS, messageBytes } = load.input.useCases[0]!;
      return [intervalS, messageBytes];
    };
    assert.deepEqual(traffic('reply: stream'), [0.1, 2048]);
    assert.deepEqual(traffic('reply: stream', 'streamingItemSize: 100'), [0.1, 100]);
    assert.deepEqual(traffic('reply: stream', 'streamingCancelAfter: 5'), [0.2, 2048]);
    // A text in quotes, and a number.
    assert.deepEqual(traffic("streamingItems: ['{text:100}', 12]"), [0.1, 52]);
    // The arguments go with the items, or count where they are larger than what comes.
    const large = "arguments: ['{text:9996}']";
    assert.deepEqual(traffic("streamingItems: ['{text:98}']", large), [0.1, 1100]);
    assert.deepEqual(traffic('reply: stream', large), [0.1, 10_000]);
  });

  it('has fixes for placeholders', () => {
    const quotes = file(method, 'arguments:', '  - {sender}');
    assert.match(fixed(quotes, problemOf(quotes, 'quotes')), /- '\{sender\}'\n/);
    const typed = file(method, "arguments: ['{sendr}']");
    assert.match(fixed(typed, problemOf(typed, 'placeholder')), /\['\{sender\}'\]/);
    const none = file('reply: none');
    assert.match(fixed(none, problemOf(none, 'missing-method')), /method: Echo/);
  });

  it('takes a list from the command line', () => {
    const path = 'scenario.parameters.arguments';
    const text = file(method);
    const read = (value: string) => parseScenario(text, { overrides: [{ path, value }] });
    assert.deepEqual(read("['{sender}', 3]").problems, []);
    assert.equal(
      read("['{sender}', 3]").scenario!.entries[0]!.parameters['arguments'],
      '["{sender}",3]',
    );
    assert.match(
      read("['{x}']").problems[0]!.message,
      /--set scenario\.parameters\.arguments: There is no placeholder/,
    );
  });

  it('is bounded in values and bytes', () => {
    const many = file(method, `arguments: [${'1,'.repeat(1500)}1]`);
    assert.deepEqual(
      brief(many).map((one) => one.split(' ').slice(0, 2).join(' ')),
      ['error above-bounds'],
    );
    const large = file(method, "arguments: ['{text:16MB}', '{text:16MB}']");
    assert.match(messageOf(large, 'arguments'), /16 MB/);
  });

  it('is estimated by whom it reaches', () => {
    const kinds = (...lines: readonly string[]) => {
      const load = loadOf(scenarioOf(file(method, ...lines)));
      assert.ok('input' in load);
      return estimate(load.input).traffic_utilisation;
    };
    const echo = kinds("arguments: ['{text:2KB}']");
    const all = kinds("arguments: ['{text:2KB}']", ...callback, 'receivers: everyone');
    // Of the last step; the guides' tables are not for the same sizes.
    assert.ok(all > 5 * echo, `${all} against ${echo}`);
  });
});

describe('the dialect measure', () => {
  const measure = (name: string, ...parameters: readonly string[]): string =>
    `config:\n  target: local\n  dialect: measure\nscenario:\n  name: ${name}\n  parameters: { ${parameters.join(', ')} }\n`;

  it('has bounds of its own', () => {
    assert.deepEqual(brief(measure('echo', 'messageSize: 53')), ['error dialect "53"']);
    assert.deepEqual(brief(measure('echo', 'messageSize: 54')), []);
    assert.deepEqual(brief(measure('echo', 'messageSizes: 50-90')), ['error dialect "50-90"']);
    assert.deepEqual(brief(measure('connectOnly')), []);
  });
});
