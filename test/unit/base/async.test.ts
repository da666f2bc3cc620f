import assert from 'node:assert/strict';
import { inBackground } from '../../../src/base/async';

describe('work that nobody waits for', () => {
  it('tells whoever is named of its failure', async () => {
    const failures: unknown[] = [];
    const hear = (error: unknown): void => {
      failures.push(error);
    };
    inBackground(Promise.reject(new Error('lost')), hear);
    inBackground(Promise.resolve('done'), hear);
    inBackground(undefined, hear);
    await new Promise(setImmediate);
    assert.deepEqual(failures.map(String), ['Error: lost']);
  });

  it('is a defect of the whole process where nobody is named', async () => {
    const before = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection');
    try {
      const heard = new Promise((resolve) => process.once('unhandledRejection', resolve));
      inBackground(Promise.reject(new Error('lost')));
      assert.equal(String(await heard), 'Error: lost');
    } finally {
      for (const listener of before) process.on('unhandledRejection', listener);
    }
  });
});
