import assert from 'node:assert/strict';
import { wrap } from '../../../../src/cli/views/line';

describe('a text in lines', () => {
  it('breaks at blanks, and never between a number and its per cent', () => {
    const text = 'above the limit of 1 %';
    assert.deepEqual(wrap(text, 20), ['above the limit of', '1 %']);
    assert.deepEqual(wrap(text, 22), [text]);
    assert.deepEqual(wrap('  a b c', 4, ' '), ['  a', ' b c']);
  });
});
