import assert from 'node:assert/strict';
import { runProgram } from '../../../src/cli/program';
import { fakeDeps } from './fakeDeps';
import { fakeIo } from './fakeIo';

describe('serve hub', () => {
  const served = async (key: string) => {
    const process = fakeIo({ env: { SIGNALR_BENCH_SECRET_SIGNING_KEY: 'of a hub' } });
    const keys: (string | undefined)[] = [];
    const deps = fakeDeps({
      startBenchHub: ({ tokenKey }) => {
        keys.push(tokenKey);
        setImmediate(() => process.signal('SIGINT'));
        return Promise.resolve({ url: 'http://x', dispose: () => Promise.resolve() });
      },
    });
    const code = await runProgram(['serve', 'hub', '--token-key', key], process, deps);
    return { code, keys, err: process.err() };
  };

  it('takes its key from the environment, where others do not see it', async () => {
    assert.deepEqual((await served('${secret:signing-key}')).keys, ['of a hub']);
    assert.deepEqual((await served('as text')).keys, ['as text']);
    const { code, err } = await served('${env:NOT_THERE}');
    assert.equal(code, 2);
    assert.equal(err, '--token-key refers to env NOT_THERE, which is not set.\n');
  });
});
