import assert from 'node:assert/strict';
import { commandLine, type CommandLine } from './commandLine';

describe('serve web-pubsub', () => {
  let at: CommandLine;
  beforeEach(async () => (at = await commandLine()));
  afterEach(() => at.dispose());

  it('prints its connection string first, and ends with its standard input', async () => {
    const options: object[] = [];
    const flags =
      '--port 0 --upstream http://localhost:3000/{event} --unit 2 --limit-connect-rate --allow-anonymous';
    const { code, out } = await at.run(
      ['serve', 'web-pubsub', ...flags.split(' '), '--exit-with-stdin'],
      {
        deps: {
          stdinEnded: () => Promise.resolve(),
          startWebPubSubEmulator: (given) => {
            options.push(given);
            return Promise.resolve({
              connectionString: 'Endpoint=http://127.0.0.1:1;',
              dispose: () => Promise.resolve(),
            });
          },
        },
      },
    );
    assert.equal(code, 0);
    assert.equal(out, '{"connectionString":"Endpoint=http://127.0.0.1:1;"}\n');
    const upstream = 'http://localhost:3000/{event}';
    assert.deepEqual(options, [
      { port: 0, upstream, allowAnonymous: true, unit: 2, limitConnectRate: true },
    ]);
  });
});
