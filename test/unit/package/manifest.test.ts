import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
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

  it('has its version in the changelog', () => {
    const heading = `## [${manifest.version}] - `;
    assert.ok(readFileSync('CHANGELOG.md', 'utf8').includes(heading));
  });
});

/** Lines that name something to pack. */
const packedBy = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1).replace(/^\/|\/\*\*$/g, ''));

describe('.vscodeignore', () => {
  it('leaves out everything that is not named', () => {
    assert.equal(readFileSync('.vscodeignore', 'utf8').split('\n')[0], '**');
  });

  it('is not overruled: vsce refuses to pack beside a list in the manifest', () => {
    assert.equal(manifest.files, undefined);
  });
});

describe('.npmignore', () => {
  it('leaves out everything that is not named', () => {
    assert.match(readFileSync('.npmignore', 'utf8'), /^\/\*$/m);
  });

  it('packs what the editor package has, and documents', () => {
    const bundles = /^dist/;
    // npm packs these by itself, or they are the editor's own: manifest texts and panel resources.
    const own = /^(package\.|l10n|media|README\.md|LICENSE)/;
    const editor = packedBy('.vscodeignore').filter((line) => !own.test(line));
    const others = (lines: string[]): string[] =>
      lines.filter((line) => !bundles.test(line)).sort();
    assert.deepEqual(
      others(packedBy('.npmignore')),
      others([...editor, 'docs', 'media', 'media/hub']),
    );
  });
});
