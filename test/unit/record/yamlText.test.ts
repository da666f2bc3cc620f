import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parse } from 'yaml';
import { visibleText } from '../../../src/base/text';
import { yamlText } from '../../../src/record/yamlText';
import { CommentedMap, CommentedValue } from '../../../src/record/yamlText';

/** C0, C1, separators of lines, and what turns the direction of text, one of them beyond 16 bits. */
const obeyed = [
  ...['\0', '\x07', '\x1b', '\x7f', '\x85', '\x9b', '\u2028', '\u2029', '\u061c', '\u200e'],
  ...['\u202a', '\u202e', '\u2066', '\u2069', '\ufeff', '\u00ad', '\u{e0041}'],
];
const piece = fc.oneof(
  fc.constantFrom(...obeyed, '\n', '\r', '\t', '"', "'", '\\', '\\u202e', ': ', '# ', ' ', 'a'),
  fc.string(),
);
const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));

describe('the text of a scenario from a recording', () => {
  it('says what was sent, without a character that is obeyed', () => {
    fc.assert(
      fc.property(text, text, text, (value, name, note) => {
        const written = { list: [value, { [`of ${name}`]: value }] };
        const keys = new CommentedMap({ value: new CommentedValue(value, note, [note]), written }, [
          note,
        ]);
        const yaml = yamlText([note], keys);
        assert.equal(visibleText(yaml), yaml);
        assert.deepEqual(parse(yaml), { value, written });
      }),
    );
    assert.match(yamlOf('a\u202eb\u2028\u{e0041}'), /^a: "a\\u202eb\\u2028\\U000e0041"$/m);
    assert.match(yamlOf('plain'), /^a: plain$/m);
  });
});

function yamlOf(value: string): string {
  return yamlText(['of a test'], new CommentedMap({ a: value }));
}
