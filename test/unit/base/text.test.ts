import assert from 'node:assert/strict';
import { visibleJson, visibleLine, visibleText, trimEndCharacters } from '../../../src/base/text';

describe('visibleText', () => {
  it('takes out every control and direction character, and leaves lines and joiners', () => {
    assert.equal(visibleText('a\u001b[2Jb\u0007c\u009bd\r\n\te'), 'a[2Jbcd\r\n\te');
    for (const code of [0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x2066, 0x2069, 0xfeff, 0xe0041]) {
      assert.equal(visibleText(`a${String.fromCodePoint(code)}b`), 'ab', code.toString(16));
    }
    for (let code = 0x202a; code <= 0x202e; code++)
      assert.equal(visibleText(`a${String.fromCodePoint(code)}b`), 'ab', code.toString(16));
    assert.equal(visibleText('שלום 👩\u200d🔬 \u06cc\u200c'), 'שלום 👩\u200d🔬 \u06cc\u200c');
  });

  it('makes one line where one is wanted', () => {
    assert.equal(visibleLine('a\r\n\tb\u2028c\u202ed'), 'a b cd');
  });

  it('writes them as escapes in JSON, which says the same', () => {
    const value = { 'k\u202e': 'a\u009b\u2069\u{e0041}\n', list: ['שלום'] };
    const json = visibleJson(JSON.stringify(value, undefined, 2));
    assert.deepEqual(JSON.parse(json), value);
    assert.equal(visibleText(json), json);
  });
});

describe('withoutEnd', () => {
  it('takes away what stands at the end, and nothing else', () => {
    assert.equal(trimEndCharacters('/a//b//', '/'), '/a//b');
    assert.equal(trimEndCharacters('closed. \n', '. \n'), 'closed');
    assert.equal(trimEndCharacters('///', '/'), '');
    assert.equal(trimEndCharacters('a', '/'), 'a');
  });
});
