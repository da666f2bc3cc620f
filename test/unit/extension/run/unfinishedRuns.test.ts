import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runState, type RunTraces } from '../../../../src/extension/results/resultEntry';
import { sampleResult, sampleSnapshot } from '../../results/sampleResult';

const ownPid = 4711;
const foreignPid = 4712;

describe('runState', () => {
  let folder: string;
  let directory: string;
  let nowMs: number;
  let waits: number;
  /** Waits after which the process of a window that is closing is gone. */
  let closesAfter: number;
  /** What happens while it waits for a second look. */
  let meanwhile: () => void;

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'signalr-bench-unfinished-'));
    folder = path.join(directory, '2026-11-21T10-00-00-echo');
    mkdirSync(folder);
    nowMs = Date.parse('2026-11-21T10:05:00Z');
    waits = 0;
    closesAfter = Infinity;
    meanwhile = () => undefined;
    write();
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  /** Writes a sample now. */
  function write(): void {
    const samples = path.join(folder, 'samples.jsonl');
    appendFileSync(samples, `${JSON.stringify(sampleSnapshot(1))}\n`);
    utimesSync(samples, new Date(nowMs), new Date(nowMs));
  }

  function finish(ending: string): void {
    const result = { ...sampleResult(), ending };
    writeFileSync(path.join(folder, 'result.json'), JSON.stringify(result));
  }

  const traces = (alive: boolean): RunTraces => ({
    ownPid,
    isAlive: () => alive && waits < closesAfter,
    now: () => new Date(nowMs),
    wait: async (ms) => {
      waits += 1;
      nowMs += ms;
      meanwhile();
    },
  });
  const state = (alive = false, pid = foreignPid) => runState({ folder, pid }, traces(alive));

  it('of a run in another window of this machine is running', async () => {
    assert.equal(await state(true), 'running');
    nowMs += 60_000;
    assert.equal(await state(true), 'running');
  });

  it('of a run on another machine, whose process cannot be seen, is running', async () => {
    meanwhile = write;
    assert.equal(await state(), 'running');
    assert.equal(waits, 1);
  });

  it('of a run whose window is just closing is interrupted', async () => {
    nowMs += 60_000;
    closesAfter = 2;
    assert.equal(await state(true), 'interrupted');
    assert.equal(waits, 2);
  });

  it('of a run whose window crashed a moment ago is interrupted', async () => {
    assert.equal(await state(), 'interrupted');
    assert.equal(waits, 1);
  });

  it('of a run that was broken off long ago is interrupted, though its process number is ours', async () => {
    nowMs += 60_000;
    assert.equal(await state(true, ownPid), 'interrupted');
    assert.equal(waits, 0);
  });

  it('of a run that its window ended when it closed is interrupted', async () => {
    finish('interrupted');
    assert.equal(await state(), 'interrupted');
  });

  it('of a run that came to its end after all, or whose folder is gone, is over', async () => {
    finish('completed');
    assert.equal(await state(), 'over');
    rmSync(folder, { recursive: true });
    assert.equal(await state(), 'over');
  });
});
