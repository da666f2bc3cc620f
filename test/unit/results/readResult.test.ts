import { say } from '../../../src/base/sentence';
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hydrateMessage, storedSource } from '../../../src/extension/panel/panelSession';
import { resultEntry } from '../../../src/extension/results/resultEntry';
import { entryDescription } from '../../../src/extension/results/resultsModel';
import { summaryMarkdown } from '../../../src/run/export/summaryMarkdown';
import { readResult, parseResult } from '../../../src/results/readResult';
import { english } from '../../../src/base/text';
import {
  sampleResult,
  sampleScenario,
  sampleSnapshot,
  sessionProgress,
  sessionStep,
  sampleStep,
} from './sampleResult';
import { needsLinux } from '../../fakes/skipAloud';
import type { StepSummary } from '../../../src/measure/summary';
import { readdirSync, readFileSync } from 'node:fs';
import { resultShape } from '../../../src/results/resultShape';
import { shapeProblem } from '../../../src/measure/shape';
import { scenarioOf } from '../scenario/parsed';

const actions = {
  runAgain: () => undefined,
  stop: () => undefined,
  openScenario: () => undefined,
  copySummary: () => undefined,
};

describe('a hostile result', () => {
  let directory: string;
  const file = (name = 'result.json'): string => path.join(directory, name);

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'signalr-bench-hostile-'));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  /** A file that takes no place on disk. */
  async function sparse(name: string, sizeBytes: number): Promise<void> {
    const handle = await open(file(name), 'w');
    await handle.truncate(sizeBytes);
    await handle.close();
  }

  /** Everything that shows a result, and what it shows. */
  async function shown(): Promise<{ summary: string; posted: string; described: string }> {
    const entry = await resultEntry(directory, new Date());
    assert.ok(entry && entry.status !== 'damaged', say(entry?.sentence ?? ''));
    const run = await readResult(directory);
    assert.ok(run.kind === 'result');
    const source = await storedSource(directory, actions);
    return {
      summary: summaryMarkdown(run.result),
      posted: JSON.stringify(hydrateMessage(source)),
      described: entryDescription(entry, english),
    };
  }

  const stored = (change: object = {}, result = sampleResult()): string =>
    JSON.stringify({ ...result, extra: 0, ...change });
  const sessions = (): string => stored({}, sampleResult({ steps: [sessionStep(1)] }));
  const agent = { index: 1, node: 'a', status: 'done', lastTick: 3, clockErrorUs: -1, share: 1 };
  const check = '{"metric":"p99","limit":1,"value":1,"met":true,"by":"somebody"}';
  /** What stands in the place of what in a stored result. */
  const broken: [string, string, string, string, RegExp][] = [
    [
      ...['nested a hundred thousand levels deep', stored(), '"extra":0'],
      `"extra":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
      /nested deeper than 64 levels/,
    ],
    [
      ...['with a number that nothing counted can have', stored(), '"cores":2', '"cores":1e308'],
      /machine\.cores: must be a number of at least 0/,
    ],
    [
      ...['with a number beyond all numbers', stored(), '"cores":2', '"cores":1e999'],
      /machine\.cores: must be a number of at least 0/,
    ],
    [
      ...['that received less than nothing', stored(), '"received":', '"received":-5,"was":'],
      /steps\[0\]\.received: must be a number of at least 0/,
    ],
    [
      ...['with less than no errors', stored({ errors: { reset: 1 } }), '"reset":1', '"reset":-1'],
      /errors\.reset: must be a number of at least 0/,
    ],
    [
      ...['whose clocks are better than right', stored({ agents: [agent] }), '', ''],
      /agents\[0\]\.clockErrorUs: must be a number of at least 0/,
    ],
    [
      ...['whose objective was decided by something else', stored(), '"checks":['],
      `"checks":[${check},`,
      /checks\[0\]\.by: must be one of inside, nothing/,
    ],
    [
      ...['with less than no calls of a session', sessions(), '"sent":20020', '"sent":-1'],
      /steps\[0\]\.calls\[1\]\.sent: must be a number of at least 0/,
    ],
    [
      ...[
        'whose sessions broke off at a word',
        sessions(),
        '"GetHistory":2',
        '"GetHistory":"often"',
      ],
      /steps\[0\]\.sessions\.brokenOffAt\.GetHistory: must be a number of at least 0/,
    ],
    [
      ...['whose call has no name', sessions(), '"name":"JoinRoom",', ''],
      /steps\[0\]\.calls\[0\]\.name: must be a string/,
    ],
    [
      ...['with a parameter of the wrong type', stored(), '"groupCount":190', '"groupCount":"190"'],
      /parameters\.groupCount: must be a number/,
    ],
  ].map((row) => row as [string, string, string, string, RegExp]);
  const writing = broken.map(([name, whole, from, to, why]) => {
    assert.ok(whole.includes(from), from);
    return [name, () => writeFile(file(), whole.replace(from, to)), why] as const;
  });
  const large = () => sparse('result.json', 200 * 1024 * 1024);
  for (const [name, write, why] of [
    ...writing,
    ['of 200 MB', large, /larger than 64 MB/] as const,
  ]) {
    it(`${name} is refused with the reason, and listed as damaged`, async () => {
      await write();
      await assert.rejects(readResult(directory), { code: 'result-damaged', message: why });
      const entry = await resultEntry(directory, new Date());
      assert.equal(entry?.status, 'damaged');
      assert.match(say(entry.sentence), why);
    });
  }

  it('that was cut names the samples beside it, if there are some', async () => {
    await writeFile(file(), JSON.stringify(sampleResult()).slice(0, 500));
    await assert.rejects(readResult(directory), { message: /not valid JSON\.$/ });
    await writeFile(file('samples.jsonl'), '');
    await assert.rejects(readResult(directory), {
      code: 'result-damaged',
      message: /not valid JSON\. Move it away to see what samples\.jsonl beside it has/,
    });
  });

  it('that is the folder of all results names the newest of them', async () => {
    await assert.rejects(readResult(directory), {
      code: 'result-missing',
      message: /neither result\.json nor samples\.jsonl is in it\.$/,
    });
    for (const name of ['2026-11-21T14-02-11-a', '2026-11-22T09-15-00-a', 'zoo'])
      await mkdir(file(name));
    await assert.rejects(readResult(directory), {
      code: 'result-missing',
      message: /the newest is .*2026-11-22T09-15-00-a\.$/,
    });
  });

  it('that is a link to a device is refused, and not read for ever', async function () {
    // Elsewhere there may be no links for everybody either.
    needsLinux(this, '/dev/zero');
    await symlink('/dev/zero', file());
    await assert.rejects(readResult(directory), { code: 'result-damaged', message: /not a file/ });
    assert.equal((await resultEntry(directory, new Date()))?.status, 'damaged');
  });

  it('of sessions is read with its calls, and so are its samples', async () => {
    const parameters = { sessionInterval: 30_000, steps: '[{"kind":"wait","ms":1000}]' };
    const scenario = { ...sampleScenario, entries: [{ name: 'session', parameters }] };
    const result = sampleResult({ steps: [sessionStep(1)] }, scenario);
    const { step, ...sample } = sampleSnapshot(3, 1);
    const samples = [
      { ...sample, step: { ...step, ...sessionProgress(1) } },
      { ...sample, step: { ...step, ...sessionProgress(1), calls: [{ name: 'JoinRoom' }] } },
    ];
    await writeFile(file(), JSON.stringify(result));
    await writeFile(file('samples.jsonl'), samples.map((each) => JSON.stringify(each)).join('\n'));
    const read = await readResult(directory);
    assert.ok(read.kind === 'result');
    assert.deepEqual(read.result.steps, result.steps);
    const { snapshots } = await storedSource(directory, actions);
    assert.deepEqual(
      snapshots.map((snapshot) => snapshot.step?.calls?.length),
      [4],
    );
  });

  it('with the largest numbers there are is shown without harm', async () => {
    const text = JSON.stringify(sampleResult()).replaceAll(
      /"(senders|sent|received|p99|max|connections|groupCount|step)":[\d.]+/g,
      `"$1":${Number.MAX_SAFE_INTEGER}`,
    );
    await writeFile(file(), text);
    const { posted, summary } = await shown();
    assert.ok(summary.length < 20_000 && posted.length < 200_000);
  });

  it('with markup in its texts stays text', async () => {
    const evil = '<script>alert(1)</script>[x](command:evil)|`\u202e\n# big';
    const result = sampleResult();
    const [entry] = result.scenario.entries;
    await writeFile(
      file(),
      JSON.stringify({
        ...result,
        id: `2026-11-21T10-00-00-${evil}`,
        ending: 'targetLost',
        endingMessage: evil,
        errors: { [evil]: 3 },
        scenario: { ...result.scenario, entries: [{ ...entry, name: evil }] },
      }),
    );
    const { summary } = await shown();
    assert.ok(!/(?<!\\)<script|(?<!\\)\]\(|\u202e|\n# big/.test(summary), summary);
  });

  it('with __proto__ as a name changes no other object', async () => {
    const text = JSON.stringify({ ...sampleResult(), errors: { one: 1 } });
    await writeFile(
      file(),
      text
        .replace('"errors":{"one":1}', '"errors":{"__proto__":7,"constructor":1}')
        .replace('{', '{"__proto__":{"polluted":true},'),
    );
    const { summary } = await shown();
    assert.match(summary, /\| \\_\\_proto\\_\\_ \| 7 \|.*\n\| constructor \| 1 \|/);
    assert.equal(({} as { polluted?: unknown }).polluted, undefined);
  });

  it('has samples of one endless line, which is passed over', async () => {
    await writeFile(file(), JSON.stringify(sampleResult()));
    await sparse('samples.jsonl', 100 * 1024 * 1024);
    assert.deepEqual((await storedSource(directory, actions)).snapshots, []);
  });

  it('has samples among lines of rubbish, and they are found', async () => {
    const rubbish = ['{"tick":1}', '[]', 'null', '\u0000', `{"a":${'['.repeat(20_000)}`];
    const good = JSON.stringify(sampleSnapshot(3, 1));
    await writeFile(file('samples.jsonl'), [...rubbish, good, ...rubbish].join('\n'));
    await writeFile(file(), JSON.stringify(sampleResult()));
    const { snapshots } = await storedSource(directory, actions);
    assert.deepEqual(
      snapshots.map(({ tick }) => tick),
      [3],
    );
  });
});

