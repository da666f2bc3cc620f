import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { NamedFiles } from '../../../src/run/namedFiles';

const text = [
  'config:',
  '  target: local',
  '  query: { from: rows.csv }',
  '  caFile: none.pem',
  '  identities: # rows.csv and rows.csv',
  '    file: rows.csv',
  "  data: { file: 'rows.csv' }",
  "  headers: { X-Who: '{identity.nick}', X-Room: '{data.room}' }",
  'scenario: { name: echo }',
  '',
].join('\n');

describe('NamedFiles', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'named-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const shown = (files: NamedFiles, of = text): string[] =>
    files.problemsIn(of).map(({ severity, message, offset, length }) => {
      const line = of.slice(0, offset).split('\n').length;
      return `${line} ${of.slice(offset, offset + length)} ${severity}: ${message.split('. ')[0]}`;
    });

  it('says at the key itself what is wrong with its file', async () => {
    const files = new NamedFiles();
    writeFileSync(path.join(folder, 'rows.csv'), 'name,room\nann,a\n');
    assert.equal(await files.look(parseScenario(text), folder), true);
    assert.deepEqual(shown(files), [
      '4 none.pem warning: There is no file none.pem here; a run would stop here.',
      '6 rows.csv error: rows.csv has no column nick, which {identity.nick} needs',
    ]);
    const other = text.replace('identity.nick', 'identity.name').replace('data.room', 'data.age');
    assert.equal(await files.look(parseScenario(other), folder), true);
    assert.deepEqual(shown(files, other).slice(1), [
      "7 'rows.csv' error: rows.csv has no column age, which {data.age} needs",
    ]);
  });

  it('looks again when a file is another one, and not before', async () => {
    const files = new NamedFiles();
    const parsed = parseScenario(text);
    const rows = path.join(folder, 'rows.csv');
    await files.look(parsed, folder);
    assert.equal(shown(files).filter((line) => line.includes('no file rows.csv')).length, 2);
    assert.equal(await files.look(parsed, folder), false);
    writeFileSync(rows, 'nick,room\n');
    assert.equal(await files.look(parsed, folder), true);
    assert.match(shown(files).join('\n'), /6 rows\.csv error: rows\.csv has no rows/);
    writeFileSync(rows, 'nick,room\nann,a\n');
    utimesSync(rows, 1, 1);
    assert.equal(await files.look(parsed, folder), true);
    assert.equal(shown(files).length, 1);
    // A scenario with problems is not looked into.
    await files.look(parseScenario(text.replace('echo', 'ecko')), folder);
    assert.deepEqual(shown(files), []);
  });

  it('reads no file that a link leads to outside of the folder', async () => {
    const outside = mkdtempSync(path.join(tmpdir(), 'outside-'));
    try {
      writeFileSync(path.join(outside, 'rows.csv'), 'nick,room\nann,a\n');
      symlinkSync(path.join(outside, 'rows.csv'), path.join(folder, 'rows.csv'));
      const files = new NamedFiles();
      await files.look(parseScenario(text), folder);
      assert.match(shown(files).join('\n'), /rows\.csv cannot be read: a link leads out of the/);
    } finally {
      rmSync(outside, { recursive: true });
    }
  });

  it('reads no pipes and says what is a folder', async () => {
    const files = new NamedFiles();
    if (process.platform !== 'win32') {
      // Nobody writes into it: who opens it waits.
      execFileSync('mkfifo', [path.join(folder, 'rows.csv')]);
      await files.look(parseScenario(text), folder);
      assert.equal(shown(files).length, 1);
    }
    await files.look(parseScenario(text.replace(/rows\.csv/g, '.')), folder);
    assert.match(shown(files).join('\n'), /error: .* cannot be read: it is a folder/);
  });
});
