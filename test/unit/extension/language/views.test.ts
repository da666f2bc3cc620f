import assert from 'node:assert/strict';
import { analyseScenario } from '../../../../src/extension/language/analyseScenario';
import {
  codeLenses,
  documentSymbols,
  inlayHints,
  type SymbolText,
} from '../../../../src/extension/language/lensesAndHints';
import { environmentNames } from '../../../../src/extension/language/completionsAt';
import { crlf, example } from './atCursor';

const chat = example('chat-room.signalr.yaml');
const mix = `config:
  connections: 1000
  baseSending: 1000
scenarios:
  - name: echo
    senders: 30%
    parameters: {messageSize: 4KB}
  - name: sendToGroup
    parameters:
      sendingInterval: 2s
      groupCount: 10
`;

const neverRun = { running: false, lastRun: undefined };

describe('codeLenses', () => {
  it('runs, says what it takes, and how the last run went', () => {
    assert.deepEqual(
      codeLenses(analyseScenario(chat), {
        running: false,
        lastRun: 'p99 41 ms, passed, 2 h ago',
      }).map(({ title }) => title),
      [
        '▶ Run SignalR Benchmark',
        'Find Capacity',
        'Unit 10 · outbound 95 % (small group)',
        'last run: p99 41 ms, passed, 2 h ago',
      ],
    );
  });

  it('has Stop where Run was while a run of the scenario is going on', () => {
    const lenses = codeLenses(analyseScenario(chat), { running: true, lastRun: undefined });
    assert.deepEqual(lenses[0], { title: '■ Stop Run', opens: 'stop' });
    assert.ok(lenses.every(({ opens }) => opens !== 'run' && opens !== 'search'));
  });

  it('names the limit of connections and counts errors', () => {
    const titles = (text: string): string[] =>
      codeLenses(analyseScenario(text), neverRun).map(({ title }) => title);
    assert.equal(titles(example('echo.yaml'))[2], 'Unit 1 · connections 100 %');
    assert.equal(titles('config:\n  unit: x\n  step: y\n')[2], '2 errors to solve first');
    assert.equal(titles('')[2], '1 error to solve first');
  });
});

describe('inlayHints', () => {
  const shown = (text: string): string[] =>
    inlayHints(analyseScenario(text)).map(({ offset, label }) => {
      const line = text.slice(0, offset).split(/\r?\n/).at(-1)!;
      return `${line.trim()} ‹${label}›`;
    });

  it('says what values come to', () => {
    const expected = [
      'messageSize: 2KB ‹38 MB/s out›',
      'sendingInterval: 1s ‹planned: 1,900 msg/s in, 19,000 msg/s out›',
      'groupCount: 190 ‹10 members: small group›',
    ];
    assert.deepEqual(shown(chat), expected);
    assert.deepEqual(shown(crlf(chat)), expected);
  });

  it('gives each part of a mix its own', () => {
    assert.deepEqual(shown(mix), [
      'parameters: {messageSize: 4KB ‹1.2 MB/s out›',
      'sendingInterval: 2s ‹planned: 350 msg/s in, 35,000 msg/s out›',
      'groupCount: 10 ‹100 members: big group›',
    ]);
  });

  it('counts what streams take each way, items or requests and answers', () => {
    const rates = (name: string, ...lines: readonly string[]): string => {
      const parameters = ['sendingInterval: 2s', 'streamingItemCount: 10', ...lines].join(', ');
      const config = '{ target: local, connections: 100, baseSending: 20, step: 0 }';
      const text = `config: ${config}\nscenario:\n  name: ${name}\n  parameters: { ${parameters} }\n`;
      const hint = shown(text).find((one) => one.includes('sendingInterval'));
      return /‹(.*)›/.exec(hint ?? '')?.[1] ?? '';
    };
    const invoke = (...lines: readonly string[]) => rates('invoke', 'method: M', ...lines);
    assert.equal(invoke('reply: stream'), 'planned: 10 msg/s in, 100 msg/s out');
    assert.equal(invoke('streamingItems: [1]'), 'planned: 100 msg/s in, 10 msg/s out');
    const both = 'planned: 100 msg/s in, 100 msg/s out';
    assert.equal(invoke('streamingItems: [1]', 'reply: stream'), both);
    assert.equal(rates('streamingEcho'), both);
    const upload = rates('streamingEcho', 'streamDirection: upload');
    assert.equal(upload, 'planned: 100 msg/s in, 10 msg/s out');
  });

  it('shows the bytes of small messages, and what they are counted as', () => {
    const text =
      'config:\n  connections: 100\n  baseSending: 100\nscenario:\n  name: echo\n  parameters:\n    messageSize: 128\n';
    assert.deepEqual(shown(text), [
      'messageSize: 128 ‹12.5 KB/s out, each message counted as 1 KB›',
    ]);
  });

  it('is translated', () => {
    const labels = inlayHints(analyseScenario(chat), (message) => `«${message}»`).map(
      ({ label }) => label,
    );
    assert.equal(labels.length, 3);
    for (const label of labels) assert.match(label, /^«.*»$/);
  });

  it('says nothing while there are errors', () => {
    assert.deepEqual(shown(chat.replace('groupCount: 190', 'groupCount: x')), []);
  });
});

describe('documentSymbols', () => {
  const shown = (symbols: readonly SymbolText[]): unknown[] =>
    symbols.map(({ name, detail, children }) =>
      children.length === 0 ? `${name} ${detail}`.trim() : [name, shown(children)],
    );

  it('shows the tree of keys', () => {
    assert.deepEqual(shown(documentSymbols(analyseScenario(mix))), [
      ['config', ['connections 1000', 'baseSending 1000']],
      [
        'scenarios',
        [
          ['echo', ['name echo', 'senders 30%', ['parameters', ['messageSize 4KB']]]],
          [
            'sendToGroup',
            ['name sendToGroup', ['parameters', ['sendingInterval 2s', 'groupCount 10']]],
          ],
        ],
      ],
    ]);
  });

  it('shows nothing that may be a secret', () => {
    const text =
      'config:\n  connectionString: AccessKey=hidden\n  target: [hidden]\n  headers: {a: hidden}\n';
    assert.doesNotMatch(JSON.stringify(documentSymbols(analyseScenario(text))), /hidden/);
  });
});

describe('environmentNames', () => {
  it('proposes names of the text and names that sound like a target', () => {
    assert.deepEqual(
      environmentNames({ PATH: 'x', HUB_URL: 'x', 'HUB(1)': 'x' }, 'target: ${env:MINE}'),
      ['MINE', 'HUB_URL'],
    );
  });
});
