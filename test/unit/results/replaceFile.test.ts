import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createRecordingFile } from '../../../src/record/recordingFile';
import { calibrationsFile, keepCalibration } from '../../../src/results/calibrations';
import type { Calibration } from '../../../src/capacity/judge/calibrate';
import { keepBaseline } from '../../../src/results/compare/baseline';
import { writeCounters } from '../../../src/results/counters/counterFile';
import { baselinesFile } from '../../../src/results/keptFile';
import { createFile, replaceFile } from '../../../src/results/replaceFile';
import { ResultFolder, resultFile } from '../../../src/results/resultFolder';
import { writeReport } from '../../../src/run/export/exporters';
import { sampleResult, sampleScenario } from './sampleResult';

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
    return keepBaseline(result);
  },
  [calibrationsFile]: (folder) => keepCalibration(folder, calibration),
  'sums.txt': (folder) => writeCounters(folder, counted, onWarning),
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
