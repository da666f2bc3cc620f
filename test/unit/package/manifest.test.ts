import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const manifest = readJson('package.json') as Manifest;

describe('package.json', () => {
  it('has no dependencies to install: everything is bundled', () => {
    assert.equal(manifest.dependencies, undefined);
  });

  it('agrees with package-lock.json', () => {
    const lock = readJson('package-lock.json') as { packages: Record<string, Manifest> };
    const locked = lock.packages['']!;
    assert.equal(locked.version, manifest.version);
    assert.deepEqual(locked.devDependencies, manifest.devDependencies);
    assert.deepEqual(locked.bin, manifest.bin);
  });

  it('names no script file that is not there', () => {
    for (const [name, command] of Object.entries(manifest.scripts)) {
      for (const file of command.match(/\S+\.mjs/g) ?? []) assert.ok(existsSync(file), name);
    }
  });

  it('packs for the command line what the editor package has, and documents', () => {
    // The bundles by name: the command line needs none of the editor's.
    const commandLine = ['docs', 'dist/cli.js', 'dist/hub.js', 'dist/worker.js'];
    const editor = readFileSync('.vscodeignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1).replace(/\/\*\*$/, ''))
      // The editor's own: manifest texts, translations and panel resources. npm packs package.json by itself.
      .filter((line) => !/^(package\.|l10n|media|dist\/\*)/.test(line));
    assert.deepEqual([...manifest.files].sort(), [...editor, ...commandLine].sort());
  });

  it('has its version in the changelog', () => {
    const heading = `## [${manifest.version}] - `;
    assert.ok(readFileSync('CHANGELOG.md', 'utf8').includes(heading));
  });
});

describe('.vscodeignore', () => {
  it('leaves out everything that is not named', () => {
    assert.equal(readFileSync('.vscodeignore', 'utf8').split('\n')[0], '**');
  });
});
