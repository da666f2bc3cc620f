import assert from 'node:assert/strict';
import { didYouMean, editDistance } from '../../../../src/scenario/text/words';

describe('did you mean', () => {
  const keys = ['connections', 'connectTimeout', 'step', 'messagepack', 'json'];
  for (const [word, meant] of [
    ['conections', 'connections'],
    ['CONNECTIONS', 'connections'],
    ['conenctions', 'connections'],
    ['stpe', 'step'],
    ['msgpack', 'messagepack'],
    ['zzz', undefined],
    ['cnn', undefined],
    ['', undefined],
    ['c', undefined],
    ['x'.repeat(100_000), undefined],
  ] as const) {
    it(`${word.slice(0, 20)}: ${meant ?? 'nothing'}`, () => {
      assert.equal(didYouMean(word, keys), meant);
    });
  }

  it('counts insertions, deletions, replacements and swaps', () => {
    const others = ['abc', 'abxc', 'ac', 'axc', 'acb', ''];
    assert.deepEqual(
      others.map((other) => editDistance('abc', other)),
      [0, 1, 1, 1, 1, 3],
    );
    assert.equal(editDistance('', 'abc'), 3);
  });
});
