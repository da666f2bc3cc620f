import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { isCollection, isMap, isScalar, type Node } from 'yaml';
import {
  outlineOf,
  pathOf,
  unquotedValue,
  removeKey,
  setKey,
  applyChanges,
  type TextChange,
  nodeAt,
} from '../../../../src/scenario/text/outline';
import { readYaml } from '../../../../src/scenario/text/yamlDocument';

const crlf = (text: string): string => text.replace(/\n/g, '\r\n');

const shown = (text: string): string[] =>
  outlineOf(text).nodes.map((node) => `${pathOf(node).join('.')}=${unquotedValue(node) ?? ''}`);

/** Paths of the keys and items of a document, in the order of the text. */
function pathsIn(node: unknown, path: readonly string[] = []): string[] {
  if (!isCollection(node)) return [];
  const below = isMap(node)
    ? node.items.map(({ key, value }) => [isScalar(key) ? String(key.value) : '', value] as const)
    : (node.items as Node[]).map((value, index) => [String(index), value] as const);
  return below.flatMap(([name, value]) => [
    [...path, name].join('.'),
    ...pathsIn(value, [...path, name]),
  ]);
}

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
    ...['config=', 'config.connections=5', 'config.target=a: b # c', 'scenarios=', 'scenarios.0='],
    ...['name=echo', 'parameters=', 'parameters.messageSize=2KB', 'parameters.list='].map(
      (name) => `scenarios.0.${name}`,
    ),
    ...['0=1', '1=', '1.x=2'].map((name) => `scenarios.0.parameters.list.${name}`),
    ...['scenarios.1=', 'scenarios.1.name=broadcast', 'slo='],
  ];

  it('reads keys, lists, brackets, quotes and comments', () => {
    assert.deepEqual(shown(text), expected);
  });

  it('reads the same with CRLF and a byte order mark', () => {
    assert.deepEqual(shown(crlf(text)), expected);
    assert.deepEqual(shown(`\uFEFF${text}`), expected);
  });

  it('has the keys that the document has, in every example', () => {
    for (const name of readdirSync('examples').filter((file) => /\.ya?ml$/.test(file))) {
      const text = readFileSync(`examples/${name}`, 'utf8');
      const paths = outlineOf(text).nodes.map((node) => pathOf(node).join('.'));
      assert.ok(paths.length > 2, name);
      assert.deepEqual(paths, pathsIn(readYaml(text).document?.contents), name);
    }
  });

  it('goes on behind an open bracket and a line that is no key', () => {
    assert.deepEqual(shown('config: {unit: 5\nscenario:\n  na\n  name: echo\n'), [
      'config=',
      'config.unit=5',
      'scenario=',
      'scenario.name=echo',
    ]);
  });

  it('goes on behind an open quote, at the line that is not indented deeper', () => {
    for (const quote of ['"', "'", '"\\"', "'it''"]) {
      const text = `config:\n  target: ${quote}local\n  step: 5\nscenario:\n  name: echo\n`;
      assert.deepEqual(shown(text), [
        'config=',
        `config.target=${quote}local`,
        'config.step=5',
        'scenario=',
        'scenario.name=echo',
      ]);
      assert.deepEqual(shown(crlf(text)), shown(text));
    }
  });

  it('takes the key of a line, not the word on the line above it', () => {
    const { nodes, words } = outlineOf('config:\n  con\n  unit: 5\n  st\nsc');
    assert.equal(nodes.map(({ offset, length }) => [offset, length].join(' ')).join(), '0 6,16 4');
    assert.deepEqual(
      words.map(({ parent, offset, length }) => [parent.name, offset, length]),
      [
        ['config', 26, 2],
        ['', 29, 2],
      ],
    );
  });

  it('reads tabs, anchors, tags, explicit keys and a map in braces at the top', () => {
    assert.deepEqual(shown('config:\n\tunit: 5\n'), ['config=', 'unit=5']);
    assert.deepEqual(shown('a: &x !y 5\nb: *x\n? c\n: d\n'), ['a=5', 'b=*x', 'c=d']);
    assert.deepEqual(shown('{"a": {"b": 1}, c: [d: 2]}'), ['a=', 'a.b=1', 'c=', 'c.0=', 'c.0.d=2']);
  });

  it('reads the first document only', () => {
    assert.deepEqual(shown('%YAML 1.2\n---\na: 1\n---\nb: 2\n'), ['a=1']);
  });

  it('takes block scalars as they are written', () => {
    assert.deepEqual(shown('a: |\n  b: 1\n  c: 2\n\nd: 3\n'), ['a=|\n  b: 1\n  c: 2', 'd=3']);
  });

  it('knows where values stand', () => {
    const node = outlineOf('config:\r\n  unit:   5  # x\r\n').nodes.at(-1)!;
    assert.deepEqual([node.offset, node.valueOffset, node.valueLength], [11, 19, 1]);
  });

  it('has no nodes for a text that is not read', () => {
    for (const text of [
      'key: value\n'.repeat(500_000),
      `config: {${'a: {'.repeat(200_000)}`,
      `a:\n  b: ${'['.repeat(100)}`,
      'a: 1\u0000',
    ]) {
      assert.equal(outlineOf(text).nodes.length, 0);
    }
  });
});

function set(text: string, path: string, value: string): string | undefined {
  const change = setKey(text, outlineOf(text), path.split('.'), value);
  return change && applyChanges(text, [change]);
}

