import assert from 'node:assert/strict';
import { urlIndexOf } from '../../../src/plan/draws';

const spread = (targetChoice: 'roundRobin' | 'random', seed = 1): number[] =>
  Array.from({ length: 3000 }, (_, index) => urlIndexOf({ targetChoice, seed }, 3, index));

describe('urlIndexOf', () => {
  it('goes round', () => {
    assert.deepEqual(spread('roundRobin').slice(0, 5), [0, 1, 2, 0, 1]);
  });

  it('draws by the seed, about evenly, and always the same', () => {
    const drawn = spread('random');
    assert.deepEqual(drawn, spread('random'));
    assert.notDeepEqual(drawn, spread('random', 2));
    for (const target of [0, 1, 2]) {
      const share = drawn.filter((each) => each === target).length;
      assert.ok(share > 850 && share < 1150, `${share} of 3,000`);
    }
  });
});
