import assert from 'node:assert/strict';
import path from 'node:path';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Objective } from '../../../src/base/objectives/objective';
import { otherObjectives, type Slo } from '../../../src/base/slo';
import { finalScreen } from '../../../src/cli/views/finalScreen';
import { textWidth } from '../../../src/cli/views/line';
import {
  createPlainView,
  liveLines,
  noProgress,
  withSnapshot,
} from '../../../src/cli/views/runView';
import { completionsAt } from '../../../src/extension/language/completionsAt';
import { hoverAt } from '../../../src/extension/language/hoverAt';
import { say, sentence } from '../../../src/base/sentence';
import { wordsWithStep } from '../../../src/measure/judge/reason';
import { AbortWatch } from '../../../src/measure/judge/abortWatch';
import { judgeRun, judgeStep } from '../../../src/measure/judge/verdict';
import { scenarioSchema } from '../../../src/scenario/keys/schema';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { readResult } from '../../../src/results/readResult';
import {
  exportRun,
  exporters,
  exportersFor,
  type Exporter,
} from '../../../src/run/export/exporters';
import { stepsCsv } from '../../../src/run/export/stepsCsv';
import { summaryMarkdown } from '../../../src/run/export/summaryMarkdown';
import { columnTexts, stepColumns, type StepColumn } from '../../../src/measure/show/stepColumns';
import { reportOf } from '../../../src/webview/tables/tables';
import { commandLine, type CommandLine } from '../cli/commandLine';
import { english } from '../../../src/base/text';
import { atCursor } from '../extension/language/atCursor';
import {
  mixedStep,
  sampleResult,
  sampleScenario,
  sampleSnapshot,
  sampleSummary,
} from '../results/sampleResult';
import { finishedRun, shownRun } from '../webview/shownRun';
import type * as estimateModule from '../../../src/capacity/estimate';
import type * as loadOfModule from '../../../src/capacity/load/loadOf';
import type * as presetModule from '../../../src/capacity/start/preset';
import type * as keysCommandModule from '../../../src/cli/commands/keysCommand';
import type * as analyseScenarioModule from '../../../src/extension/language/analyseScenario';
import type * as completionsAtModule from '../../../src/extension/language/completionsAt';
import type * as hoverAtModule from '../../../src/extension/language/hoverAt';
import type * as hubComplaintModule from '../../../src/measure/judge/hubComplaint';
import type * as buildPlanModule from '../../../src/plan/buildPlan';
import type * as startRunModule from '../../../src/engine/lead/startRun';
import type * as schemaModule from '../../../src/scenario/keys/schema';
import type * as parseScenarioModule from '../../../src/scenario/parseScenario';
import type * as benchHubModule from '../../../src/servers/hub/benchHub';
import type * as hubContractModule from '../../../src/usecases/registry';
import type { Scenario } from '../../../src/scenario/scenario';
import { endpointOf } from '../../fakes/endpoint';
import { fakeIo } from '../cli/fakeIo';
import { madeUpUseCase } from '../../fakes/madeUpUseCase';
import { withLines } from '../../fakes/withLines';

/*
 * Each contract is one file and one line in a registry. What is made up here stands in its registry while a test
 * runs, and nothing else is changed: it must be found wherever the registered ones are.
 */

/** With `entry` in the registry while `test` runs. */
async function registered<T>(
  registry: readonly T[],
  entry: T,
  test: () => void | Promise<void>,
): Promise<void> {
  const entries = registry as T[];
  entries.push(entry);
  try {
    await test();
  } finally {
    entries.splice(entries.indexOf(entry), 1);
  }
}

