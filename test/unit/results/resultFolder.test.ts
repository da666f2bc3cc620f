import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mostSnapshots } from '../../../src/measure/snapshotHistory';
import { readResult, readSnapshots, parseSample } from '../../../src/results/readResult';
import { resultFolderName, ResultFolder } from '../../../src/results/resultFolder';
import { sampleAgents, sampleResult, sampleSnapshot } from './sampleResult';
import { needsLinux } from '../../fakes/skipAloud';

describe('ResultFolder and readResult', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const create = (warnings: string[] = [], below = directory): Promise<ResultFolder> =>
    ResultFolder.create({
      directory: below,
      scenarioName: 'examples/chat-room.signalr.yaml',
      scenarioText: 'mode: simple\n',
      startedAt: new Date('2026-11-21T14:02:11.500Z'),
      onWarning: (message) => warnings.push(message),
    });

  it('reads back what it wrote, from the folder and from the file', async () => {
    const folder = await create();
    folder.appendSample(sampleSnapshot(1));
    await folder.writeResult(sampleResult());
    await folder.dispose();
    assert.equal(folder.id, '2026-11-21T14-02-11-chat-room');
    assert.deepEqual((await readdir(folder.path)).sort(), [
      'result.json',
      'samples.jsonl',
      'scenario.yaml',
    ]);
    for (const location of [folder.path, path.join(folder.path, 'result.json')]) {
      const read = await readResult(location);
      assert.ok(read.kind === 'result');
      assert.deepEqual(read.result, JSON.parse(JSON.stringify(sampleResult())));
    }
  });

  it('reads all samples of a run, and thins those of a very long one', async () => {
    const file = path.join(directory, 'samples.jsonl');
    const lines = (count: number): string =>
      Array.from({ length: count }, (_each, tick) => JSON.stringify(sampleSnapshot(tick + 1)))
        .concat('')
        .join('\n');
    assert.deepEqual(await readSnapshots(directory), []);
    await writeFile(file, lines(2 * mostSnapshots - 1));
    assert.equal((await readSnapshots(directory)).length, 2 * mostSnapshots - 1);
    await writeFile(file, lines(25_000));
    const read = await readSnapshots(directory);
    assert.ok(read.length > mostSnapshots && read.length < 2 * mostSnapshots, String(read.length));
    const times = read.map(({ atMs }) => atMs);
    assert.equal(times[0], sampleSnapshot(1).atMs);
    assert.equal(times.at(-1), sampleSnapshot(25_000).atMs);
    assert.ok(times.every((time, at) => at === 0 || time > times[at - 1]!));
  });

  it('reads what a sample says of an objective that is missed, and passes over the words of earlier versions', () => {
    const { step, ...sample } = sampleSnapshot(3, 1);
    for (const missed of [
      { message: '0 of 8 connections failed, 6 dropped' },
      { message: 'too many', isFinal: true },
    ] as const) {
      const written = { ...sample, step: { ...step!, missed } };
      assert.deepEqual(parseSample(JSON.stringify(written)), written);
    }
    const earlier = { ...sample, step: { ...step!, missed: { metric: 'p99', values: ['1 s'] } } };
    assert.deepEqual(parseSample(JSON.stringify(earlier)), { ...sample, step });
  });

  it('gives two runs of the same second two folders', async () => {
    const folders = [await create(), await create(), await create()];
    assert.deepEqual(
      folders.map(({ id }) => id.slice('2026-11-21T14-02-11-'.length)),
      ['chat-room', 'chat-room-2', 'chat-room-3'],
    );
    for (const folder of folders) await folder.dispose();
  });

  it('names folders safely for every system', () => {
    const at = new Date('2026-01-02T03:04:05Z');
    for (const [name, expected] of [
      ['a b:c?.yaml', 'a-b-c'],
      ['../../etc/passwd', 'passwd'],
      ['...', 'scenario'],
      ['größe.yml', 'größe'],
      ['x'.repeat(100), 'x'.repeat(60)],
    ] as const) {
      assert.equal(resultFolderName(at, name), `2026-01-02T03-04-05-${expected}`);
    }
  });

  it('writes one line a tick as it happens, and is read as interrupted without a result', async () => {
    const folder = await create();
    for (const tick of [1, 2, 2, 3])
      folder.appendSample({ ...sampleSnapshot(tick, tick === 3 ? 2 : 1), agents: sampleAgents });
    await folder.dispose();
    const samples = path.join(folder.path, 'samples.jsonl');
    const text = await readFile(samples, 'utf8');
    assert.equal(text.trimEnd().split('\n').length, 3);
    assert.ok(!text.includes('agents'), 'how they stand goes by');
    // A crash may cut the last line; somebody may have damaged another.
    await writeFile(samples, `${text}{"tick":4,\nnot json\n{"tick":5}\n`);
    const read = await readResult(folder.path);
    assert.ok(read.kind === 'interrupted');
    assert.equal(read.scenarioText, 'mode: simple\n');
    assert.equal(read.lastSample?.tick, 3);
    assert.deepEqual(
      read.steps.map(({ index }) => index),
      [1, 2],
    );
  });

  it('warns once when samples cannot be written, and lets the run go on', async () => {
    const warnings: string[] = [];
    const folder = await create(warnings);
    await folder.dispose();
    folder.appendSample(sampleSnapshot(1));
    folder.appendSample(sampleSnapshot(2));
    await folder.dispose();
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /the run goes on/);
  });

  it('warns when the result cannot be written', async () => {
    const warnings: string[] = [];
    const folder = await create(warnings);
    await rm(folder.path, { recursive: true });
    assert.equal(await folder.writeResult(sampleResult()), false);
    assert.equal(warnings.length, 1);
    await folder.dispose();
  });

  it('makes the folders above', async () => {
    const below = path.join(directory, 'a', 'b', 'c');
    const folder = await create([], below);
    assert.equal(path.dirname(folder.path), below);
    await folder.dispose();
  });

  it('refuses a directory where nothing can be made, and does not wait for ever', async function () {
    needsLinux(this, '/proc, in which nobody can make folders');
    await assert.rejects(create([], '/proc/results/here'), { code: 'result-folder' });
  });

  it('refuses a directory that is a file or may not be written', async () => {
    const file = path.join(directory, 'file');
    await writeFile(file, '');
    await assert.rejects(create([], file), {
      code: 'result-folder',
      message: /cannot be written below .*file \(a file[^)]+\)\.$/,
    });
    // Root may write everywhere, whatever the mode says.
    if (process.platform !== 'win32' && process.getuid?.() !== 0) {
      const locked = path.join(directory, 'locked');
      await mkdir(locked);
      await chmod(locked, 0o500);
      await assert.rejects(create([], locked), { code: 'result-folder', message: /no permission/ });
    }
  });

  describe('unreadable results', () => {
    const json = (change: object): string => JSON.stringify({ ...sampleResult(), ...change });
    const cases: [string, string, string, RegExp][] = [
      ['no JSON', '{"schema": ', 'result-damaged', /not valid JSON/],
      ['null', 'null', 'result-damaged', /no "schema"/],
      ['another file', '{"name":"x"}', 'result-damaged', /no "schema"/],
      ['newer', json({ schema: 'signalr-bench-result/3' }), 'result-newer', /is newer than/],
      ['never existed', json({ schema: 'signalr-bench-result/0' }), 'result-damaged', /no schema/],
      ['a missing field', json({ steps: undefined }), 'result-damaged', /steps: must be a list/],
      ['a wrong number', json({ errors: { other: 'x' } }), 'result-damaged', /errors\.other/],
      [
        'an unknown verdict',
        json({ verdict: { status: 'great', reasons: [] } }),
        'result-damaged',
        /verdict\.status/,
      ],
    ];
    for (const [name, text, code, message] of cases) {
      it(name, async () => {
        const file = path.join(directory, 'result.json');
        await writeFile(file, text);
        await assert.rejects(readResult(directory), { name: 'ExpectedError', code, message });
      });
    }

    it('a missing path and an empty folder', async () => {
      await assert.rejects(readResult(path.join(directory, 'no')), { code: 'result-missing' });
      await assert.rejects(readResult(directory), { code: 'result-missing' });
    });
  });
});
