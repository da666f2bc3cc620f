import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { LatencyHistogram } from '../../../../src/measure/histogram';
import type { Snapshot, StepProgress } from '../../../../src/measure/snapshot';
import {
  counterFileName,
  counterLinesOfRun,
  writeCounterFile,
  createCounterConverter,
  formatCounterLine,
} from '../../../../src/results/counters/counterFile';
import {
  CounterSummarizer,
  formatLoadCounters,
} from '../../../../src/results/counters/counterSummary';
import { ResultFolder } from '../../../../src/results/resultFolder';
import { sampleResult, sampleScenario, sampleSnapshot, sampleStep } from '../sampleResult';

/** A warning that no test here expects. */
const unexpected = (message: string): never => assert.fail(message);

const startedAt = new Date('2026-11-21T14:02:11.000Z');

/** A snapshot of a step of 50 s of which `elapsedS` are measured. */
function at(
  atMs: number,
  index: number,
  elapsedS: number,
  change: Omit<Partial<Snapshot>, 'step'> & { step?: Partial<StepProgress> } = {},
): Snapshot {
  const base = sampleSnapshot(Math.floor(atMs / 1000), index);
  const sent = base.step!.senders * elapsedS;
  const classes = [sent * 9, sent, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  const counted = { latencyClasses: classes, payloadBytesIn: sent * 2048 };
  const step: StepProgress = {
    ...base.step!,
    ...{ elapsedS, sent, ...counted, payloadBytesOut: sent * 20_480 },
    ...change.step,
  };
  return { ...base, atMs, ...change, step };
}

/** Two steps, each with warm-up, measured time and drain. */
const samples: readonly Snapshot[] = [
  sampleSnapshot(1),
  sampleSnapshot(19),
  at(20_100, 1, 0, { phase: 'warmup' }),
  at(26_000, 1, 0.9),
  at(27_000, 1, 1.9),
  at(76_000, 1, 50, { phase: 'draining' }),
  at(76_200, 1, 50, { phase: 'draining', step: { over: true } }),
  at(77_000, 1, 50, { phase: 'preparing', step: { over: true } }),
  at(78_000, 2, 0, { phase: 'warmup' }),
  at(83_000, 2, 1),
  at(133_000, 2, 50, { phase: 'draining', step: { over: true } }),
];

const textOf = (snapshots: readonly Snapshot[]): string => {
  const next = createCounterConverter(startedAt.getTime());
  return snapshots
    .flatMap((snapshot) => next(snapshot))
    .map((line) => `${formatCounterLine(line)}\n`)
    .join('');
};

describe('createCounterConverter', () => {
  it('writes the lines of the golden file', () => {
    const golden = readFileSync('test/fixtures/counters/written.txt', 'utf8');
    assert.equal(textOf(samples), golden);
  });

  it('counts connections that came back as connected, and those that are missing as failed', () => {
    const { connections } = sampleSnapshot(1);
    const next = createCounterConverter(startedAt.getTime());
    for (const takingPart of [1000, 990]) {
      const life = { ...connections, connected: 1000, failed: 3, dropped: 50, takingPart };
      const { counters } = next(at(26_000 + takingPart, 1, 1, { connections: life })).at(-1)!;
      assert.equal(counters['connection:connect:success'], takingPart);
      assert.equal(counters['connection:connect:fail'], 3 + 1000 - takingPart);
    }
  });

  it('counts connections that are exchanged as connected, also in the line that ends the ramp', () => {
    const { connections } = sampleSnapshot(1);
    const next = createCounterConverter(startedAt.getTime());
    const counts = (atMs: number, elapsedS: number, takingPart: number) => {
      const life = { ...connections, connected: 40, failed: 0, dropped: 0, takingPart };
      const phase = elapsedS === 0 ? 'warmup' : 'measuring';
      return next(at(atMs, 1, elapsedS, { connections: life, phase })).map(({ counters }) => [
        counters['connection:connect:success'],
        counters['connection:connect:fail'],
      ]);
    };
    assert.deepEqual(counts(20_000, 0, 38), [[40, 0]]);
    assert.deepEqual(counts(21_000, 1, 29).at(-1), [40, 0]);
  });

  it('counts connections that came back anew in each step, without those of its warm-up', () => {
    const next = createCounterConverter(startedAt.getTime());
    const came = (atMs: number, index: number, elapsedS: number, reconnected: number) => {
      const connections = { ...sampleSnapshot(1).connections, reconnected };
      const phase = elapsedS === 0 ? 'warmup' : 'measuring';
      return next(at(atMs, index, elapsedS, { connections, phase })).map(
        ({ counters }) => counters['connection:connect:reconnect'],
      );
    };
    assert.deepEqual(came(20_000, 1, 0, 2), [2], 'the last line before the step');
    assert.deepEqual(came(21_000, 1, 1, 3), [0, 1]);
    assert.deepEqual(came(22_000, 1, 2, 7), [5]);
    assert.deepEqual(came(30_000, 2, 0, 8), []);
    assert.deepEqual(came(31_000, 2, 1, 8), [0, 0]);
    assert.deepEqual(came(32_000, 2, 2, 9), [1]);
  });

  it('spans exactly the measured time of each step, so that rates are right', () => {
    const summarizer = new CounterSummarizer();
    const next = createCounterConverter(startedAt.getTime());
    for (const line of samples.flatMap((snapshot) => next(snapshot))) summarizer.add(line);
    const { established, epochs } = summarizer.summary();
    assert.deepEqual(established, { connections: 1900, seconds: 18 });
    assert.deepEqual(
      epochs.map(({ senders, seconds, sent, received }) => [senders, seconds, sent, received]),
      [
        [700, 50, 35_000, 350_000],
        [1300, 50, 65_000, 650_000],
      ],
    );
    assert.equal(epochs[0]!.sentBytes, 35_000 * (2048 + 8));
  });

  it('ends the ramp with all connections, also one that is shorter than a second', () => {
    for (const [ramp, established] of [
      [[sampleSnapshot(0)], { connections: 1900, seconds: 1 }],
      [
        [sampleSnapshot(0), sampleSnapshot(1, undefined, { atMs: 900 })],
        { connections: 1900, seconds: 1 },
      ],
      [[], { connections: 1900, seconds: 0 }],
    ] as const) {
      const summarizer = new CounterSummarizer();
      const next = createCounterConverter(startedAt.getTime());
      const warmup = at(1200, 1, 0, { phase: 'warmup' });
      for (const sample of [...ramp, warmup, at(7000, 1, 1), at(8000, 1, 2)])
        for (const line of next(sample)) summarizer.add(line);
      const summary = summarizer.summary();
      assert.deepEqual(summary.established, established);
      assert.deepEqual(
        summary.epochs.map(({ epoch, seconds }) => [epoch, seconds]),
        [[1, 2]],
      );
    }
  });

  it('writes a step that no sample saw being measured', () => {
    const over = at(60_000, 1, 50, { phase: 'draining', step: { over: true } });
    const times = textOf([over])
      .split('\n')
      .map((line) => /"Time":"([^"]*)"/.exec(line)?.[1]);
    const begin = '2026-11-21T14:02:21Z';
    assert.deepEqual(times, [begin, begin, '2026-11-21T14:03:11Z', undefined]);
  });
});

