import assert from 'node:assert/strict';
import { noSignals, skipAloud } from '../fakes/skipAloud';
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import path from 'node:path';
import { EmulatorPeer } from '../fakes/emulatorPeer';
import { cliScript, type CliResult } from '../fakes/loadCli';
import { withHubHere } from '../fakes/loadHub';
import { CliFolder } from './cliFolder';

/** Nine lists of nine, eight times over: 43 million texts for whoever follows all aliases. */
function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let depth = 1; depth <= 8; depth++) {
    const above = Array(9)
      .fill(`*a${depth - 1}`)
      .join(', ');
    lines.push(`a${depth}: &a${depth} [${above}]`);
  }
  return `${lines.join('\n')}\nconfig:\n  headers: *a8\nscenario: *a8\n`;
}

describe('signalr-bench with bad input', function () {
  let folder: CliFolder;

  before(() => {
    folder = new CliFolder();
    folder.write('good.yaml', 'config: { target: local }\nscenario: { name: echo }\n');
  });
  after(() => {
    folder.dispose();
  });

  function assertRefused(done: CliResult, last: RegExp): void {
    assert.equal(done.code, 2, done.stderr);
    assert.equal(done.stdout, '');
    assert.match(done.stderr.trimEnd().split('\n').at(-1) ?? '', last);
    assert.doesNotMatch(done.stderr, /^ +at /m);
    assert.ok(!existsSync(path.join(folder.path, '.signalr-bench')), 'nothing was started');
  }

  const files: readonly [string, string, RegExp][] = [
    ['empty', '', /empty\.yaml has 1 error to correct first/],
    ['of broken YAML', 'config: { target: [\n', /errors? to correct first/],
    ['a bomb of aliases', bomb(), /errors? to correct first/],
    ['deeply nested', `config: ${'['.repeat(20_000)}`, /errors? to correct first/],
  ];
  for (const [what, content, last] of files) {
    it(`refuses a file that is ${what}`, async () => {
      const name = folder.write(`${what.split(' ').at(-1)!}.yaml`, content);
      assertRefused(await folder.run(['run', name]), last);
      const validated = await folder.run(['validate', name]);
      assert.equal(validated.code, 2);
    });
  }

  it('says that its output is not whole where the disk is full', function () {
    if (!existsSync('/dev/full'))
      skipAloud(this, 'there is no /dev/full, a device that is always full');
    const full = openSync('/dev/full', 'w');
    try {
      const { status, stderr } = spawnSync(process.execPath, [cliScript, 'keys'], {
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      });
      assert.equal(status, 0);
      assert.equal(
        stderr,
        'warning: Standard output is not whole: it cannot be written (the disk is full).\n',
      );
    } finally {
      closeSync(full);
    }
  });

  const flags: readonly [string, readonly string[], RegExp][] = [
    [
      '10^9 connections',
      ['--set', 'config.connections=1000000000', '--set', 'config.step=0'],
      /1 error to correct first/,
    ],
    [
      'more connections than descriptors',
      ['--set', 'config.connections=1000000', '--set', 'config.step=0'],
      /need (about|as many)/,
    ],
    [
      'a target on another machine',
      ['--target', 'http://192.0.2.1/hub'],
      /not on this machine.*--yes/,
    ],
    ['a target that is not a URL', ['--target', 'nowhere at all'], /1 error to correct first/],
    [
      'a secret that is not set',
      ['--set', 'config.accessToken=${secret:api-key}'],
      /SIGNALR_BENCH_SECRET_API_KEY/,
    ],
    [
      'a CA file that is not there',
      ['--target', 'https://127.0.0.1:1/hub', '--set', 'config.caFile=ca.pem'],
      /There is no file .*ca\.pem/,
    ],
  ];
  for (const [what, args, last] of flags) {
    it(`refuses ${what}`, async () => {
      assertRefused(await folder.run(['run', 'good.yaml', ...args]), last);
    });
  }

  it('refuses more connections than this process may open, before anything starts', async function () {
    if (process.platform === 'win32')
      skipAloud(this, 'Windows has neither a limit of descriptors nor `ulimit`');
    const command = `ulimit -n 300 && exec "${process.execPath}" "${cliScript}" run good.yaml --set config.connections=400 --set config.step=0`;
    const { status, stderr } = spawnSync('/bin/sh', ['-c', command], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /400 connections need .* file descriptors, but .* 300\. Raise the limit/);
  });
});

