import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { ExpectedError } from '../../../src/base/expectedError';

/** The class as another bundle has it: the same module, evaluated once more. */
function classOfAnotherBundle(): typeof ExpectedError {
  const file = require.resolve('../../../src/base/expectedError');
  const other = { exports: {} as { ExpectedError: typeof ExpectedError } };
  const evaluate = runInThisContext(`(exports) => {${readFileSync(file, 'utf8')}\n}`) as (
    exports: object,
  ) => void;
  evaluate(other.exports);
  return other.exports.ExpectedError;
}

describe('an expected error', () => {
  it('is known as one in every bundle', () => {
    const Other = classOfAnotherBundle();
    assert.notEqual(Other, ExpectedError);
    assert.ok(new Other('rows', 'No such column.') instanceof ExpectedError);
    assert.ok(!(new Error('No such column.') instanceof ExpectedError));
    assert.ok(!((undefined as unknown) instanceof ExpectedError));
  });

  it('leaves its kinds apart', () => {
    class Special extends ExpectedError {}
    assert.ok(new Special('x', 'y') instanceof ExpectedError);
    assert.ok(!(new ExpectedError('x', 'y') instanceof Special));
  });
});
