import assert from 'node:assert/strict';
import {
  totalErrors,
  errorClasses,
  sortErrorCounts,
  type ErrorCounts,
} from '../../../src/base/errorClass';

describe('counts of errors', () => {
  it('are named by class, the most frequent first', () => {
    assert.deepEqual(sortErrorCounts({ timeout: 1, refused: 3, dns: 0 }), [
      ['refused', 3],
      ['timeout', 1],
    ]);
  });

  it('are bounded where a file has any number of unknown kinds, and lose none', () => {
    const known = Object.fromEntries(Object.keys(errorClasses).map((name) => [name, 1]));
    const unknown = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, at) => [`kind ${at}`, at + 2]),
    );
    const errors = { ...known, ...unknown } as ErrorCounts;
    const sorted = sortErrorCounts(errors);
    assert.equal(sorted.length, Object.keys(errorClasses).length + 20);
    assert.equal(totalErrors(Object.fromEntries(sorted)), totalErrors(errors));
    assert.deepEqual(
      sorted.slice(0, 2).map(([name]) => name),
      ['other', 'kind 2999'],
    );
    for (const name of Object.keys(errorClasses)) assert.ok(sorted.some(([of]) => of === name));
  });
});