describe('a step column', () => {
  const column: StepColumn = {
    id: 'madeUp',
    head: 'Made up',
    unit: 'count',
    views: ['terminal', 'log', 'csv', 'panel'],
    value: ({ index, senders = 0 }) => index * 1_000_000 + senders,
    terminal: { width: 11 },
  };
  const result = sampleResult();
  const title = { file: 'a.yaml', url: 'http://localhost/hub', scenario: sampleScenario };
  const live = [sampleSnapshot(80, 1), sampleSnapshot(150, 2)];

  /** More than all columns need. */
  const wide = 200;
  const headsAt = (width: number): string =>
    finalScreen(result, width).find(({ text }) => text.startsWith(' step'))!.text;

  it('is in the tables of the terminal, in those of mixes too', async () => {
    await registered(stepColumns, column, () => {
      assert.match(headsAt(wide), / made up$/);
      const screen = finalScreen(result, wide).map(({ text }) => text);
      assert.ok(screen.some((line) => / 1,000,700$/.test(line)));
      const mix = finalScreen(sampleResult({ steps: [mixedStep(2)] }), wide);
      assert.ok(mix.some(({ text }) => / made up use case$/.test(text)));
      const lines = liveLines(title, live.reduce(withSnapshot, noProgress), 24, wide);
      assert.ok(lines.some(({ text }) => text.endsWith(' 2,001,300')));
    });
  });

  it('leaves the last columns no room where it stands before them', async () => {
    const [all, before] = [headsAt(wide), headsAt(80)];
    assert.ok(all.startsWith(before));
    const place = stepColumns.find(({ id }) => id === 'lost')!.place! - 0.5;
    await registered(stepColumns, { ...column, place }, () => {
      assert.match(headsAt(wide), / made up +lost /);
      const [room, without] = headsAt(80).split(/ +made up/);
      assert.ok(before.startsWith(room!) && textWidth(headsAt(80)) < 80);
      assert.ok(textWidth(room! + without!) < textWidth(before));
    });
    await registered(stepColumns, column, () => assert.equal(headsAt(80), before));
    assert.equal(headsAt(wide), all);
  });

  it('is in the log of a run', async () => {
    const log: string[] = [];
    const output = {
      isTerminal: false,
      columns: 80,
      rows: 24,
      write: (text: string) => void log.push(text),
    };
    await registered(stepColumns, column, () => {
      const view = createPlainView(output, title);
      for (const snapshot of live) view.update(snapshot);
    });
    assert.match(log.join(''), /step 1 done: 700 senders, .*, 1,000,700 made up$/m);
  });

  it('is in Markdown and CSV', async () => {
    await registered(stepColumns, column, () => {
      assert.match(summaryMarkdown(result), /\| Step \|.*\| Lost \|.* Made up \|/);
      assert.match(summaryMarkdown(result), /\| 2 \| 1,300 \|.*\| 2,001,300 \|/);
      const [head, first] = stepsCsv(result).split('\r\n');
      assert.match(head!, /,madeUp$/);
      assert.match(first!, /,1000700$/);
    });
  });

  it('is in the tables of the panel, and its head among the texts that are translated', async () => {
    await registered(stepColumns, column, () => {
      assert.equal(columnTexts()['column.madeUp'], 'Made up');
      const strings = { 'column.madeUp': 'Erfunden' };
      for (const [state, head] of [
        [finishedRun(), 'Made up'],
        [shownRun(live, { strings }), 'Erfunden'],
      ] as const) {
        const { heads, rows } = reportOf('steps', state);
        assert.equal(rows[1]![heads.indexOf(head)], '2,001,300');
      }
      const mix = reportOf('entries', finishedRun({ steps: [mixedStep(2)] }));
      assert.equal(mix.rows[0]![mix.heads.indexOf('Made up')], '2,000,975');
    });
  });
});

