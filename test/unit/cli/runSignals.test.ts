import assert from 'node:assert/strict';
import { runProgram } from '../../../src/cli/program';
import { commandLine, type CommandLine } from './commandLine';
import { fakeDeps, fakeRun } from './fakeDeps';
import { fakeIo } from './fakeIo';

describe('a signal during run', () => {
  let at: CommandLine;
  let file: string;
  beforeEach(async () => {
    at = await commandLine();
    file = await at.file('chat-room.yaml', 'mode: simple\n');
  });
  afterEach(() => at.dispose());

  async function interrupted(signal: 'SIGINT' | 'SIGTERM', times: number) {
    const process = fakeIo({ cwd: at.folder });
    const stops: [string, number][] = [];
    const deps = fakeDeps({
      startRun: () => {
        setImmediate(() => {
          for (let index = 0; index < times; index++) process.signal(signal);
        });
        return fakeRun({ onStop: (reason, count) => stops.push([reason, count]) });
      },
    });
    const code = await runProgram(['run', file], process, deps);
    return { code, stops, process };
  }

  it('SIGINT stops in order, keeps the partial result, and exits with 130', async () => {
    const { code, stops, process } = await interrupted('SIGINT', 1);
    assert.equal(code, 130);
    assert.deepEqual(stops, [['interrupted', 1]]);
    assert.match(process.err(), /Stopping; what was measured is kept/);
    assert.match(process.out(), /■ incomplete/);
    assert.match(process.out(), /result {4}\.signalr-bench/);
    assert.equal(process.listeners(), 0);
    assert.equal((await interrupted('SIGTERM', 1)).code, 143);
  });

  it('the second closes at once', async () => {
    const { code, stops } = await interrupted('SIGINT', 2);
    assert.equal(code, 130);
    assert.deepEqual(
      stops.map(([, count]) => count),
      [1, 2],
    );
  });

  it('while a hub is asked that never answers: ends without a run, and closes the target', async () => {
    const process = fakeIo({ cwd: at.folder });
    let disposed = false;
    const target = await fakeDeps().openTarget({} as never, {} as never);
    const dispose = (): Promise<void> => {
      disposed = true;
      return Promise.resolve();
    };
    const code = await runProgram(
      ['run', file],
      process,
      fakeDeps({
        openTarget: () => Promise.resolve({ ...target, dispose }),
        redirectHosts: () => {
          setImmediate(() => process.signal('SIGTERM'));
          return new Promise(() => undefined);
        },
        startRun: () => assert.fail('must not start'),
      }),
    );
    assert.deepEqual([code, disposed], [143, true]);
  });
});