describe('the other commands of signalr-bench', function () {
  let folder: CliFolder;

  before(() => {
    folder = new CliFolder();
  });
  after(() => {
    folder.dispose();
  });

  it('serve hub says where it is, and ends on SIGINT', async function () {
    if (process.platform === 'win32') skipAloud(this, noSignals);
    const serving = folder.start(['serve', 'hub', '--port', '0', '--delay', '1ms']);
    await serving.said('\n');
    serving.child.kill('SIGINT');
    const done = await serving.finished;
    assert.equal(done.code, 0);
    const { url } = JSON.parse(done.stdout.split('\n')[0]!) as { url: string };
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/signalrbench$/);
  });

  it('serve hub exits with 2 when the port is taken or a knob is not a number', () =>
    withHubHere('', async ({ url }) => {
      const taken = await folder.run(['serve', 'hub', '--port', new URL(url).port]);
      assert.equal(taken.code, 2);
      assert.match(taken.stderr, /already in use/);
      assert.equal(taken.stdout, '');
      const knob = await folder.run(['serve', 'hub', '--port', '0', '--drop-every', 'often']);
      assert.equal(knob.code, 2);
      assert.match(knob.stderr, /--drop-every often/);
    }));

  it('serve azure-signalr prints a connection string that works, and takes one port once', async () => {
    const serving = folder.start(['serve', 'azure-signalr', '--port', '0']);
    let printed = '';
    serving.child.stdout?.on('data', (text: string) => (printed += text));
    await serving.said(/^\{.*\}\n/m);
    const { connectionString } = JSON.parse(printed) as { connectionString: string };
    const peer = new EmulatorPeer(connectionString);
    const sent = await peer.rest('POST', '/api/hubs/chat/:send', { target: 'a', arguments: [] });
    assert.equal(sent.status, 202);
    const { port } = new URL(peer.url);
    const taken = await folder.run(['serve', 'azure-signalr', '--port', port]);
    assert.equal(taken.code, 2);
    assert.match(taken.stderr, /already in use/);
    serving.child.kill('SIGTERM');
    const done = await serving.finished;
    if (process.platform !== 'win32') assert.equal(done.code, 0);
  });

  it('says what a HAR file is for in place of reading it as a scenario', async () => {
    folder.write('page.har', '{"log":{"entries":[]}}');
    for (const command of ['run', 'validate', 'estimate']) {
      const { code, stderr } = await folder.run([command, 'page.har']);
      assert.equal(code, 2);
      assert.match(
        stderr,
        /page\.har is a HAR file, not a scenario: make a scenario of it with import\./,
      );
    }
  });

  it('validate looks into the files that a scenario names', async () => {
    folder.write('users.csv', 'name,token\nu1,t1\n');
    folder.write('empty.jsonl', '');
    const config = [
      'config:',
      '  # users.csv has a row for each connection',
      '  identities: { file: users.csv }',
      '  data: { file: empty.jsonl }',
      '  caFile: no-such.pem',
      "  headers: { X-Who: '{identity.nick}' }",
    ];
    folder.write('files.yaml', [...config, 'scenario: { name: echo }', ''].join('\n'));
    const done = await folder.run(['validate', 'files.yaml']);
    assert.equal(done.code, 2);
    const lines = done.stdout.split('\n').filter((line) => !line.includes('target'));
    const about = (word: string): string => lines.find((line) => line.includes(word)) ?? '';
    assert.match(
      about('nick'),
      /files\.yaml:3:23 error named-file users\.csv has no column nick, /,
    );
    assert.match(about('no rows'), /files\.yaml:4:17 error named-file empty\.jsonl has no rows/);
    assert.match(
      about('.pem'),
      /files\.yaml:5:11 warning named-file There is no file no-such\.pem here/,
    );
  });

  it('doctor looks at this machine and at a hub', () =>
    withHubHere('', async ({ url }) => {
      const done = await folder.run(['doctor', '--target', url, '--json']);
      assert.equal(done.code, 0, done.stderr);
      const { cores, calibration, target } = JSON.parse(done.stdout) as {
        cores: number;
        calibration: { messagesPerSecond: number };
        target: { reachable: boolean; methods: { name: string; present: boolean }[] };
      };
      assert.ok(cores >= 1 && calibration.messagesPerSecond > 100);
      assert.equal(target.reachable, true);
      const needed = ['Echo', 'Broadcast', 'SendToClient', 'SendToGroup', 'JoinGroup'];
      for (const name of needed) {
        assert.ok(
          target.methods.some((method) => method.name === name && method.present),
          name,
        );
      }
    }));
});
