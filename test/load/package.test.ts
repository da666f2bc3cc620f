import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

interface NpmCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly shell: boolean;
}

/** Environment without what an outer npm leaves there, which would point the inner one at this folder. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^npm_/i.test(name) || name === 'npm_config_cache',
    ),
  );
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name).split(path.sep).join('/'));
}

describe('the npm package', () => {
  let folder: string;
  let npm: NpmCommand;
  let packed: string[];

  function runNpm(cwd: string, ...args: string[]): { status: number | null; stdout: string } {
    const result = spawnSync(npm.program, [...npm.args, ...args], {
      cwd,
      encoding: 'utf8',
      env: cleanEnvironment(),
      shell: npm.shell,
    });
    assert.equal(result.error, undefined);
    if (result.status !== 0) process.stderr.write(result.stderr);
    return { status: result.status, stdout: result.stdout };
  }

  before(async () => {
    const file = pathToFileURL(path.resolve('scripts/npmCommand.mjs')).href;
    npm = ((await import(file)) as { npmCommand(): NpmCommand }).npmCommand();
    folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-package-'));
    writeFileSync(path.join(folder, 'package.json'), '{}');

    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
    const answer = runNpm(process.cwd(), ...pack);
    assert.equal(answer.status, 0);
    const [entry] = JSON.parse(answer.stdout) as [{ filename: string; files: { path: string }[] }];
    packed = entry.files.map((packedFile) => packedFile.path);

    // Offline: the package must need no other one.
    const install = ['install', '--offline', '--no-audit', '--no-fund'];
    assert.equal(runNpm(folder, ...install, path.join(folder, entry.filename)).status, 0);
  });

  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds the bundles, the schema, examples and documents, and nothing else', () => {
    const expected = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist/cli.js',
      'dist/commands.js',
      'dist/jsonPath.js',
      'dist/licenses.txt',
      'dist/optional.js',
      'dist/optionalLead.js',
      'dist/record.js',
      'dist/sdk.js',
      'dist/servers.js',
      'dist/sharedLater.js',
      'dist/sharedRun.js',
      'dist/sharedStart.js',
      'dist/worker.js',
      'package.json',
      'schemas/scenario.schema.json',
      ...filesIn(path.join('media', 'hub')),
      // Pictures are seen where the repository is.
      ...filesIn('docs').filter((file) => !file.startsWith('docs/pictures/')),
      ...filesIn('examples'),
    ];
    assert.deepEqual([...packed].sort(), expected.sort());
  });

  it('says the licence of each package that is bundled, and each lets everybody use it', () => {
    // By the source maps, which the list is not made of.
    const bundled = new Set(
      filesIn('dist')
        .filter((file) => file.endsWith('.js.map'))
        .flatMap(
          (file) => (JSON.parse(readFileSync(file, 'utf8')) as { sources: string[] }).sources,
        )
        .flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []),
    );
    const listed = readFileSync('dist/licenses.txt', 'utf8')
      .split('-'.repeat(80))
      .map((part) => /^(\S+) (\d\S*) \(([^)]+)\)/.exec(part.trim())?.slice(1) ?? [part]);
    assert.deepEqual(
      [...bundled].filter((name) => !listed.some(([each]) => each === name)),
      [],
    );
    assert.ok(bundled.size > 20);
    const open = /^(MIT|ISC|0BSD|Unlicense|Apache-2\.0|BSD-[23]-Clause)$/;
    assert.deepEqual(
      listed.filter(([, , licence = '']) => !open.test(licence)),
      [],
    );
  });

  it('is the only package that gets installed', () => {
    const installed = readdirSync(path.join(folder, 'node_modules'));
    assert.deepEqual(
      installed.filter((name) => !name.startsWith('.')),
      ['signalr-benchmark'],
    );
  });

  it('gives a command that answers --help', () => {
    const { status, stdout } = runNpm(folder, 'exec', '--no', '--', 'signalr-bench', '--help');
    assert.equal(status, 0);
    assert.match(stdout, /signalr-bench/);
    assert.match(stdout, /validate/);
  });

  it('gives a command that judges the packed example', () => {
    const installed = path.join('node_modules', 'signalr-benchmark');
    const judge = [path.join(installed, 'dist', 'cli.js'), 'validate'];
    const example = path.join(installed, 'examples', 'echo.yaml');
    assert.equal(spawnSync(process.execPath, [...judge, example], { cwd: folder }).status, 0);
  });
});
