import assert from 'node:assert/strict';
import { numberedNames } from '../../../src/usecases/sessionSteps';

describe('numberedNames', () => {
  it('numbers only what is there several times', () => {
    assert.deepEqual(numberedNames(['echo', 'broadcast', 'echo']), [
      'echo 1',
      'broadcast',
      'echo 2',
    ]);
    assert.deepEqual(numberedNames(['echo']), ['echo']);
  });
});
