import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { storedSource } from '../../../../src/extension/panel/panelSession';
import { sampleSnapshot, unusualResult } from '../../results/sampleResult';

describe('storedSource', () => {
  let folder: string;
  const called: string[] = [];
  const order = (name: string) => () => void called.push(name);
  const actions = {
    stop: order('stop'),
    runAgain: order('run'),
    openScenario: order('open'),
    copySummary: order('copy'),
  };
  beforeEach(async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
    folder = path.join(directory, '2026-11-21T14-02-11-my-rooms');
    await mkdir(folder);
    called.length = 0;
    const samples = [1, 2].map((tick) => `${JSON.stringify(sampleSnapshot(tick))}\n`);
    await writeFile(path.join(folder, 'samples.jsonl'), samples.join(''));
    await writeFile(path.join(folder, 'scenario.yaml'), 'mode: simple\n');
  });
  afterEach(() => rm(path.dirname(folder), { recursive: true, force: true }));

  it('shows a finished run with its samples, by folder and by file', async () => {
    const file = path.join(folder, 'result.json');
    const result = { ...unusualResult, id: '2026-11-21T14-02-11-my-rooms' };
    await writeFile(file, JSON.stringify(result));
    for (const location of [folder, file]) {
      const source = await storedSource(location, actions);
      assert.equal(source.run.title, 'my-rooms');
      assert.equal(source.run.targetUrl, result.target.url);
      assert.equal(source.run.dialect, 'measure');
      assert.equal(source.snapshots.length, 2);
      assert.deepEqual(source.result?.verdict, result.verdict);
      assert.equal(source.interrupted, false);
    }
    const source = await storedSource(file, actions);
    source.orders.runAgain();
    source.orders.openScenario();
    source.orders.copySummary();
    assert.deepEqual(called, ['run', 'open', 'copy']);
  });

  it('shows what an interrupted run has left', async () => {
    const source = await storedSource(folder, actions);
    assert.equal(source.run.title, 'my-rooms');
    assert.equal(source.run.startedAt, '2026-11-21T14:02:11.000Z');
    assert.equal(source.snapshots.length, 2);
    assert.equal(source.result, undefined);
    assert.equal(source.interrupted, true);
  });

  it('shows where an interrupted run led to', async () => {
    const targetOf = async (config: string): Promise<string> => {
      await writeFile(path.join(folder, 'scenario.yaml'), config);
      return (await storedSource(folder, actions)).run.targetUrl;
    };
    const connection = (text: string) => targetOf(`config:\n  connectionString: ${text}\n`);
    assert.equal(await connection('${secret:service}'), '${secret:service}');
    const endpoint = 'Endpoint=https://a.service.signalr.net';
    assert.equal(
      await connection(`${endpoint};AccessKey=made-up-for-tests`),
      `${endpoint};AccessKey=(redacted)`,
    );
    assert.equal(await targetOf('config:\n  target: local\n'), 'local');
  });

  it('says so when the scenario of an interrupted run cannot be read', async () => {
    await writeFile(path.join(folder, 'scenario.yaml'), '[');
    await assert.rejects(storedSource(folder, actions), {
      code: 'result-damaged',
      message: /2 samples are in samples\.jsonl/,
    });
  });
});
