import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { finalScreen } from '../../../src/cli/views/finalScreen';
import { summaryMarkdown } from '../../../src/run/export/summaryMarkdown';
import { stepsCsv } from '../../../src/run/export/stepsCsv';
import { parseScenario } from '../../../src/scenario/parseScenario';
import {
  mixedStep,
  sampleResult,
  sampleScenario,
  sampleSnapshot,
  sampleStep,
  sampleSummary,
  unusualResult,
} from '../results/sampleResult';
import { commandLine, type CommandLine } from './commandLine';
import { fakeRun } from './fakeDeps';

const documented = 'test/fixtures/counters/documented.txt';

describe('export, import and the old summary', () => {
  let at: CommandLine;
  let folder: string;
  beforeEach(async () => {
    at = await commandLine();
    folder = path.join(at.folder, '2026-11-21T14-02-11-a');
    await mkdir(folder);
    const steps = [sampleStep(1), sampleStep(2, { lost: 3, errors: { refused: 2 } })].map(
      (step) => ({
        ...step,
        // No samples are stored, so that latencies would come from the histogram.
        latencyUs: { ...step.latencyUs, count: 0 },
      }),
    );
    await at.file('2026-11-21T14-02-11-a/result.json', JSON.stringify(sampleResult({ steps })));
  });
  afterEach(() => at.dispose());

  it('exports the result as JSON', async () => {
    const { code, out } = await at.run(['export', folder, '--format', 'json']);
    assert.equal(code, 0);
    assert.deepEqual(
      JSON.parse(out),
      JSON.parse(await readFile(path.join(folder, 'result.json'), 'utf8')),
    );
  });

  it('exports the steps as CSV, each line with as many cells as there are names', async () => {
    const { out } = await at.run(['export', folder, '--format', 'csv']);
    const rows = out.split('\r\n').map((row) => row.split(','));
    assert.deepEqual(rows.pop(), ['']);
    const [names, ...steps] = rows;
    assert.deepEqual(
      steps.map((cells) => cells.length),
      [names!.length, names!.length],
    );
    const cell = (name: string): string => steps[1]![names!.indexOf(name)]!;
    assert.deepEqual(['index', 'senders', 'sent', 'lost', 'errors', 'verdict'].map(cell), [
      '2',
      '1300',
      '65000',
      '3',
      '2',
      'pass',
    ]);
  });

  it('exports the use cases of a mix as rows below their step', async () => {
    const { entries = [], ...mixed } = mixedStep(2);
    const steps = [
      sampleStep(1),
      { ...mixed, entries: [{ ...entries[0]!, name: '=1,"x' }, ...entries] },
    ];
    await at.file('2026-11-21T14-02-11-a/result.json', JSON.stringify(sampleResult({ steps })));
    const { out } = await at.run(['export', folder, '--format', 'csv']);
    const [names, ...rows] = out
      .trimEnd()
      .split('\r\n')
      .map((row) => row.split(','));
    assert.ok(rows.every((cells) => cells.length === names!.length));
    const cells = ['index', 'senders', 'lost', 'verdict', 'useCase'].map((name) =>
      names!.indexOf(name),
    );
    assert.deepEqual(
      rows.map((row) => cells.map((at) => row[at])),
      [
        ['1', '700', '0', 'pass', ''],
        ['2', '1300', '5', 'pass', ''],
        ['2', '975', '0', '', '1x'],
        ['2', '975', '0', '', 'sendToGroup'],
        ['2', '325', '5', '', 'echo'],
      ],
    );
  });

  it('exports Markdown and counters', async () => {
    const markdown = await at.run(['export', folder, '--format', 'md']);
    assert.match(markdown.out, /^### SignalR Benchmark: .*\n[^]*\| 2 \| 1,300 \|/);
    const counters = await at.run(['export', folder, '--format', 'counters']);
    assert.equal(counters.out.trim().split('\n').length, 5);
    assert.match(counters.out, /"epoch":2,"sendingStep":1300,.*"message:sent":65000,.*\n$/);
  });

  it('exports of an interrupted run what there is, and says so of the rest', async () => {
    const interrupted = path.join(at.folder, '2026-11-21T15-00-00-b');
    await mkdir(interrupted);
    const sample = `${JSON.stringify(sampleSnapshot(3))}\n`;
    await writeFile(path.join(interrupted, 'samples.jsonl'), sample);
    const counters = await at.run(['export', interrupted, '--format', 'counters']);
    assert.match(counters.out, /^{"Time":"2026-11-21T15:00:03Z".*\n$/);
    const markdown = await at.run(['export', interrupted, '--format', 'md']);
    assert.match(markdown.out, /interrupted/);
    for (const format of ['json', 'csv']) {
      const { code, out, err } = await at.run(['export', interrupted, '--format', format]);
      assert.deepEqual([code, out], [2, '']);
      assert.match(
        err,
        /is an interrupted run without a result: export it as md, html, junit or counters/,
      );
    }
  });

  it('has a last column in CSV for a run that was driven in an unusual way', () => {
    const lines = stepsCsv(unusualResult).trimEnd().split('\r\n');
    const how = 'over LongPolling; messagepack; official client; dialect measure';
    const last = lines.map((line) => line.split(',').at(-1));
    assert.deepEqual(last, ['how', how, how, how]);
    const [names, ...rows] = lines.map((line) => line.split(',').length);
    assert.ok(rows.every((cells) => cells === names));
    assert.ok(!stepsCsv(sampleResult()).includes('how'));
  });

  it('leave out p99.9 of too few deliveries and errors of warm-ups, and say so', () => {
    const result = sampleResult();
    const [first, ...others] = result.steps;
    const latencyUs = { ...first!.latencyUs, count: 9_999 };
    const warmupErrors = { timeout: 3 };
    const few = {
      ...{ ...result, errors: warmupErrors },
      steps: [{ ...first!, latencyUs, sendLatencyUs: latencyUs, warmupErrors }],
    };
    const [head = '', row = ''] = stepsCsv(few).split('\r\n');
    const cell = (name: string): string => row.split(',')[head.split(',').indexOf(name)]!;
    assert.deepEqual([cell('latencyUs.p999'), cell('latencyUs.p9999')], ['', '']);
    assert.deepEqual([cell('errors'), cell('warmupErrors')], ['0', '3']);
    assert.notEqual(cell('latencyUs.p99'), '');
    const markdown = summaryMarkdown(few);
    assert.match(markdown, /\| – \|/);
    assert.match(markdown, /–: p99\.9 is shown from 10,000 deliveries on/);
    assert.match(markdown, /3 of them in warm-ups/);
    const screen = finalScreen(few, 80).map(({ text }) => text);
    assert.ok(screen.some((line) => /^ –: p99\.9 is shown from 10,000/.test(line)));
    assert.ok(
      screen.some((line) => /^ +99\.9 % +– +– {2}too few deliveries$/.test(line)),
      screen.join('\n'),
    );
    assert.ok(screen.some((line) => / 3 more errors in the warm-up of step 1, /.test(line)));
    const many = summaryMarkdown({ ...result, steps: others });
    assert.doesNotMatch(many, /is shown from|warm-ups/);
  });

  it('knows no other format, and wants one', async () => {
    for (const flags of [['--format', 'xlsx'], []]) {
      const { code, out, err } = await at.run(['export', folder, ...flags]);
      assert.deepEqual([code, out], [2, '']);
      assert.match(err, /--format/);
    }
  });

  it('shows a stored run in the old order', async () => {
    const { code, out } = await at.run(['show', folder, '--summary']);
    assert.equal(code, 0);
    assert.match(out, /^-----------\n {2}1900 connections established in 0s\n/);
    assert.match(out, / Connections\/sendingStep: 1900\/700 in 50s\n/);
    assert.match(out, / {3}Requests\/sec: 700\.00\n/);
  });

  it('imports a counter file, as text and as data', async () => {
    const expected = await readFile(documented.replace('.txt', '.summary.txt'), 'utf8');
    const text = await at.run(['import', documented]);
    assert.deepEqual([text.code, text.out, text.err], [0, expected, '']);
    const data = await at.run(['import', documented, '--json']);
    const { lines, established, epochs } = JSON.parse(data.out) as {
      lines: number;
      established: object;
      epochs: { sent: number }[];
    };
    assert.deepEqual([lines, established], [10, { connections: 1000, seconds: 9 }]);
    assert.deepEqual(
      epochs.map(({ sent }) => sent),
      [879, 1784],
    );
  });

  it('says what is wrong with a counter file', async () => {
    const file = await at.file('broken.txt', 'hello\n');
    const { code, out, err } = await at.run(['import', file]);
    assert.deepEqual([code, out], [2, '']);
    assert.match(err, /broken\.txt is no recording, no HAR file, .* and no file of counters/);
    const good = (await readFile(documented, 'utf8')).split('\n')[0]!;
    const cut = await at.run(['import', await at.file('cut.txt', `${good}\n${good.slice(0, 50)}`)]);
    assert.equal(cut.code, 0);
    assert.match(cut.err, /the last line of .*cut\.txt is cut.*\n.*ends before the first step/);
  });

  it('reads the counter file of kind: resultparser, beside the scenario, without a target', async () => {
    await at.file('old.txt', await readFile(documented));
    const file = await at.file(
      'read.yaml',
      'mode: simple\nkind: resultparser\nconfig:\n  resultFilePath: old.txt\n',
    );
    const { code, out, calls } = await at.run(['run', file], { deps: { parseScenario } });
    assert.equal(code, 0);
    assert.match(out, /Connections\/sendingStep: 1000\/500 in 5s/);
    assert.deepEqual(calls.runs, []);
    const none = await at.file('none.yaml', 'kind: resultparser\n');
    const missing = await at.run(['run', none], { deps: { parseScenario } });
    assert.equal(missing.code, 2);
    assert.match(missing.err, /There is no file .*counters\.txt/);
  });

  it('writes the counter file a scenario asks for beside the result of a run', async () => {
    const scenario = { ...sampleScenario, resultFilePath: 'sub/mine.txt' };
    const file = await at.file('a.yaml', '');
    const { code } = await at.run(['run', file, '--out', at.folder], {
      deps: {
        parseScenario: () => ({ scenario, problems: [] }),
        startRun: () => fakeRun({ summary: sampleSummary({ steps: [] }) }),
      },
    });
    assert.equal(code, 1);
    const written = path.join(at.folder, '2026-11-21T14-02-11-a-2', 'mine.txt');
    assert.match(await readFile(written, 'utf8'), /^{"Time":"2026-11-21T14:02:1/);
  });
});