describe('an exporter', () => {
  const exporter: Exporter = {
    name: 'madeUp',
    extension: 'made',
    words: 'something made up',
    write: ({ result }) => Promise.resolve(`${result.steps.length} steps\n`),
  };
  let at: CommandLine;
  before(async () => {
    at = await commandLine();
    await at.file('result.json', JSON.stringify(sampleResult()));
    await at.file('samples.jsonl', `${JSON.stringify(sampleSnapshot(3))}\n`);
  });
  after(() => at.dispose());

  it('is a format of the command line, in its help and completion too', async () => {
    await registered(exporters, exporter, async () => {
      const file = path.join(at.folder, 'result.json');
      const { code, out } = await at.run(['export', file, '--format', 'madeUp']);
      assert.deepEqual([code, out], [0, '3 steps\n']);
      const help = (await at.run(['export', '--help'])).out.replace(/\s+/g, ' ');
      assert.match(help, /madeUp: something made up.* \(choices: .*"json", .*"madeUp".*\)/);
      const words = await at.run(['__complete', '--', 'export', file, '--format', '']);
      assert.ok(words.out.split('\n').some((line) => line.startsWith('madeUp')));
    });
    const gone = await at.run(['export', at.folder, '--format', 'madeUp']);
    assert.equal(gone.code, 2);
  });

  it('is a choice in the editor, of an interrupted run where it can hold one', async () => {
    const finished = await readResult(at.folder);
    const left = { kind: 'interrupted', path: at.folder, steps: [] } as const;
    const before = exportersFor(left).map(({ name }) => name);
    assert.ok(before.includes('md') && !before.includes('csv'));
    await registered(exporters, exporter, () => {
      assert.equal(exportersFor(finished).at(-1), exporter);
      assert.deepEqual(
        exportersFor(left).map(({ name }) => name),
        before,
      );
    });
    const holding = { ...exporter, writeInterrupted: () => 'left' };
    await registered(exporters, holding, async () => {
      assert.equal(exportersFor(left).at(-1)?.name, 'madeUp');
      assert.equal(await exportRun(left, 'madeUp'), 'left');
    });
    await assert.rejects(exportRun(left, 'csv'), /export it as md, .+ or \w+\.$/);
  });
});

