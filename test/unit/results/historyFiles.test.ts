import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  calibrationFromResult,
  calibrationsFile,
  saveCalibration,
  readCalibrations,
} from '../../../src/results/historyFiles';
import { calibratedUnit, type Calibration } from '../../../src/capacity/judge/calibrate';
import type { EstimateLoad } from '../../../src/capacity/model';
import { completeResult } from '../../../src/results/completeResult';
import { toolVersion, type Result } from '../../../src/results/result';
import { searchSample } from '../../fakes/searchSample';
import { sampleModel, sampleResult, sampleScenario, sampleSummary } from './sampleResult';

const searched: Result = {
  ...sampleResult(),
  target: { kind: 'connectionString', url: 'https://x.service.signalr.net' },
  scenario: { ...sampleScenario, service: 'signalr', unit: 5 },
  search: searchSample,
};
const made = calibrationFromResult(searched, 'rooms.yaml')!;

describe('what a search has measured of a size', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-calibrations-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is the traffic that the size carried', () => {
    const { at, scenario, product, unit, loads } = made;
    assert.deepEqual(
      [at, scenario, product, unit],
      [searched.startedAt, 'rooms.yaml', 'signalr', 5],
    );
    assert.deepEqual(loads, searched.recommendation?.loads);
  });

  it('is nothing for emulators, hubs, sizes that nobody names, or searches without an interval', () => {
    for (const other of [
      { ...searched, target: { ...searched.target, emulated: true as const } },
      { ...searched, scenario: { ...sampleScenario, service: 'signalr' as const } },
      { ...searched, scenario: { ...searched.scenario, service: 'hub' as const } },
      { ...searched, search: { ...searchSample, ended: 'budget' as const } },
      { ...searched, search: { ...searchSample, ended: 'generatorLimit' as const } },
      { ...searched, recommendation: null },
    ])
      assert.equal(calibrationFromResult(other, 'rooms.yaml'), undefined);
    const { target, scenario } = searched;
    const run = { ...sampleResult(), target, scenario };
    assert.equal(calibrationFromResult(run, 'rooms.yaml'), undefined);
  });

  it('is kept beside the results, the newest of each size and traffic', async () => {
    assert.deepEqual(await readCalibrations(folder), []);
    await saveCalibration(folder, made);
    await saveCalibration(folder, { ...made, unit: 10 });
    const newer = { ...made, at: '2026-12-01T00:00:00.000Z' };
    await saveCalibration(folder, newer);
    assert.deepEqual(await readCalibrations(folder), [{ ...made, unit: 10 }, newer]);
    // Small messages say nothing of large ones.
    const sized = (bytes: number, perSecond: number): Calibration => ({
      ...{ ...made, unit: 1, scenario: `${bytes} bytes` },
      loads: [
        {
          ...{ kind: 'echo', table: 'echo' },
          ...{ in_messages_per_s: perSecond, out_messages_per_s: perSecond },
          ...{ in_bytes_per_s: perSecond * bytes, out_bytes_per_s: perSecond * bytes },
        },
      ],
    });
    for (const each of [sized(100, 5000), sized(65_536, 30), sized(110, 5500)])
      await saveCalibration(folder, each);
    const all = await readCalibrations(folder);
    assert.deepEqual(
      all.slice(2).map(({ scenario }) => scenario),
      ['65536 bytes', '110 bytes'],
    );
    const wanted = {
      product: 'signalr',
      connections: 100,
      loads: sized(100, 11_000).loads,
    } as const;
    assert.equal(calibratedUnit(wanted, all, Date.now())?.unit, 2);
  });

  it('is kept by the sizes in and out apart, and of a mix by those of each part', async () => {
    const load = (inBytes: number, outBytes: number, perSecond = 100): EstimateLoad => ({
      ...{ kind: 'echo', table: 'echo' },
      ...{ in_messages_per_s: perSecond, out_messages_per_s: perSecond },
      ...{ in_bytes_per_s: perSecond * inBytes, out_bytes_per_s: perSecond * outBytes },
    });
    const traffics: readonly (readonly [string, readonly EstimateLoad[]])[] = [
      ['download', [load(100, 10_240)]],
      ['upload', [load(10_240, 100)]],
      ['mix', [load(100, 100), load(65_536, 65_536, 10)]],
      ['small mix', [load(100, 100), load(100, 100, 10)]],
    ];
    for (const [scenario, loads] of traffics)
      await saveCalibration(folder, { ...made, scenario, loads });
    // The same traffic, its parts in another order.
    const [, mix] = traffics[2]!;
    const again = { ...made, scenario: 'mix again', loads: [...mix].reverse() };
    await saveCalibration(folder, again);
    const all = await readCalibrations(folder);
    const names = all.map(({ scenario }) => scenario);
    assert.deepEqual(names, ['download', 'upload', 'small mix', 'mix again']);
    for (const { scenario, loads } of all) {
      const found = calibratedUnit({ product: 'signalr', connections: 1, loads }, all, Date.now());
      assert.deepEqual([found?.scenario, found?.exact], [scenario, 5]);
    }
  });

  it('is nothing where the file is damaged, and a hostile one is not believed', async () => {
    await saveCalibration(folder, made);
    const file = path.join(folder, calibrationsFile);
    const text = readFileSync(file, 'utf8');
    for (const damaged of [
      text.slice(0, 50),
      'null',
      text.replace('"signalr-bench-calibrations/1"', '"signalr-bench-calibrations/2"'),
      text.replace('"unit": 5', '"unit": "5"'),
      text.replace('"product": "signalr"', '"product": "hub"'),
      ' '.repeat(2 * 1024 * 1024),
    ]) {
      writeFileSync(file, damaged);
      assert.deepEqual(await readCalibrations(folder), [], damaged.slice(0, 80));
    }
  });

  it('stands beside the published tables, which stay as they are', () => {
    const complete = (calibrations?: (typeof made)[]): Result =>
      completeResult(
        sampleSummary({}),
        sampleScenario,
        { id: 'x', toolVersion, ...(calibrations && { calibrations }) },
        sampleModel,
      );
    const published = complete().recommendation!;
    const both = complete([made]).recommendation!;
    assert.equal(published.calibrated, undefined);
    assert.deepEqual([both.unit, both.headline], [published.unit, published.headline]);
    assert.equal(both.calibrated?.unit, 5);
    assert.deepEqual(
      both.notes.filter((note) => !published.notes.includes(note)),
      [both.calibrated.sentence],
    );
  });
});
