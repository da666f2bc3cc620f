import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;

describe('package.json', () => {
  it('has no dependencies to install: everything is bundled', () => {
    assert.equal(manifest.dependencies, undefined);
    // vsce refuses to pack beside such a list.
    assert.equal(manifest.files, undefined);
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

describe('.npmignore', () => {
  it('packs what the editor package has and documents, and nothing that is not named', () => {
    assert.match(readFileSync('.npmignore', 'utf8'), /^\/\*$/m);
    assert.equal(readFileSync('.vscodeignore', 'utf8').split('\n')[0], '**');
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
