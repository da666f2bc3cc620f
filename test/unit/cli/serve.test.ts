import assert from 'node:assert/strict';
import { runProgram, type CommandDeps } from '../../../src/cli/program';
import { commandLine, type CommandLine } from './commandLine';
import { fakeDeps } from './fakeDeps';
import { fakeIo } from './fakeIo';
import { ProblemLines, type ProblemLine } from '../../../src/cli/commands/serveCommand';

describe('serve', () => {
  let at: CommandLine;
  beforeEach(async () => (at = await commandLine()));
  afterEach(() => at.dispose());

  async function served(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const process = fakeIo({ env });
    const events: unknown[] = [];
    const start = (first: object) => (options: object) => {
      events.push(options);
      setImmediate(() => process.signal('SIGINT'));
      const dispose = () => Promise.resolve(void events.push('disposed'));
      return Promise.resolve({ ...first, dispose });
    };
    const deps = {
      startBenchHub: start({ url: 'http://127.0.0.1:1/signalrbench' }),
      startAzureSignalr: start({ connectionString: 'Endpoint=a' }),
      startWebPubSubEmulator: start({ connectionString: 'Endpoint=b' }),
    } as unknown as Partial<CommandDeps>;
    const code = await runProgram(['serve', ...words], process, fakeDeps(deps));
    return { code, events, out: process.out(), err: process.err(), left: process.listeners() };
  }

  for (const [words, first, options] of [
    [
      'hub --port 0 --delay 50ms --refuse all',
      '{"url":"http://127.0.0.1:1/signalrbench"}',
      { port: 0, delayMs: 50, refuse: Infinity },
    ],
    [
      'azure-signalr --unit free --mode serverless --upstream http://localhost/',
      '{"connectionString":"Endpoint=a"}',
      { port: 8888, mode: 'serverless', unit: 'free', upstreams: [{ url: 'http://localhost/' }] },
    ],
    [
      'web-pubsub --port 0 --upstream http://a/{event} --unit 2 --limit-connect-rate --allow-anonymous',
      '{"connectionString":"Endpoint=b"}',
      {
        port: 0,
        upstream: 'http://a/{event}',
        allowAnonymous: true,
        unit: 2,
        limitConnectRate: true,
      },
    ],
  ] as const)
    it(`prints first where it is, and ends with a signal: ${words}`, async () => {
      const { code, events, out, left } = await served(words.split(' '));
      assert.deepEqual([code, out, left], [0, `${first}\n`, 0]);
      assert.deepEqual(
        JSON.parse(JSON.stringify(events)),
        JSON.parse(JSON.stringify([options, 'disposed'])),
      );
    });

  it('accepts the key of its hub from the environment, where others do not see it', async () => {
    const keyOf = (key: string) =>
      served(['hub', '--token-key', key], { SIGNALR_BENCH_SECRET_SIGNING_KEY: 'of a hub' });
    for (const [key, taken] of [
      ['${secret:signing-key}', 'of a hub'],
      ['as text', 'as text'],
    ] as const)
      assert.equal((await keyOf(key)).events[0]!['tokenKey' as never], taken);
    const { code, err } = await keyOf('${env:NOT_THERE}');
    assert.equal(code, 2);
    assert.equal(err, '--token-key refers to env NOT_THERE, which is not set.\n');
  });

  it('ends with its standard input when asked to, and leaves Ctrl+C to the run it belongs to', async () => {
    const words = ['serve', 'hub', '--exit-with-stdin'];
    const ended = await at.run(words, { deps: { stdinEnded: () => Promise.resolve() } });
    assert.equal(ended.code, 0);
    const process = fakeIo();
    let isOver = false;
    const code = runProgram(words, process, fakeDeps());
    void code.then(() => (isOver = true));
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.signal('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(isOver, false);
    process.signal('SIGTERM');
    assert.equal(await code, 0);
  });

  for (const [words, said] of [
    ['hub --port 65536', /whole number from 0 to 65535/],
    ['hub --stall long', /--stall long: /],
    ['azure-signalr --unit 0', /--unit: expected a number of Units/],
    ['nothing', /unknown command 'nothing'/],
  ] as const)
    it(`refuses ${words}`, async () => {
      const { code, err } = await at.run(['serve', ...words.split(' ')]);
      assert.equal(code, 2);
      assert.match(err, said);
    });

  it('takes for a run options and renewals from its input, and reports problems in lines of their own', async () => {
    const passes: unknown[] = [];
    const process = fakeIo();
    const deps = fakeDeps({
      stdinEnded: (reported) => {
        reported('{"hub":"bench"}');
        reported('{"bearer":"second"}');
        return Promise.resolve();
      },
      startAppServer: ({ hub, onProblem }) => {
        for (let count = 0; count < 3; count++) onProblem?.('Lost; AccessKey=abcdefgh12345678.');
        return Promise.resolve({
          url: `http://${hub}`,
          renew: (pass) => passes.push(pass),
          dispose: () => Promise.resolve(),
        });
      },
    });
    const code = await runProgram(['serve', 'app-server', '--exit-with-stdin'], process, deps);
    assert.equal(code, 0);
    const problem = 'Lost; AccessKey=(redacted)';
    const lines = [{ url: 'http://bench' }, { problem, count: 3 }];
    assert.equal(process.out(), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    assert.equal(process.err(), '');
    assert.deepEqual(passes, [{ bearer: 'second' }]);
    for (const args of [['app-server'], ['app-server', '--exit-with-stdin'], ['upstream']]) {
      const deps = { stdinEnded: () => Promise.resolve() };
      const byHand = await at.run(['serve', ...args], { deps });
      assert.equal(byHand.code, 2);
      assert.match(byHand.err, /An (?:app server|upstream handler) is started by a run, not by/);
    }
  });
});

describe('problem lines', () => {
  it('report the same sentence once with its count, and of a flood of others only the first twenty', () => {
    const lines: ProblemLine[] = [];
    const problems = new ProblemLines((line) => lines.push(line));
    for (let index = 0; index < 300; index++) problems.report('the same');
    for (let index = 0; index < 100; index++) problems.report(`another ${index}`);
    assert.equal(lines.length, 0);
    problems.flush();
    assert.deepEqual(lines[0], { problem: 'the same', count: 300 });
    assert.equal(lines.length, 20);
    assert.equal(
      lines.reduce((sum, { count }) => sum + count, 0),
      400,
    );
    problems.flush();
    assert.equal(lines.length, 20);
  });

  it('are reported a moment later by themselves', async () => {
    const line = await new Promise<ProblemLine>((resolve) => {
      new ProblemLines(resolve).report('soon');
    });
    assert.deepEqual(line, { problem: 'soon', count: 1 });
  });
});
