import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { packedExtension } from './workbench';

/** Names of the files in a ZIP archive, by its central directory (APPNOTE.TXT 4.3.12 and 4.3.16). */
function filesInZip(file: string): string[] {
  const bytes = readFileSync(file);
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  assert.ok(end >= 0, 'no ZIP archive');
  const count = bytes.readUInt16LE(end + 10);
  const names: string[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    const nameLength = bytes.readUInt16LE(at + 28);
    names.push(bytes.toString('utf8', at + 46, at + 46 + nameLength));
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return names;
}

/** Files of a folder of the repository as the package names them; none when there is no such folder. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name).split(path.sep).join('/'));
}

describe('the packed extension', () => {
  it('holds what it needs and nothing else', () => {
    const manifestTexts = readdirSync('.').filter((name) => /^package\.nls.*\.json$/.test(name));
    const bundles = filesIn('dist').filter((name) => name.endsWith('.js'));
    const expected = [
      'LICENSE.txt',
      'changelog.md',
      'readme.md',
      'package.json',
      'dist/licenses.txt',
      'schemas/scenario.schema.json',
      ...manifestTexts,
      ...bundles,
      ...filesIn('examples'),
      ...filesIn('media'),
      ...filesIn('l10n'),
    ].map((name) => `extension/${name}`);
    const own = ['[Content_Types].xml', 'extension.vsixmanifest'];
    assert.deepEqual(filesInZip(packedExtension()).sort(), [...expected, ...own].sort());
    // The embedded hub is a process of its own, started by the command line.
    for (const name of ['extension', 'worker', 'panel', 'cli', 'hub']) {
      assert.ok(bundles.includes(`dist/${name}.js`), name);
    }
  });

  it('stays below 1 MB', () => {
    assert.ok(statSync(packedExtension()).size < 1024 * 1024);
  });
});
