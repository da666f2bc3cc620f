import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openInFolder, createFile, replaceFile } from '../../../src/results/safeFiles';
import { createRecordingFile } from '../../../src/record/recordingFile';
import {
  calibrationsFile,
  saveCalibration,
  baselinesFile,
} from '../../../src/results/historyFiles';
import type { Calibration } from '../../../src/capacity/judge/calibrate';
import { saveBaseline } from '../../../src/results/compare/baseline';
import { writeCounterFile } from '../../../src/results/counters/counterFile';
import { ResultFolder, resultFile } from '../../../src/results/resultFolder';
import { writeReport } from '../../../src/run/export/exporters';
import { sampleResult, sampleScenario } from './sampleResult';

const [inner, secret] = ['in the folder', 'a secret of the reader'];

describe('openInFolder', () => {
  let root: string;
  let folder: string;
  const at = (name: string): string => path.join(folder, name);
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'named-'));
    folder = path.join(root, 'repository');
    for (const each of ['repository/below', 'outside', 'repository-too'])
      mkdirSync(path.join(root, each), { recursive: true });
    for (const each of ['rows.csv', 'below/rows.csv', '..rows.csv']) writeFileSync(at(each), inner);
    for (const each of ['outside', 'repository-too'])
      writeFileSync(path.join(root, each, 'rows.csv'), secret);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  async function read(name: string, from = folder): Promise<string> {
    const handle = await openInFolder(from, name);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  }

  it('follows links that stay in the folder, also where the folder itself is one', async () => {
    symlinkSync(at('rows.csv'), at('file'));
    symlinkSync('../rows.csv', at('below/up'));
    symlinkSync('below', at('folder'));
    symlinkSync('file', at('chain'));
    const linked = path.join(root, 'linked');
    symlinkSync(folder, linked);
    for (const from of [folder, linked, path.relative('.', folder)])
      for (const name of ['rows.csv', '..rows.csv', 'file', 'below/up', 'folder/rows.csv', 'chain'])
        assert.equal(await read(name, from), inner, `${from} ${name}`);
  });

  it('refuses every link that leads out of the folder', async () => {
    const outside = path.join(root, 'outside');
    symlinkSync(path.join(outside, 'rows.csv'), at('absolute'));
    symlinkSync('../outside/rows.csv', at('relative'));
    symlinkSync('../repository-too/rows.csv', at('likeNamed'));
    symlinkSync('../outside', at('folder'));
    symlinkSync('relative', at('chain'));
    symlinkSync('../chain', at('below/chain'));
    symlinkSync('folder', at('folderChain'));
    // Out of the folder, and by a link there to the secret once more.
    symlinkSync(outside, path.join(root, 'hop'));
    symlinkSync('../hop/rows.csv', at('hop'));
    const names = ['absolute', 'relative', 'likeNamed', 'folder/rows.csv', 'chain', 'below/chain'];
    for (const name of [...names, 'folderChain/rows.csv', 'hop', 'below/../relative'])
      await assert.rejects(
        read(name),
        { code: 'scenario-file', message: /a link leads out of the folder/ },
        name,
      );
  });

  it('finds nothing behind a link to nothing, or to itself', async () => {
    symlinkSync('nothing', at('dangling'));
    symlinkSync('circle', at('circle'));
    await assert.rejects(read('dangling'), { code: 'ENOENT' });
    await assert.rejects(read('circle'), { code: 'ELOOP' });
  });

  it('opens what is written as lying elsewhere: which keys may say so, the scenario’s check knows', async () => {
    assert.equal(await read('../outside/rows.csv'), secret);
    assert.equal(await read(path.join(root, 'outside', 'rows.csv')), secret);
  });

  it('gives no secret away while a link is swapped', async () => {
    writeFileSync(at('honest'), inner);
    symlinkSync('../outside/rows.csv', at('evil'));
    let [texts, refusals] = [0, 0];
    for (let round = 0; round < 300; round++) {
      const reading = read('swapped').then(
        (text) => {
          assert.equal(text, inner);
          texts += 1;
        },
        () => (refusals += 1),
      );
      const state = { isOver: false };
      const over = reading.finally(() => (state.isOver = true));
      for (let turn = round; !state.isOver; turn++) {
        const source = at(turn % 2 === 0 ? 'honest' : 'evil');
        renameSync(source, at('swapped'));
        await new Promise(setImmediate);
        renameSync(at('swapped'), source);
      }
      await over;
    }
    assert.equal(texts + refusals, 300);
  });
});

