import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasOriginalName, entryDescription } from '../../../../src/extension/results/resultsModel';
import {
  resultFolderAt,
  parseFolderName,
  newFolderName,
  resultEntry,
  type KnownEntry,
  mostResults,
  scanResults,
  runState,
  type RunTraces,
} from '../../../../src/extension/results/resultEntry';
import { sampleResult, sampleSnapshot } from '../../results/sampleResult';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync, appendFileSync } from 'node:fs';
import { english } from '../../../../src/base/text';
import { saveBaseline } from '../../../../src/results/compare/baseline';

const startedMs = Date.parse('2026-11-21T14:02:11Z');

describe('names of result folders', () => {
  it('show time and scenario', () => {
    assert.deepEqual(parseFolderName('2026-11-21T14-02-11-chat-room'), {
      scenario: 'chat-room',
      startedMs,
    });
    assert.deepEqual(parseFolderName('my best run'), { scenario: 'my best run', startedMs: 0 });
  });

  it('differ from those that somebody gave them', () => {
    const own = (name: string) => hasOriginalName({ name, scenario: 'fresh' });
    const made = '2026-11-21T14-02-11-fresh';
    assert.deepEqual([made, `${made}-2`].map(own), [true, true]);
    const given = ['baseline-fresh', 'fresh', `${made} best`, `${made}-best`, `old-${made}`];
    assert.deepEqual(given.filter(own), []);
  });

  it('keep time and scenario of a run without a result, whatever it is called', () => {
    const made = '2026-11-21T14-02-11-chat-room';
    const named = newFolderName({ name: made }, 'before the change');
    assert.equal(named, `${made} before the change`);
    assert.deepEqual(parseFolderName(named), { scenario: 'chat-room', startedMs });
    assert.equal(newFolderName({ name: named }, 'after it'), `${made} after it`);
    assert.equal(newFolderName({ name: named }, `${made} after it`), `${made} after it`);
    assert.equal(newFolderName({ name: named }, made), made);
    assert.equal(newFolderName({ name: 'named by hand' }, 'by another'), 'by another');
  });

  it('are those that people want, once a result in the folder can be read', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
    const made = '2026-11-21T14-02-11-chat-room';
    const renamed = async (text: string): Promise<string> => {
      const folder = path.join(directory, made);
      await mkdir(folder, { recursive: true });
      await writeFile(path.join(folder, 'result.json'), text);
      return newFolderName((await resultEntry(folder, new Date()))!, 'old');
    };
    try {
      assert.equal(await renamed('{'), `${made} old`);
      assert.equal(await renamed('{"schema":"signalr-bench-result/7"}'), `${made} old`);
      assert.equal(await renamed(JSON.stringify(sampleResult())), 'old');
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('may end like those of files', () => {
    assert.equal(resultFolderAt('/r/my old.json'), '/r/my old.json');
    assert.equal(resultFolderAt('/r/my old.json/result.json'), '/r/my old.json');
  });
});

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
