import assert from 'node:assert/strict';
import { positionAt } from '../../../src/scenario/problem';

describe('positions', () => {
  for (const [name, text] of [
    ['LF', 'ab\ncd\n\ne'],
    ['CRLF', 'ab\r\ncd\r\n\r\ne'],
    ['CR', 'ab\rcd\r\re'],
  ] as const) {
    it(`count lines that end with ${name} from 1`, () => {
      assert.deepEqual(positionAt(text, 0), { line: 1, column: 1 });
      assert.deepEqual(positionAt(text, text.indexOf('b')), { line: 1, column: 2 });
      assert.deepEqual(positionAt(text, text.indexOf('d')), { line: 2, column: 2 });
      assert.deepEqual(positionAt(text, text.indexOf('e')), { line: 4, column: 1 });
      assert.deepEqual(positionAt(text, text.length), { line: 4, column: 2 });
    });
  }

  it('between CR and LF belong to the line that ends there', () => {
    assert.deepEqual(positionAt('a\r\nb', 2), { line: 1, column: 3 });
  });

  it('outside the text are moved to its ends', () => {
    assert.deepEqual(positionAt('a\nb', -5), { line: 1, column: 1 });
    assert.deepEqual(positionAt('a\nb', 99), { line: 2, column: 2 });
    assert.deepEqual(positionAt('', 0), { line: 1, column: 1 });
  });
});