const before = 'of somebody else';
const onWarning = (message: string): void => assert.fail(message);
const counted = {
  ...sampleResult({ steps: [] }),
  scenario: { ...sampleScenario, resultFilePath: 'sums.txt' },
};
const calibration: Calibration = {
  ...{ at: '2026-11-21T14:02:11.500Z', scenario: 'rooms.yaml', result: 'one' },
  ...{ product: 'signalr', unit: 5, loads: [] },
};

/** Everything that is written, by the name of its file in the folder. */
const writers: Readonly<Record<string, (folder: string) => Promise<unknown>>> = {
  'plain.txt': (folder) => replaceFile(path.join(folder, 'plain.txt'), 'new'),
  'report.html': (folder) => writeReport(path.join(folder, 'report.html'), 'new'),
  [baselinesFile]: async (folder) => {
    const result = path.join(folder, '2026-01-01T00-00-00-a');
    mkdirSync(result, { recursive: true });
    writeFileSync(path.join(result, resultFile), JSON.stringify(sampleResult()));
    return saveBaseline(result);
  },
  [calibrationsFile]: (folder) => saveCalibration(folder, calibration),
  'sums.txt': (folder) => writeCounterFile(folder, counted, onWarning),
};

describe('replaceFile', () => {
  let root: string;
  let folder: string;
  let outside: string;
  const victims = (): string[] => [
    path.join(outside, 'file'),
    path.join(outside, 'folder', 'file'),
  ];
  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'written-'));
    folder = path.join(root, 'results');
    outside = path.join(root, 'outside');
    mkdirSync(folder);
    mkdirSync(path.join(outside, 'folder'), { recursive: true });
    for (const file of victims()) writeFileSync(file, before);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const isUntouched = (): void => {
    assert.deepEqual(readdirSync(outside).sort(), ['file', 'folder']);
    for (const file of victims()) assert.equal(readFileSync(file, 'utf8'), before);
  };
  const ways: Readonly<Record<string, string>> = {
    ...{ 'to a file': 'file', 'to nothing': 'nothing', 'to a folder': 'folder' },
  };

  for (const [name, write] of Object.entries(writers))
    for (const [which, goal] of Object.entries(ways))
      it(`writes ${name} through no link ${which}`, async () => {
        for (const ending of ['', '.new', '.tmp'])
          symlinkSync(path.join(outside, goal), path.join(folder, name + ending));
        await write(folder);
        isUntouched();
        assert.ok(lstatSync(path.join(folder, name)).isFile());
        assert.deepEqual(
          readdirSync(folder).filter((each) => each.startsWith('.')),
          [],
        );
      });

  it('writes a result through no link that was put into its folder', async () => {
    const startedAt = new Date('2026-11-21T14:02:11.500Z');
    const own = await ResultFolder.create({
      ...{
        directory: folder,
        scenarioName: 'a.yaml',
        scenarioText: 'a: 1\n',
        startedAt,
        onWarning,
      },
    });
    for (const ending of ['', '.tmp', '.new'])
      symlinkSync(path.join(outside, 'file'), path.join(own.path, resultFile + ending));
    assert.ok(await own.writeResult(sampleResult()));
    await own.dispose();
    isUntouched();
    assert.ok(lstatSync(path.join(own.path, resultFile)).isFile());
  });

  it('makes no new file where a link is', async () => {
    for (const goal of Object.values(ways)) {
      const file = path.join(folder, goal);
      symlinkSync(path.join(outside, goal), file);
      await assert.rejects(createFile(file, 'new'), { code: 'EEXIST' });
      await assert.rejects(createRecordingFile(file), { code: 'recording-exists' });
    }
    isUntouched();
  });

  it('leaves nothing of what it could not write, and what was there as it was', async () => {
    const file = path.join(folder, 'folder');
    mkdirSync(file);
    await assert.rejects(replaceFile(file, 'new'), { code: 'EISDIR' });
    assert.deepEqual(readdirSync(folder), ['folder']);
  });

  it('keeps who may read a file', async () => {
    const file = path.join(folder, 'private.txt');
    writeFileSync(file, 'old');
    chmodSync(file, 0o600);
    await replaceFile(file, 'new');
    assert.equal(readFileSync(file, 'utf8'), 'new');
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('writes to what is there to be written to', async () => {
    if (process.platform === 'win32') return;
    const were = lstatSync('/dev/null');
    await replaceFile('/dev/null', 'new');
    assert.equal(lstatSync('/dev/null').ino, were.ino);
  });
});
