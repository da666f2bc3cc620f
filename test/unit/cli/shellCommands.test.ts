import assert from 'node:assert/strict';
import { skipAloud } from '../../fakes/skipAloud';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { shells } from '../../../src/cli/tree/completion';
import { listedKeys } from '../../../src/cli/commands/keysCommand';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { commandLine, type CommandLine } from './commandLine';

describe('at a shell', () => {
  let line: CommandLine;
  beforeEach(async () => {
    line = await commandLine();
  });
  afterEach(() => line.dispose());

  async function completed(...words: string[]): Promise<string[]> {
    const { code, out, err } = await line.run(['__complete', '--', ...words]);
    assert.equal(code, 0, err);
    return out.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0]!]));
  }

  it('completes commands and options, but none that are not for people', async () => {
    const commands = await completed('');
    for (const name of ['run', 'validate', 'serve', 'keys', 'completion'])
      assert.ok(commands.includes(name), name);
    assert.ok(!commands.includes('__complete'));
    assert.deepEqual(await completed('serve', ''), [
      ...['hub', 'azure-signalr', 'web-pubsub', 'help'],
    ]);
    assert.deepEqual(await completed('est'), ['estimate']);
    assert.deepEqual(await completed('run', '--ke'), ['--keep-going']);
    assert.ok(!(await completed('serve', 'hub', '--')).includes('--exit-with-stdin'));
  });

  it('completes choices, keys and their values, and leaves files to the shell', async () => {
    assert.deepEqual(await completed('completion', ''), [...shells]);
    assert.deepEqual(await completed('init', '--service', 'w'), ['webpubsub']);
    assert.deepEqual(await completed('run', 'a.yaml', '--set', 'config.arrivingR'), [
      'config.arrivingRate=',
    ]);
    assert.deepEqual(await completed('run', '--set', 'config.protocol=m'), [
      'config.protocol=messagepack',
    ]);
    assert.deepEqual(await completed('keys', 'config.baseS'), ['config.baseSending']);
    assert.deepEqual(await completed('run', '--json', ''), [':files']);
    assert.deepEqual(await completed('agents', 'l'), ['list', 'logs']);
    assert.deepEqual(await completed('agents', 'logs', ''), []);
    assert.deepEqual(await completed('validate', 'a.yaml', 'b'), [':files']);
    assert.deepEqual(await completed('run', 'a.yaml', ''), []);
    assert.deepEqual(await completed('run', '--out', ''), [':dirs']);
    assert.deepEqual(await completed('run', '--seed', ''), []);
  });

  it('has a script for each shell, which the shells that are here can read', async () => {
    const checks: Record<string, string[]> = { bash: ['-n'], zsh: ['-n'], fish: ['--no-execute'] };
    for (const shell of shells) {
      const { code, out } = await line.run(['completion', shell]);
      assert.equal(code, 0);
      assert.match(out, /__complete/);
      const check = checks[shell];
      const file = await line.file(`script.${shell}`, out);
      if (check === undefined || spawnSync(shell, ['-c', 'true']).error !== undefined) continue;
      execFileSync(shell, [...check, file]);
    }
    assert.equal((await line.run(['completion', 'csh'])).code, 2);
  });

  it('completes in bash', async function () {
    if (spawnSync('bash', ['-c', 'true']).error !== undefined)
      skipAloud(this, 'there is no bash, and nothing else runs its scripts');
    const script = await line.file('script', (await line.run(['completion', 'bash'])).out);
    const program = await line.file(
      'signalr-bench',
      `#!/bin/sh\nexec "${process.execPath}" "${path.resolve('out/src/cli/main.js')}" "$@"\n`,
    );
    await chmod(program, 0o755);
    await line.file('one scenario.yaml', '');
    const replies = (typed: string): string[] =>
      execFileSync(
        'bash',
        [
          '--noprofile',
          '--norc',
          '-c',
          `source "$1"; compopt() { :; }; COMP_LINE="$2"; COMP_POINT=\${#COMP_LINE}; _signalr_bench; printf '%s\\n' "\${COMPREPLY[@]}"`,
          ...['bash', script, typed],
        ],
        { cwd: line.folder, encoding: 'utf8' },
      )
        .trimEnd()
        .split('\n');
    assert.deepEqual(replies(`${program} run --set config.protocol=`), ['json', 'messagepack']);
    assert.deepEqual(replies(`${program} validate one`), ['one scenario.yaml']);
  });

  it('lists every key, as --set takes it', async () => {
    const { code, out } = await line.run(['keys']);
    assert.equal(code, 0);
    assert.match(out, /^config\.arrivingRate: .*default 50$/m);
    for (const row of out.split('\n')) assert.ok(row.length <= 80, row);
    for (const { name, type } of listedKeys()) {
      if (['section', 'entries', 'parameters', 'texts'].includes(type)) continue;
      if (name.includes('.steps.0.')) continue;
      // Keys of entries of a list are set where there is one.
      const load = name.startsWith('scenario.')
        ? 'scenario: {name: echo}'
        : 'scenarios: [{name: echo}]';
      const { problems } = parseScenario(
        `config: {stages: [{to: 1}], observe: [{prometheus: "http://a/"}], pushes: [{name: A, perSecond: 1}]}\n${load}\n`,
        { overrides: [{ path: name, value: '1' }] },
      );
      assert.ok(!problems.some((each) => each.code === 'unknown-key'), name);
    }
  });

  it('says all about one key, or those of a section', async () => {
    const { out } = await line.run(['keys', 'config.arrivingRate']);
    const { out: json } = await line.run(['keys', 'config.arrivingRate', '--json']);
    const [key, ...others] = JSON.parse(json) as { name: string; default: string; doc: string }[];
    assert.deepEqual(others, []);
    assert.equal(key?.name, 'config.arrivingRate');
    assert.equal(key.default, '50');
    assert.match(out.replace(/\s+/g, ' '), new RegExp(key.doc.slice(0, 30)));
    assert.match((await line.run(['keys', 'slo'])).out, /^slo\.dropped: share, default 0\.01$/m);
    assert.match(
      (await line.run(['keys', 'scenario.parameters.groupCount'])).out,
      /Use cases: .*sendToGroup/,
    );
  });

  it('suggests the key that was probably meant', async () => {
    for (const name of ['arrivingRate', 'config.arivingRate', 'arivingrate']) {
      const { code, out, err } = await line.run(['keys', name]);
      assert.equal(code, 2);
      assert.equal(out, '');
      assert.equal(err, `There is no key "${name}". Did you mean config.arrivingRate?\n`);
    }
    assert.match((await line.run(['keys', 'qqqqqqqq'])).err, /`signalr-bench keys` lists all\.$/m);
  });

  it('reports the exit codes in the help', async () => {
    for (const args of [['--help'], ['run', '--help']]) {
      const { out } = await line.run(args);
      assert.match(out, /Exit codes:\n {2}0 .*\n {2}1 [^]* 130 /);
      const codes = out.slice(out.indexOf('Exit codes:')).split('\n');
      assert.deepEqual(
        codes.filter((text) => text.length > 80),
        [],
      );
    }
  });

  it('reads a scenario from standard input for -', async () => {
    const deps = { parseScenario };
    const input = 'mode: simple\nconfig:\n  conections: 5\n';
    const validated = await line.run(['validate', '-'], { input, deps });
    assert.equal(validated.code, 2);
    assert.match(validated.out, /^<stdin>:3:3 error unknown-key /m);
    const estimated = await line.run(['estimate', '-'], { input, deps });
    assert.equal(estimated.code, 2);
    assert.match(
      estimated.err,
      /^<stdin>:3:3 error .*\n<stdin> has 1 error to correct first\.\n$/m,
    );
    const run = await line.run(['run', '-'], { input: 'mode: simple\n', deps });
    assert.equal(run.code, 0, run.err);
    const large = await line.run(['validate', '-'], { input: '#'.repeat(2 * 1024 * 1024 + 1) });
    assert.equal(large.code, 2);
    assert.equal(large.err, '<stdin> cannot be read: it is larger than 2 MB.\n');
  });
});
