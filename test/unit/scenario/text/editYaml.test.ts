import assert from 'node:assert/strict';
import {
  removeKey,
  setKey,
  applyChanges,
  type TextChange,
  nodeAt,
  outlineOf,
} from '../../../../src/scenario/text/outline';

const crlf = (text: string): string => text.replace(/\n/g, '\r\n');

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
