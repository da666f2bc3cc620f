import assert from 'node:assert/strict';
import { runProgram } from '../../../src/cli/program';
import { commandLine, type CommandLine } from './commandLine';
import { fakeDeps } from './fakeDeps';
import { fakeIo } from './fakeIo';

describe('serve azure-signalr', () => {
  let at: CommandLine;
  beforeEach(async () => (at = await commandLine()));
  afterEach(() => at.dispose());

  it('prints its connection string first, and ends with a signal', async () => {
    const process = fakeIo();
    const events: string[] = [];
    const flags = ['--unit', 'free', '--mode', 'serverless', '--upstream', 'http://localhost/'];
    const code = runProgram(
      ['serve', 'azure-signalr', ...flags],
      process,
      fakeDeps({
        startAzureSignalr: (options) => {
          events.push(JSON.stringify(options));
          setImmediate(() => process.signal('SIGINT'));
          const dispose = (): Promise<void> => {
            events.push('disposed');
            return Promise.resolve();
          };
          return Promise.resolve({ connectionString: 'Endpoint=x', dispose });
        },
      }),
    );
    assert.equal(await code, 0);
    assert.equal(process.out(), '{"connectionString":"Endpoint=x"}\n');
    const options =
      '{"port":8888,"mode":"serverless","unit":"free","upstreams":[{"url":"http://localhost/"}]}';
    assert.deepEqual(events, [options, 'disposed']);
  });

  it('refuses bad flags', async () => {
    const { code, err } = await at.run(['serve', 'azure-signalr', '--unit', '0']);
    assert.equal(code, 2);
    assert.match(err, /--unit: expected a number of Units/);
  });
});
