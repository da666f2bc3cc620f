import assert from 'node:assert/strict';
import { outlineOf } from '../../../../../src/extension/language/outline/outline';
import { pathOf, plainValue } from '../../../../../src/extension/language/outline/outlineNode';
import { crlf } from '../atCursor';

const shown = (text: string): string[] =>
  outlineOf(text).nodes.map((node) => `${pathOf(node).join('.')}=${plainValue(node) ?? ''}`);

describe('outlineOf', () => {
  const text = `config:
  connections: 5 # five
  target: "a: b # c"
scenarios:
- name: echo
  parameters: {messageSize: 2KB, list: [1, {x: 2}]}
-   name: broadcast
slo:
`;
  const expected = [
    'config=',
    'config.connections=5',
    'config.target=a: b # c',
    'scenarios=',
    'scenarios.0=',
    'scenarios.0.name=echo',
    'scenarios.0.parameters=',
    'scenarios.0.parameters.messageSize=2KB',
    'scenarios.0.parameters.list=',
    'scenarios.0.parameters.list.0=1',
    'scenarios.0.parameters.list.1=',
    'scenarios.0.parameters.list.1.x=2',
    'scenarios.1=',
    'scenarios.1.name=broadcast',
    'slo=',
  ];

  it('reads keys, lists, brackets, quotes and comments', () => {
    assert.deepEqual(shown(text), expected);
  });

  it('reads the same with CRLF and a byte order mark', () => {
    assert.deepEqual(shown(crlf(text)), expected);
    assert.deepEqual(shown(`\uFEFF${text}`), expected);
  });

  it('goes on behind an open bracket and a line that is no key', () => {
    assert.deepEqual(shown('config: {unit: 5\nscenario:\n  na\n  name: echo\n'), [
      'config=',
      'config.unit=5',
      'scenario=',
      'scenario.name=echo',
    ]);
  });

  it('does not look into block scalars', () => {
    assert.deepEqual(shown('a: |\n  b: 1\n  c: 2\nd: 3\n'), ['a=|', 'd=3']);
  });

  it('knows where values stand', () => {
    const node = outlineOf('config:\r\n  unit:   5  # x\r\n').nodes.at(-1)!;
    assert.deepEqual([node.offset, node.valueOffset, node.valueLength], [11, 19, 1]);
  });

  it('reads only the beginning of a large file, and brackets without end', () => {
    assert.equal(outlineOf('key: value\n'.repeat(500_000)).nodes.length, 20_000);
    const [first] = outlineOf(`config: {${'a: {'.repeat(200_000)}`).nodes;
    assert.deepEqual(pathOf(first!), ['config']);
  });
});