describe('an objective', () => {
  const limit = 0.25;
  /** Of a registry by name. */
  async function objective(test: () => void | Promise<void>): Promise<void> {
    const registry = otherObjectives as Record<string, Objective>;
    registry['madeUp'] = {
      of: 'step',
      unit: 'share',
      summary: 'Made up: the share of duplicates among what was received.',
      unitMistake: { from: 1, below: 100, unit: '%' },
      limit: 'most',
      value: ({ duplicated, received }) => duplicated / received,
      missed: (_step, value) => sentence('made up {0}', String(value)),
    };
    try {
      await test();
    } finally {
      delete registry['madeUp'];
    }
  }
  const slo = { latencyUs: {}, madeUp: limit } as Slo;

  it('is a key of scenario files: schema, parser, completion, hover and help', async () => {
    await objective(async () => {
      assert.match(
        JSON.stringify(scenarioSchema()),
        /"madeUp":\{"description":"Made up: the share/,
      );
      const { scenario, problems } = parseScenario(
        'scenario:\n  name: echo\nslo:\n  madeUp: 25%\n',
      );
      assert.deepEqual(
        problems.filter(({ severity }) => severity !== 'info'),
        [],
      );
      const slo: object = scenario!.slo;
      assert.equal(Object.entries(slo).find(([name]) => name === 'madeUp')?.[1], limit);
      const wrong = parseScenario('slo:\n  madeUpp: 25%\n').problems.map(({ message }) => message);
      assert.ok(wrong.some((message) => message.includes('madeUp')));
      const completing = atCursor('slo:\n  made|');
      const found = completionsAt(completing.analysis, completing.offset, {
        environment: [],
        secrets: [],
        hubs: [],
      });
      assert.ok(found.some(({ label }) => label === 'madeUp'));
      const hovering = atCursor('slo:\n  made|Up: 25%');
      const hover = hoverAt(hovering.analysis, hovering.offset, { estimate: true });
      assert.match(hover!.markdown, /\*\*madeUp\*\*[^]*Made up: the share of duplicates/);
      const line = await commandLine();
      const { out } = await line.run(['keys', 'slo.madeUp']);
      await line.dispose();
      assert.match(out, /slo\.madeUp[^]*Made up: the share/);
    });
    assert.doesNotMatch(JSON.stringify(scenarioSchema()), /madeUp/);
  });

  it('is judged at the end of a step and of the run, and its words are translated', async () => {
    const step = mixedStep(1);
    const measures = {
      ...step,
      duplicated: step.received,
      latencyAtShareUs: () => 1000,
    };
    await objective(() => {
      const verdict = judgeStep(measures, slo);
      assert.equal(verdict.status, 'fail');
      assert.deepEqual(verdict.checks, [{ metric: 'madeUp', limit, value: 1, met: false }]);
      assert.equal(judgeStep({ ...measures, duplicated: 0 }, slo).status, 'pass');
      const run = judgeRun(sampleSummary({ steps: [{ ...step, verdict }] }), slo);
      const { code, message } = run.reasons[0]!;
      assert.deepEqual([code, message], ['slo-madeUp', 'step 1: made up 1']);
      const german = (text: string, ...args: Parameters<typeof english>[1][]): string =>
        english(text.replace('made up', 'erfunden').replace('step', 'Schritt'), ...args);
      assert.equal(say(wordsWithStep(run.reasons[0]!), german), 'Schritt 1: erfunden 1');
    });
    assert.equal(judgeStep(measures, slo).status, 'pass');
  });

  it('is missed while a step goes on', async () => {
    const deliveries = { expected: 4, received: 4, duplicated: 4, latencyAtShareUs: () => 1000 };
    const connections = { requested: 1, failed: 0, dropped: 0 };
    const soFar = { deliveries, connections, knownUs: 3e6, measuredMs: 3000 };
    const now = () => new AbortWatch(slo, 1000).unmet(soFar, undefined);
    await objective(() => assert.equal(now()?.message, 'made up 1'));
    assert.equal(now(), undefined);
  });

  it('is read from a stored result', async () => {
    const line = await commandLine();
    const stored = (madeUp: unknown): string =>
      JSON.stringify(sampleResult({}, { ...sampleScenario, slo: { ...slo, madeUp } as Slo }));
    await objective(async () => {
      const run = await readResult(await line.file('result.json', stored(limit)));
      assert.equal(run.kind, 'result');
      await line.file('result.json', stored('much'));
      await assert.rejects(readResult(path.join(line.folder, 'result.json')), /slo\.madeUp: must/);
    });
    await line.dispose();
  });
});

describe('a use case', () => {
  const load = withLines(['src/usecases/registry', 'useCases', madeUpUseCase]);
  const { parseScenario } = load('src/scenario/parseScenario') as typeof parseScenarioModule;
  const config = 'config:\n  target: local\n  connections: 6\n  arrivingRate: 100\n';
  const sent =
    '  baseSending: 2\n  step: 0\n  sendingSteps: 1\n  singleStepDuration: 1s\n  warmup: 0\n';
  const text = (more = '', parameters = ''): string =>
    `${config}${sent}${more}scenario:\n  name: callEveryone\n${parameters}`;
  const codesOf = (file: string): string[] =>
    parseScenario(file).problems.map(({ severity, code }) => `${severity} ${code}`);
  const scenarioOf = (file: string): Scenario => {
    const { scenario } = parseScenario(file);
    assert.ok(scenario);
    return scenario;
  };

  it('is in the schema with its parameters', () => {
    const { scenarioSchema } = load('src/scenario/keys/schema') as typeof schemaModule;
    const schema = JSON.stringify(scenarioSchema());
    assert.match(schema, /"callEveryone"/);
    assert.match(schema, /"everyoneCalled"/);
    assert.match(
      schema,
      /"parameter-loudness":\{"description":"How loud it is called out\. Default: 3\."/,
    );
  });

  it('is completed and explained in the editor', () => {
    const { analyseScenario } = load(
      'src/extension/language/analyseScenario',
    ) as typeof analyseScenarioModule;
    const { completionsAt } = load(
      'src/extension/language/completionsAt',
    ) as typeof completionsAtModule;
    const { hoverAt } = load('src/extension/language/hoverAt') as typeof hoverAtModule;
    const labels = (file: string, offset: number): string[] =>
      completionsAt(analyseScenario(file), offset, { environment: [], secrets: [], hubs: [] }).map(
        ({ label }) => label,
      );
    const named = 'scenario:\n  name: call';
    assert.ok(labels(named, named.length).includes('callEveryone'));
    const keyed = text('', '  parameters:\n    lou');
    assert.ok(labels(keyed, keyed.length).includes('loudness'));
    assert.ok(labels('', 0).some((label) => label.startsWith('callEveryone, Unit ')));
    const file = text('', '  parameters:\n    loudness: 4\n');
    const hover = hoverAt(analyseScenario(file), file.indexOf('loudness') + 1, { estimate: false });
    assert.match(hover!.markdown, /How loud it is called out/);
  });

  it('is in the list of keys', () => {
    const { keysCommand } = load('src/cli/commands/keysCommand') as typeof keysCommandModule;
    const io = fakeIo();
    keysCommand('scenario.parameters.loudness', {}, io);
    assert.match(io.out(), /How loud it is called out\.[^]*Use cases: callEveryone\./);
  });

  it('has its method among those that hubs are asked for', () => {
    const { contractMethods } = load('src/usecases/registry') as typeof hubContractModule;
    assert.ok(contractMethods().recordLatency.includes('CallEveryone'));
    assert.ok(contractMethods().measure.includes('CallAll'));
    const { adviceForError: adviceOn } = load(
      'src/measure/judge/hubComplaint',
    ) as typeof hubComplaintModule;
    assert.match(adviceOn('invocation', ["Unknown hub method 'CallEveryone'"]), /doctor/);
  });

  it('has an estimate, a set-up of the guides, and its assumption in words', () => {
    const { loadOf } = load('src/capacity/load/loadOf') as typeof loadOfModule;
    const { estimate } = load('src/capacity/estimate') as typeof estimateModule;
    const { presetOf } = load('src/capacity/start/preset') as typeof presetModule;
    const found = loadOf(scenarioOf(text()));
    assert.ok('input' in found);
    assert.ok(found.input.assumptions?.includes('Calling out is in no table.'));
    assert.match(estimate(found.input).formula.join('\n'), /12/);
    const { text: file } = presetOf(madeUpUseCase, { service: 'signalr', unit: 1 });
    assert.match(file, /name: callEveryone\n[^]* {4}loudness: 3\n/);
    assert.deepEqual(
      codesOf(file).filter((code) => code.startsWith('error')),
      [],
    );
  });

  it('is checked like the others', () => {
    assert.deepEqual(codesOf(text()), []);
    assert.deepEqual(codesOf(text('', '  parameters:\n    loudness: 12\n')), [
      'error above-bounds',
    ]);
    assert.match(
      parseScenario('scenario:\n  name: calEveryone\n')
        .problems.map(({ message }) => message)
        .join('\n'),
      /callEveryone/,
    );
    const service = 'connectionString: Endpoint=http://127.0.0.1;AccessKey=AAAA;Version=1.0;\n';
    const wrong = `config:\n  ${service}  service: signalr\n  upstream: { port: 7071 }\nscenario:\n  name: streamingEcho\n`;
    assert.match(
      parseScenario(wrong)
        .problems.map(({ message }) => message)
        .join('\n'),
      /the methods of .* and callEveryone only/,
    );
  });

  for (const dialect of ['recordLatency', 'measure'])
    it(`runs against the embedded hub in the dialect ${dialect}, every delivery counted`, async () => {
      const { startBenchHub } = load('src/servers/hub/benchHub') as typeof benchHubModule;
      const { buildPlan } = load('src/plan/buildPlan') as typeof buildPlanModule;
      const { startRun } = load('src/engine/lead/startRun') as typeof startRunModule;
      const folder = await mkdtemp(path.join(tmpdir(), 'signalr-bench-'));
      const hub = await startBenchHub();
      try {
        const compiled = path.resolve(__dirname, '..', '..', '..');
        const workerScript = path.join(folder, 'worker.cjs');
        const requires = [
          `require(${JSON.stringify(path.join(compiled, 'src/usecases/registry.js'))}).useCases`,
          `require(${JSON.stringify(path.join(compiled, 'test/fakes/madeUpUseCase.js'))}).madeUpUseCase`,
          `require(${JSON.stringify(path.join(compiled, 'src/engine/workerMain.js'))})`,
        ] as const;
        await writeFile(workerScript, `${requires[0]}.push(${requires[1]});\n${requires[2]};\n`);
        const scenario = scenarioOf(text(`  dialect: ${dialect}\n`));
        const plan = buildPlan(scenario, { workers: 1, seed: 1, runId: 7 });
        const run = startRun(
          plan,
          {
            kind: 'hubUrl',
            url: hub.url,
            endpoint: endpointOf(hub.url),
            secrets: [],
            hostsBeyond: [],
            dispose: () => Promise.resolve(),
          },
          { workerScript },
        );
        const { ending, steps } = await run.finished;
        assert.equal(ending, 'completed');
        const [step] = steps;
        assert.ok(step !== undefined && step.sent > 0);
        assert.equal(step.expected, step.sent * 6);
        assert.equal(step.received, step.expected);
        assert.equal(step.lost, 0);
      } finally {
        await hub.dispose();
        await rm(folder, { recursive: true });
      }
    });
});