const unitIn = (text: string): TextChange | undefined =>
  setKey(text, outlineOf(text), ['config', 'unit'], '10');

describe('setKey', () => {
  it('replaces a value on the line of its key, whatever stands below it', () => {
    for (const rest of ['', '\n  sku: premium\n', '\n# more\n\nscenario:\n  name: echo\n']) {
      const change = unitIn(`config:\n  unit: 5${rest}`);
      assert.deepEqual(change, { offset: 16, length: 1, text: '10' }, rest);
    }
    assert.deepEqual(unitIn('config:\n  unit:\n  sku: free\n'), {
      offset: 15,
      length: 0,
      text: ' 10',
    });
    assert.equal(unitIn('config: {\n  unit: 5,\n    sku: free }\n')?.length, 1);
  });

  for (const [unit, left] of [
    ['\n    5', '\n    10'],
    ['\r\n    5', '\r\n    10'],
    [' >-\n    5', ' 10'],
    [' |\n\n   5', ' 10'],
    [' # five\n # or\n    5', ' # five\n # or\n    10'],
    [' 5\n    6', ' 10'],
    [' "5\n    6" # five', ' 10 # five'],
    [' &five 5', ' &five 10'],
    [' [5]', undefined],
    [' []', ' 10'],
    ['\n    more: 5', undefined],
  ] as const) {
    it(`replaces the whole of a value, wherever it stands: ${JSON.stringify(unit)}`, () => {
      const text = (value: string): string => `config:\n  unit:${value}\n  sku: free\n`;
      assert.equal(set(text(unit), 'config.unit', '10'), left && text(left));
    });
  }

  const inserted: Readonly<
    Record<string, readonly [text: string, path: string, left: string | undefined]>
  > = {
    'before the first key': ['a:\n  b: 1\n', 'a.x', 'a:\n  x: 10\n  b: 1\n'],
    'behind a name': [
      'a:\n  name: n # why\n  c: 2\n',
      'a.x',
      'a:\n  name: n # why\n  x: 10\n  c: 2\n',
    ],
    'behind the dash of a name': [
      'a:\n- name: n\n- name: m\n',
      'a.0.b.x',
      'a:\n- name: n\n  b:\n    x: 10\n- name: m\n',
    ],
    'behind a name at the end': ['a:\n  name: n', 'a.x', 'a:\n  name: n\n  x: 10'],
    'into an empty section': ['a: # why\nb: 1\n', 'a.x', 'a: # why\n  x: 10\nb: 1\n'],
    'into a section of its own': ['b: 1\n', 'a.x', 'a:\n  x: 10\nb: 1\n'],
    'into braces': ['a: {b: 1}\n', 'a.x', 'a: {x: 10, b: 1}\n'],
    'into a section of its own in braces': ['a: {b: 1}\n', 'a.c.x', 'a: {c: { x: 10 }, b: 1}\n'],
    'into empty braces': ['a: {}\n', 'a.x', 'a: { x: 10 }\n'],
    'into braces around all': ['{"b": 1}\n', 'x', '{x: 10, "b": 1}\n'],
    'behind a byte order mark': ['\uFEFFb: 1\n', 'x', '\uFEFFx: 10\nb: 1\n'],
    'not into a list': ['a:\n  - b\n', 'a.x', undefined],
    'not into brackets': ['a: [b]\n', 'a.x', undefined],
    'not into a value': ['a: b\n', 'a.x', undefined],
    'not behind an anchor': ['a: &b\nc: *b\n', 'a.x', undefined],
    'not into an alias': ['a: &b { c: 1 }\nd: *b\n', 'd.x', undefined],
    'not into an empty text': ['', 'a', undefined],
  };
  for (const [where, [text, path, left]] of Object.entries(inserted)) {
    it(`inserts a key ${where}`, () => {
      assert.equal(set(text, path, '10'), left);
      assert.equal(set(crlf(text), path, '10'), left && crlf(left));
    });
  }
});

describe('removeKey', () => {
  for (const [text, path, left] of [
    ['a:\n  b: 1\n  c: 2\n', 'a.b', 'a:\n  c: 2\n'],
    ['a:\n  b: 1\nc: 2\n', 'a.b', 'c: 2\n'],
    ['a:\n  b: # why\n    # more\n  # next\n  c: 2\n', 'a.b', 'a:\n  # next\n  c: 2\n'],
    ['a:\n  b:\n  - 1\n\n  - 2\n  c: 2\n', 'a.b', 'a:\n  c: 2\n'],
    ['a:\n  b: |\n    x: 1\n\n    y: 2\n  c: 2\n', 'a.b', 'a:\n  c: 2\n'],
    ['a:\n  b: {\n    x: 1\n  }\n  c: 2', 'a.b', 'a:\n  c: 2'],
    ['a:\n  c: 2\n  b: "1\n    2"', 'a.b', 'a:\n  c: 2\n'],
    ['a:\n  - b: 1\n    c: 2\n', 'a.0.b', 'a:\n  - c: 2\n'],
    ['a: {b: 1, c: 2}\n', 'a.b', 'a: {c: 2}\n'],
    ['a: {c: 2, b: [1]}\n', 'a.b', 'a: {c: 2}\n'],
  ] as const) {
    it(`takes ${path} out of ${JSON.stringify(text)}`, () => {
      for (const form of [String, crlf]) {
        const node = nodeAt(outlineOf(form(text)), path.split('.'))!;
        assert.equal(applyChanges(form(text), [removeKey(form(text), node)]), form(left));
      }
    });
  }
});
