import assert from 'node:assert/strict';
import fc from 'fast-check';
import { meansOfFifths, spreadOf } from '../../../../src/record/analyse/spread';

describe('pauses that differ', () => {
  it('are the means of five equal parts of them', () => {
    assert.deepEqual(meansOfFifths([5, 1, 2, 10, 3, 4, 20, 30, 6, 7]), [1.5, 3.5, 5.5, 8.5, 25]);
    assert.equal(meansOfFifths(Array.from({ length: 100 }, (_, at) => 90 + (at % 21))), undefined);
  });

  it('keep their mean, rise, and lie within those that were seen', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 10, maxLength: 80 }),
        (pauses) => {
          const parts = meansOfFifths(pauses);
          if (parts === undefined) return;
          const { mean, least, most } = spreadOf(pauses);
          assert.ok(Math.abs(parts.reduce((sum, each) => sum + each, 0) / 5 - mean) < 1e-6);
          for (const [at, part] of parts.entries()) {
            assert.ok(part >= least - 1e-6 && part <= most + 1e-6);
            assert.ok(at === 0 || part >= parts[at - 1]! - 1e-6);
          }
        },
      ),
    );
  });
});
