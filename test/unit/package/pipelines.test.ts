import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { blockOf, PipelineJob, type Step } from '../../fakes/pipelineJob';

/** In place of the command line: notes what it is asked for and which results are there, and makes one as it is asked to. */
const program = `#!/usr/bin/env node
const { existsSync, mkdirSync, readdirSync, writeFileSync } = require('node:fs');
const [command, ...args] = process.argv.slice(2);
if (command === 'validate') process.exit(0);
const after = (name) => args[args.indexOf(name) + 1];
const results = args.includes('--out') ? after('--out') : '.signalr-bench';
const earlier = existsSync(results) ? readdirSync(results) : [];
writeFileSync('ran.json', JSON.stringify({ args, earlier }));
process.stdout.write('::add-path::/tmp/evil');
if (process.env.CODE === '2') process.exit(2);
for (const run of process.env.RUN.split(' ')) mkdirSync(results + '/' + run, { recursive: true });
for (const name of ['--junit', '--html', '--md']) {
  mkdirSync(after(name).replace(/[^/]*$/, ''), { recursive: true });
  writeFileSync(after(name), process.env.RUN);
}
process.exit(Number(process.env.CODE ?? 0));
`;

describe('a pipeline', () => {
  let home: string;
  let repository: string;
  let runner: PipelineJob;
  const at = (...names: string[]): string => path.join(repository, ...names);
  const ran = (): { args: string[]; earlier: string[] } =>
    JSON.parse(readFileSync(at('ran.json'), 'utf8')) as { args: string[]; earlier: string[] };

  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'signalr-bench-pipelines-'));
    repository = path.join(home, 'repository');
    const bin = path.join(home, 'bin');
    for (const folder of [repository, bin, path.join(home, 'action/dist')])
      mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(bin, 'signalr-bench'), program, { mode: 0o755 });
    writeFileSync(path.join(home, 'action/dist/cli.js'), program);
    for (const [name, text] of [
      ['npm', 'echo "$@" > npm.txt'],
      ['gh', 'echo "$@" > gh.txt'],
      ['curl', ':'],
    ] as const)
      writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const environment = {
      PATH: `${bin}${path.delimiter}${process.env['PATH']}`,
      RUNNER_TEMP: path.join(home, 'temporary'),
      GITHUB_ACTION_PATH: path.join(home, 'action'),
      GITHUB_STEP_SUMMARY: path.join(home, 'summary.md'),
      GITHUB_OUTPUT: path.join(home, 'output.txt'),
    };
    runner = new PipelineJob({ repository, kept: path.join(home, 'kept'), environment });
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  /** A job in a fresh clone. Returns the results that its run found. */
  async function job(
    steps: readonly Step[],
    values: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>>,
    of: 'main' | 'pullRequest',
  ): Promise<string[]> {
    rmSync(repository, { recursive: true });
    mkdirSync(repository);
    const failed = await runner.run(steps, values, env, of);
    assert.equal(failed.length, env['CODE'] === undefined ? 0 : 1, failed.join());
    return ran().earlier;
  }

  async function keepsThoseOfMain(
    steps: readonly Step[],
    values: Readonly<Record<string, string>>,
  ): Promise<void> {
    const runs = (RUN: string, of: 'main' | 'pullRequest', more = {}): Promise<string[]> =>
      job(steps, values, { RUN, ...more }, of);
    assert.deepEqual(await runs('01', 'main'), []);
    assert.deepEqual(await runs('02', 'pullRequest'), ['01']);
    assert.deepEqual(await runs('03', 'main', { CODE: '1' }), ['01']);
    // A dozen by one job: which are kept is a matter of their number.
    const dozen = Array.from({ length: 12 }, (_, at) => `${10 + at}`);
    await runs(dozen.join(' '), 'main');
    const newest = await runs('30', 'pullRequest');
    assert.deepEqual([newest.length, newest[0], newest.at(-1)], [10, '12', '21']);
    const { args } = ran();
    assert.equal(args[args.indexOf('--baseline') + 1], 'last');
  }

  /** Lines that the runner obeys: none between `stop-commands` and its word, which nobody can know. */
  function obeyed(log: string): string[] {
    let word: string | undefined;
    return log.split('\n').filter((line) => {
      const [, stopped] = /^::stop-commands::(.+)$/.exec(line) ?? [];
      if (stopped !== undefined) assert.match(stopped, /^[\da-f-]{36}$/);
      word = line === `::${word}::` ? undefined : (word ?? stopped);
      return word === undefined && line.startsWith('::');
    });
  }

  const usedIn = (text: string): string[] =>
    [...text.matchAll(/uses: (\S+)/g)].map(([, name = '']) => name);

  it('uses actions of others by their commits', () => {
    const used = ['action.yml', 'docs/ci.md'].flatMap((file) => usedIn(readFileSync(file, 'utf8')));
    assert.equal(used.length, 10);
    for (const name of used)
      assert.match(name, /^(?:[\w/-]+@[\da-f]{40}|OWNER\/signalr-benchmark@COMMIT)$/);
  });

  it('on GitHub compares with the last run of main that was good', async () => {
    const { jobs } = blockOf('docs/ci.md', 'runs-on:') as { jobs: { load: { steps: Step[] } } };
    const values = { 'github.token': 'key', 'github.event.pull_request.number': '7' };
    await keepsThoseOfMain(jobs.load.steps, values);
    assert.match(readFileSync(at('gh.txt'), 'utf8'), /^pr comment 7 /);
    // Its word to the runner alone: that commands count again.
    assert.ok(
      obeyed(runner.log).every((line) => /^::[\da-f-]{36}::$/.test(line)),
      runner.log,
    );
  });

  it('on Azure compares with the last run of main that was good', async () => {
    const { steps } = blockOf('docs/ci.md', 'vmImage:') as { steps: Step[] };
    await keepsThoseOfMain(steps, { 'System.AccessToken': 'key' });
  });

  describe('with action.yml', () => {
    const { inputs, runs } = parse(readFileSync('action.yml', 'utf8')) as {
      inputs: Record<string, { default?: string }>;
      runs: { steps: Step[] };
    };
    const given = (change: Readonly<Record<string, string>>): Record<string, string> => ({
      ...{ 'github.token': 'key', 'github.repository': 'owner/name' },
      'github.event.pull_request.number': '7',
      ...Object.fromEntries(
        Object.entries(inputs).map(([name, input]) => [`inputs.${name}`, input.default ?? 'a']),
      ),
      ...Object.fromEntries(Object.entries(change).map(([name, of]) => [`inputs.${name}`, of])),
    });

    it('compares with the last run of main that was good', () =>
      keepsThoseOfMain(runs.steps, given({ key: 'load', arguments: '--baseline\nlast\n' })));

    it('keeps nothing without a key, and comments only when asked to', async () => {
      await job(runs.steps, given({}), { RUN: '01' }, 'main');
      assert.ok(!existsSync(path.join(home, 'kept')) && !existsSync(at('gh.txt')));
      await job(runs.steps, given({ comment: 'true' }), { RUN: '02' }, 'pullRequest');
      assert.match(readFileSync(at('gh.txt'), 'utf8'), /^pr comment 7 --body-file .*comment\.md /);
    });

    it('lets no program give orders to the runner, and takes any name of a scenario', async () => {
      await job(runs.steps, given({ scenario: '--target=a' }), { RUN: '01' }, 'main');
      assert.deepEqual(ran().args.slice(-2), ['--', '--target=a']);
      assert.match(runner.log, /^::add-path::/m);
      assert.ok(
        obeyed(runner.log).every((line) => /^::[\da-f-]{36}::$/.test(line)),
        runner.log,
      );
      assert.match(runner.log, /^::[\da-f-]{36}::$/m);
    });

    it('repeats no report of an earlier run', async () => {
      const values = given({ comment: 'true' });
      await job(runs.steps, values, { RUN: '01' }, 'pullRequest');
      rmSync(at('gh.txt'));
      const failed = await runner.run(runs.steps, values, { CODE: '2' });
      assert.match(failed.join(), /^Run 2:/);
      assert.deepEqual(readdirSync(at('signalr-bench-reports')), []);
      assert.ok(!existsSync(at('gh.txt')));
      assert.equal(readFileSync(path.join(home, 'summary.md'), 'utf8'), '01');
      assert.match(readFileSync(path.join(home, 'output.txt'), 'utf8'), /exit-code=2\n$/);
    });

    it('takes the packed command line by its file or its name', async () => {
      const installed = path.join(home, 'temporary/signalr-bench/node_modules/signalr-benchmark');
      mkdirSync(path.join(installed, 'dist'), { recursive: true });
      writeFileSync(path.join(installed, 'dist/cli.js'), program);
      rmSync(path.join(home, 'action/dist'), { recursive: true });
      mkdirSync(at('tools'));
      writeFileSync(at('tools/signalr-benchmark-0.1.0.tgz'), '');
      for (const [named, taken] of [
        ['tools/signalr-benchmark-*.tgz', at('tools/signalr-benchmark-0.1.0.tgz')],
        ['signalr-benchmark@0.1', 'signalr-benchmark@0.1'],
      ] as const) {
        const values = given({ package: named });
        assert.deepEqual(await runner.run(runs.steps, values, { RUN: '01' }), []);
        const asked = readFileSync(at('npm.txt'), 'utf8').trim().split(' ');
        assert.deepEqual([asked[0], asked.at(-1)], ['install', taken]);
      }
    });

    it('sets up Node before anything else', () => {
      assert.match(runs.steps[0]?.uses ?? '', /^actions\/setup-node@/);
    });
  });
});
