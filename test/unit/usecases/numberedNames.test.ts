import assert from 'node:assert/strict';
import { numberDuplicates } from '../../../src/usecases/sessionSteps';

describe('numberDuplicates', () => {
  it('numbers only what is there several times', () => {
    assert.deepEqual(numberDuplicates(['echo', 'broadcast', 'echo']), [
      'echo 1',
      'broadcast',
      'echo 2',
    ]);
    assert.deepEqual(numberDuplicates(['echo']), ['echo']);
  });
});
