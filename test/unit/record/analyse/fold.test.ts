import assert from 'node:assert/strict';
import fc from 'fast-check';
import { foldLoops, SymbolTable, type CallOrLoop } from '../../../../src/record/analyse/fold';

/** `A(B)3` of a call and a loop of three rounds. */
function written(sequence: readonly CallOrLoop<string>[]): string {
  return sequence
    .map((one) => {
      if ('item' in one) return one.item;
      const rounds = [...new Set(one.rounds.map(written))];
      return `(${rounds.join('|')})${one.rounds.length}`;
    })
    .join('');
}

const folded = (text: string): string => {
  const symbols = new SymbolTable();
  return written(foldLoops(text.split(''), (letter) => symbols.of(letter), symbols));
};

const unfolded = (sequence: readonly CallOrLoop<string>[]): string =>
  sequence.map((one) => ('item' in one ? one.item : one.rounds.map(unfolded).join(''))).join('');

describe('loops in what a client did', () => {
  for (const [what, calls, loops] of [
    ['finds none where nothing is repeated', 'JSL', 'JSL'],
    ['finds several calls that are repeated', 'JTSTSTSL', 'J(TS)3L'],
    ['finds loops in loops', 'JSSLJSSSL', '(J(S)2L|J(S)3L)2'],
    ['finds them however often they go round', 'JSSLJSLJSSL', '(J(S)2L|J(S)1L)3'],
    ['gives what is left over of a last round to the loop', 'JTSTSTST', 'J(TS|T)4'],
  ] as const)
    it(what, () => assert.equal(folded(calls), loops));

  it('takes a single call for a loop where another client repeats it', () => {
    const symbols = new SymbolTable();
    const foldOf = (text: string): string =>
      written(foldLoops(text.split(''), (letter) => symbols.of(letter), symbols));
    foldOf('JSSL');
    assert.equal(foldOf('JSL'), 'J(S)1L');
  });

  it('never loses, adds or moves a call', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('A', 'B', 'C'), { maxLength: 200 }), (letters) => {
        const symbols = new SymbolTable();
        const sequence = foldLoops(letters, (letter) => symbols.of(letter), symbols);
        assert.equal(unfolded(sequence), letters.join(''));
      }),
    );
  });
});
