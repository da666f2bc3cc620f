import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KnownEntry } from '../../../../src/extension/results/resultEntry';
import { mostResults, scanResults } from '../../../../src/extension/results/resultEntry';
import { entryDescription } from '../../../../src/extension/results/resultsModel';
import { english } from '../../../../src/base/text';
import { saveBaseline } from '../../../../src/results/compare/baseline';
import { sampleResult, sampleSnapshot } from '../../results/sampleResult';

describe('scanResults', () => {
  let directory: string;
  let now: Date;

  beforeEach(() => {
    now = new Date();
    directory = mkdtempSync(path.join(tmpdir(), 'signalr-bench-scan-'));
  });

  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  function folder(name: string, files: Readonly<Record<string, string>>): string {
    const made = path.join(directory, name);
    mkdirSync(made);
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(made, file), text);
    return made;
  }

  const scan = (known = new Map<string, KnownEntry>()) => scanResults([directory], known, now);

  it('marks the baseline of each scenario', async () => {
    for (const hour of [10, 11]) {
      const id = `2026-11-21T${hour}-00-00-echo`;
      folder(id, { 'result.json': JSON.stringify({ ...sampleResult(), id }) });
    }
    const marked = async (): Promise<string[]> =>
      (await scan()).entries.filter(({ isBaseline }) => isBaseline).map(({ name }) => name);
    assert.deepEqual(await marked(), []);
    await saveBaseline(path.join(directory, '2026-11-21T10-00-00-echo'));
    assert.deepEqual(await marked(), ['2026-11-21T10-00-00-echo']);
    const [entry] = (await scan()).entries.filter(({ isBaseline }) => isBaseline);
    assert.match(entryDescription(entry!, english), / · passed · baseline$/);
    await saveBaseline(path.join(directory, '2026-11-21T11-00-00-echo'));
    assert.deepEqual(await marked(), ['2026-11-21T11-00-00-echo']);
  });

  it('reads finished, interrupted, running, damaged and newer results', async () => {
    const result = { ...sampleResult(), id: '2026-11-21T10-00-00-echo' };
    folder('my best run', { 'result.json': JSON.stringify(result) });
    const old = folder('2026-11-21T11-00-00-echo', {
      'samples.jsonl': `${JSON.stringify(sampleSnapshot(60, 2))}\n{"cut`,
    });
    utimesSync(path.join(old, 'samples.jsonl'), new Date(0), new Date(0));
    folder('2026-11-21T12-00-00-echo', { 'samples.jsonl': '' });
    folder('2026-11-21T13-00-00-echo', { 'result.json': '{' });
    folder('2026-11-21T14-00-00-echo', {
      'result.json': '{"schema":"signalr-bench-result/3"}',
    });
    folder('.deleted-2026-11-21T15-00-00-echo', { 'result.json': '{' });
    folder('something else', { 'notes.txt': '' });

    const { entries, unread } = await scan();
    const statuses = Object.fromEntries(entries.map(({ name, status }) => [name, status]));
    assert.deepEqual(statuses, {
      'my best run': 'pass',
      '2026-11-21T11-00-00-echo': 'interrupted',
      '2026-11-21T12-00-00-echo': 'running',
      '2026-11-21T13-00-00-echo': 'damaged',
      '2026-11-21T14-00-00-echo': 'newer',
    });
    assert.ok(entries.every(({ scenario }) => scenario === 'echo'));
    assert.equal(unread, 0);
  });

  it('finds nothing where there is no folder', async () => {
    assert.deepEqual(await scanResults([path.join(directory, 'none')], new Map(), now), {
      entries: [],
      unread: 0,
    });
  });

  it('reads a bounded number, the newest, and counts the others', async () => {
    for (let number = 0; number < mostResults + 3; number++) {
      folder(`2026-11-21T10-00-00-r${String(number).padStart(4, '0')}`, { 'result.json': '{' });
    }
    const { entries, unread } = await scan();
    assert.equal(entries.length, mostResults);
    assert.equal(unread, 3);
    assert.ok(entries.every(({ name }) => !name.endsWith('r0000')));
  });

  it('takes a run for going on while its samples grow, though the clocks differ', async () => {
    const known = new Map<string, KnownEntry>();
    const made = folder('2026-11-21T10-00-00-echo', { 'samples.jsonl': '' });
    const samples = path.join(made, 'samples.jsonl');
    // The clock of the machine that writes is a day behind.
    const behind = (seconds: number): Date => new Date(now.getTime() - 86_400_000 + seconds * 1000);
    const statuses: (string | undefined)[] = [];
    for (const second of [0, 1, 2, 2]) {
      writeFileSync(samples, `${JSON.stringify(sampleSnapshot(second + 1))}\n`);
      utimesSync(samples, behind(second), behind(second));
      statuses.push((await scan(known)).entries[0]?.status);
    }
    assert.deepEqual(statuses, ['interrupted', 'running', 'running', 'interrupted']);
  });

  it('takes unchanged results from what is known, and forgets those that are gone', async () => {
    const known = new Map<string, KnownEntry>();
    const [finished, interrupted] = [
      folder('2026-11-21T11-00-00-echo', { 'result.json': JSON.stringify(sampleResult()) }),
      folder('2026-11-21T10-00-00-echo', {
        'samples.jsonl': `${JSON.stringify(sampleSnapshot(60, 2))}\n`,
      }),
    ];
    utimesSync(path.join(interrupted, 'samples.jsonl'), new Date(0), new Date(0));
    const first = (await scan(known)).entries;
    assert.deepEqual(
      first.map(({ status }) => status),
      ['pass', 'interrupted'],
    );
    const again = (await scan(known)).entries;
    assert.ok(again.every((entry, at) => entry === first[at]));
    for (const gone of [finished, interrupted]) rmSync(gone, { recursive: true });
    assert.deepEqual((await scan(known)).entries, []);
    assert.equal(known.size, 0);
  });
});