describe('the counter file of a run', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'signalr-bench-counters-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  async function folderWith(snapshots: readonly Snapshot[]): Promise<string> {
    const folder = await ResultFolder.create({
      directory,
      scenarioName: 'a.yaml',
      scenarioText: '',
      startedAt,
      onWarning: unexpected,
    });
    for (const snapshot of snapshots) folder.appendSample(snapshot);
    await folder.dispose();
    return folder.path;
  }

  const result = (resultFilePath?: string): ReturnType<typeof sampleResult> =>
    sampleResult(
      { steps: [sampleStep(1), sampleStep(2)] },
      resultFilePath === undefined ? sampleScenario : { ...sampleScenario, resultFilePath },
    );

  it('is written only when the scenario asks for it, and never outside the folder', async () => {
    const folder = await folderWith(samples);
    assert.equal(await writeCounterFile(folder, result(), unexpected), undefined);
    const file = await writeCounterFile(folder, result('../../evil/my counters.txt'), unexpected);
    assert.equal(file, path.join(folder, 'my-counters.txt'));
    // The drain has no lines of its own; the samples have one for the end of each step.
    assert.match(await readFile(file, 'utf8'), /"sendingStep":1300,.*\n$/);
    assert.deepEqual(await readdir(directory), [path.basename(folder)]);
  });

  it('has a name that harms nothing', () => {
    for (const [written, name] of [
      ['counters.txt', 'counters.txt'],
      ['C:\\bench\\old.txt', 'old.txt'],
      ['/etc/', 'counters.txt'],
      ['..', 'counters.txt'],
      ['result.json', 'counters.txt'],
      ['RESULT.JSON', 'counters.txt'],
      ['', 'counters.txt'],
    ] as const) {
      assert.equal(counterFileName(written), name, written);
    }
  });

  it('says so when it cannot be written', async () => {
    const warnings: string[] = [];
    const missing = path.join(directory, 'gone');
    const file = await writeCounterFile(missing, result('c.txt'), (text) => warnings.push(text));
    assert.equal(file, undefined);
    assert.match(warnings[0]!, /^The counters cannot be written to /);
  });

  it('takes begin and end of each step from the result where samples have no latencies', async () => {
    const histogram = new LatencyHistogram();
    for (const ms of [50, 150, 250, 2000]) histogram.record(ms * 1000);
    const measured = { latencyUs: histogram.summary(), histogram: histogram.encode() };
    const steps = [{ ...sampleStep(1), ...measured }];
    const folder = await folderWith([sampleSnapshot(1), sampleSnapshot(20, 1)]);
    const run = { kind: 'result', path: folder, result: sampleResult({ steps }) } as const;
    const lines = await counterLinesOfRun(run);
    assert.deepEqual(
      lines.map(({ counters }) => [counters['epoch'], counters['message:received'] ?? null]),
      [
        [0, null],
        [1, 0],
        [1, 4],
      ],
    );
    const { counters } = lines.at(-1)!;
    assert.deepEqual(
      ['message:lt:100', 'message:lt:200', 'message:lt:300', 'message:ge:1000'].map(
        (name) => counters[name],
      ),
      [1, 1, 1, 1],
    );
    const summarizer = new CounterSummarizer();
    for (const line of lines) summarizer.add(line);
    assert.match(
      formatLoadCounters(summarizer.summary(), () => steps[0]!.latencyUs).join('\n'),
      / {2}50\.00%: < 200 ms \(150ms\)\n {2}75\.00%: < 1000 ms\n/,
    );
  });

  it('begins an interrupted run at the time its folder is named after', async () => {
    const folder = await folderWith([sampleSnapshot(3)]);
    const run = { kind: 'interrupted', path: folder, steps: [] } as const;
    const [line] = await counterLinesOfRun(run);
    assert.equal(line!.atMs, startedAt.getTime() + 3000);
  });
});