/** As schema 1 had it: 10 of 100 deliveries came after the drain, and 5 never. */
const late = { expected: 100, received: 95, lost: 5, late: 10 } as const;
const call = { name: 'Work', sent: 100, errors: {}, latencyUs: sampleStep(1).latencyUs };

const readOf = (step: Partial<StepSummary>): StepSummary => {
  const result = { ...sampleResult(), steps: [{ ...sampleStep(1), seconds: 10, ...step }] };
  const text = JSON.stringify({ ...result, schema: 'signalr-bench-result/1' });
  const read = parseResult(text, 'result.json');
  assert.equal(read.schema, 'signalr-bench-result/2');
  return read.steps[0]!;
};

describe('a result of schema 1', () => {
  it('is read with what came after the drain as a part of what was lost', () => {
    const { expected, received, lost, late: after, receivedPerSecond } = readOf(late);
    assert.deepEqual([expected, received, lost, after, receivedPerSecond], [100, 85, 15, 10, 8.5]);
  });

  it('is read so in each entry and its only call, and as it was where nobody knows', () => {
    const entry = { ...sampleStep(1), ...late, name: 'a' };
    const counts = { expected: 100, received: 95, lost: 5 };
    const calls = [
      { ...call, ...counts, entry: 'a' },
      { ...call, ...counts, entry: 'b' },
      { ...call, ...counts, entry: 'b' },
    ];
    const read = readOf({ ...late, entries: [entry, { ...entry, name: 'b' }], calls });
    const deliveries = (of: readonly { received: number; lost: number }[]): number[][] =>
      of.map(({ received, lost }) => [received, lost]);
    assert.deepEqual(deliveries(read.entries!), [
      [85, 15],
      [85, 15],
    ]);
    assert.deepEqual(deliveries(read.calls!), [
      [85, 15],
      [95, 5],
      [95, 5],
    ]);
  });

  it('is read as it is where nothing was late', () => {
    assert.deepEqual(readOf({}), { ...sampleStep(1), seconds: 10 });
  });
});

const examples = readdirSync('examples').filter((file) => file.endsWith('.yaml'));

describe('the shape of results', () => {
  for (const file of examples)
    it(`fits what a run of ${file} leaves`, () => {
      const scenario = scenarioOf(readFileSync(`examples/${file}`, 'utf8'));
      const stored = JSON.parse(JSON.stringify(sampleResult({}, scenario))) as unknown;
      assert.equal(shapeProblem(stored, resultShape), undefined);
    });
});
