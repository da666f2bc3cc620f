import assert from 'node:assert/strict';
import { entryNames } from '../../../src/usecases/entryNames';

describe('entryNames', () => {
  it('numbers only what comes again', () => {
    assert.deepEqual(entryNames(['echo', 'broadcast', 'echo']), ['echo 1', 'broadcast', 'echo 2']);
    assert.deepEqual(entryNames(['echo']), ['echo']);
  });
});
