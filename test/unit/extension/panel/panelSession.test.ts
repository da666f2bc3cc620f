import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/base/async';
import { english } from '../../../../src/base/text';
import {
  type PanelSource,
  hydrateMessage,
  startPanelSession,
  spectraOf,
  toPanelResult,
  comparedRuns,
  startComparisonSession,
  panelHtml,
  storedSource,
} from '../../../../src/extension/panel/panelSession';
import { seededRandom } from '../../../../src/base/random';
import { compareResults } from '../../../../src/results/compare/compareResults';
import { LatencyHistogram } from '../../../../src/measure/histogram';
import type { Snapshot } from '../../../../src/measure/snapshot';
import type { PanelResult, ToPanel, ToComparisonPanel } from '../../../../src/messages/panel';
import { panelStrings } from '../../../../src/measure/show/panelStrings';
import {
  sampleEstimate,
  sampleResult,
  sampleScenario,
  sampleStep,
  unusualScenario,
  sampleSnapshot,
  unusualResult,
} from '../../results/sampleResult';
import { measuredStep, wanderingSeconds } from '../../../fakes/measuredStep';
import { measured } from '../../webview/shownRun';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A page, a source and what passed between them. */
function stage() {
  const [messages, visibility] = [new Emitter<unknown>(), new Emitter<boolean>()];
  const [snapshots, finished] = [new Emitter<Snapshot>(), new Emitter<PanelResult>()];
  const posted: ToPanel[] = [];
  const orders: string[] = [];
  const logged: string[] = [];
  const port = {
    post: (message: ToPanel) => posted.push(message),
    onMessage: messages.event,
    onVisibility: visibility.event,
  };
  const source: PanelSource = {
    run: {
      id: 'run-1',
      title: 'chat-room.signalr.yaml',
      targetUrl: 'http://localhost:5050/signalrbench',
      startedAt: '2026-11-21T14:02:11.000Z',
      scenario: sampleScenario,
      estimate: sampleEstimate,
    },
    snapshots: [measured(1, 1)],
    result: undefined,
    spectra: [],
    interrupted: false,
    onSnapshot: snapshots.event,
    onFinished: finished.event,
    orders: {
      stop: () => orders.push('stop'),
      runAgain: () => orders.push('runAgain'),
      openScenario: () => orders.push('openScenario'),
      copySummary: () => orders.push('copySummary'),
    },
  };
  const session = startPanelSession(port, source, {
    t: english,
    log: (message) => logged.push(message),
    testConnection: (target) => orders.push(`test ${String(target)}`),
  });
  const show = (visible: boolean): void => {
    visibility.fire(visible);
  };
  const types = (): string[] => posted.splice(0).map(({ type }) => type);
  return { messages, snapshots, finished, posted, orders, logged, session, show, types, source };
}

/** A step of a minute, slower by a factor. */
const minute = (seed: number, factor = 1) =>
  measuredStep(
    wanderingSeconds(
      { perSecond: 200, correlation: 0.3, wandering: 0.05, factor },
      60,
      seededRandom(seed),
    ),
  );

describe('what the panel says of a baseline', () => {
  const run = (seed: number, factor = 1) => sampleResult({ steps: [minute(seed, factor)] });

  it('is the sentence of the comparison, in the language of the editor, with the earlier run', () => {
    const before = { ...run(1), id: '2026-11-20T09-00-00-chat-room' };
    const now = run(2, 1.3);
    const baseline = compareResults(before, now);
    const panel = toPanelResult({ ...now, baseline });
    assert.deepEqual(
      [panel.baseline?.id, panel.baseline?.tone, panel.baseline?.sign, panel.baseline?.lead],
      [before.id, 'bad', '✗', 'Worse.'],
    );
    assert.match(panel.baseline!.rest, /^Step 1: p99 rose from .*; tolerance 10 %\)\.$/);
    const upper = toPanelResult({ ...now, baseline }, (text, ...args) =>
      english(text.toUpperCase(), ...args),
    );
    assert.equal(upper.baseline?.lead, 'WORSE.');
    assert.equal(toPanelResult(now).baseline, undefined);
  });
});

describe('session of a panel', () => {
  it('says nothing before the page is ready, then everything, then what is new', () => {
    const { messages, snapshots, finished, types } = stage();
    snapshots.fire(measured(2, 1));
    assert.deepEqual(types(), []);
    messages.fire({ type: 'ready' });
    snapshots.fire(measured(3, 1));
    finished.fire(toPanelResult(sampleResult()));
    assert.deepEqual(types(), ['hydrate', 'snapshot', 'finished']);
  });

  it('sends nothing to a hidden page and fills it when it is back', () => {
    const { messages, snapshots, show, types } = stage();
    messages.fire({ type: 'ready' });
    show(false);
    snapshots.fire(measured(2, 1));
    show(true);
    snapshots.fire(measured(3, 1));
    assert.deepEqual(types(), ['hydrate']);
    messages.fire({ type: 'ready' });
    assert.deepEqual(types(), ['hydrate']);
  });

  it('fills a page that is ready before the editor reports that it is shown', () => {
    const { messages, snapshots, show, types } = stage();
    show(false);
    messages.fire({ type: 'ready' });
    show(true);
    snapshots.fire(measured(2, 1));
    assert.deepEqual(types(), ['hydrate', 'snapshot']);
  });

  it('carries out orders and logs what it does not understand', () => {
    const { messages, orders, logged } = stage();
    for (const type of ['stop', 'runAgain', 'openScenario', 'copySummary']) messages.fire({ type });
    assert.deepEqual(orders, ['stop', 'runAgain', 'openScenario', 'copySummary']);
    messages.fire({ type: 'testConnection' });
    assert.equal(orders.pop(), 'test http://localhost:5050/signalrbench');
    for (const odd of [{ type: 'toString' }, { type: 7 }, null, undefined, 'stop']) {
      messages.fire(odd);
    }
    assert.equal(logged.length, 5);
    assert.equal(orders.length, 4);
  });

  it('is silent once it is disposed', () => {
    const { messages, snapshots, session, types } = stage();
    messages.fire({ type: 'ready' });
    session.dispose();
    snapshots.fire(measured(2, 1));
    messages.fire({ type: 'ready' });
    assert.deepEqual(types(), ['hydrate']);
  });

  it('says beside the load how it is driven where that is unusual, in the language of the panel', () => {
    const { source } = stage();
    const run = { ...source.run, scenario: unusualScenario, dialect: 'measure' as const };
    const message = hydrateMessage({ ...source, run }, (text, ...args) =>
      english(text === panelStrings.LongPolling ? '经由 LongPolling' : text, ...args),
    );
    assert.ok(message.type === 'hydrate');
    assert.match(
      message.load,
      /, 1,900 connections in 3 steps, 经由 LongPolling, messagepack, official client, dialect measure$/,
    );
  });

  it('leaves histograms and the copy of the scenario at home', () => {
    const { source } = stage();
    const result = toPanelResult(sampleResult());
    assert.ok(!('scenario' in result) && !('schema' in result) && !('tool' in result));
    const message = hydrateMessage({ ...source, result });
    assert.ok(message.type === 'hydrate');
    assert.deepEqual(
      message.result?.steps.map(({ histogram }) => histogram),
      ['', '', ''],
    );
    assert.match(message.load, /sendToGroup, groups of 10, 2 KB each second.* in 3 steps$/);
  });
});

describe('spectra of a result', () => {
  it('rise in share and latency and end at the largest value', () => {
    const histogram = new LatencyHistogram();
    for (let us = 1; us <= 10_000; us++) histogram.record(us);
    const step = { ...sampleStep(1), histogram: histogram.encode() };
    const [spectrum] = spectraOf({ steps: [step] });
    const points = spectrum!.points;
    assert.ok(points.every((point, at) => at === 0 || point.share > points[at - 1]!.share));
    assert.ok(
      points.every((point, at) => at === 0 || point.latencyUs >= points[at - 1]!.latencyUs),
    );
    assert.ok(Math.abs(points.at(-1)!.latencyUs - 10_000) <= 10);
    const p99 = points.find(({ share }) => Math.abs(share - 0.99) < 1e-9);
    assert.ok(Math.abs(p99!.latencyUs - 9900) <= 10);
  });

  it('leave out a step whose histogram is damaged', () => {
    assert.deepEqual(spectraOf(sampleResult()), []);
  });
});

const latenciesOf = (seed: number, factor = 1): number[][] =>
  wanderingSeconds(
    { perSecond: 100, correlation: 0, wandering: 0.05, factor },
    60,
    seededRandom(seed),
  );
const result = (seed: number, factor?: number) =>
  sampleResult({ steps: [measuredStep(latenciesOf(seed, factor))] });

describe('compared runs as a page shows them', () => {
  it('have each later run beside the first, with its p99 of each second', () => {
    const shown = comparedRuns([result(1), result(2), result(3, 2)], ['a', 'b', 'c']);
    assert.deepEqual(
      shown.map(({ names, comparison }) => [...names, comparison.verdict]),
      [
        ['a', 'b', 'same'],
        ['a', 'c', 'worse'],
      ],
    );
    const [, times] = shown[1]!.curves[0]!.times;
    assert.equal(times.length, 60);
    for (const [at, latencies] of latenciesOf(3, 2).entries()) {
      const sorted = [...latencies].sort((one, other) => one - other);
      const { atS, p99Us } = times[at]!;
      assert.equal(atS, at);
      // A place of the blocks is 3 % wide.
      assert.ok(p99Us > sorted[97]! * 0.96 && p99Us < sorted[99]! * 1.04, `${p99Us}`);
    }
  });

  it('draw no curves of damaged blocks', () => {
    const bad = result(1);
    const steps = bad.steps.map((step) => ({
      ...step,
      latencyBlocks: { seconds: 1, counts: Array.from({ length: 60 }, () => '?') },
    }));
    const [shown] = comparedRuns([{ ...bad, steps }, result(2)], ['a', 'b']);
    assert.equal(shown!.comparison.verdict, 'unlike');
    assert.deepEqual(shown!.curves, []);
  });

  it('are sent whenever the page is ready, and take no order that is not one', () => {
    const emitter = new Emitter<unknown>();
    const posted: ToComparisonPanel[] = [];
    const ordered: string[] = [];
    const shown = comparedRuns([result(1), result(2)], ['a', 'b']);
    const port = {
      post: (message: ToComparisonPanel) => posted.push(message),
      onMessage: emitter.event,
    };
    const session = startComparisonSession(
      port,
      { shown, strings: { waiting: 'x' }, folders: ['/results/a', '/results/b'] },
      {
        copyComment: (at) => ordered.push(`copy ${at}`),
        makeBaseline: (at) => ordered.push(`keep ${at}`),
      },
    );
    const hostile = [null, 'ready', {}, { type: 'copyComment' }, { type: 'makeBaseline', at: 7 }];
    for (const message of [...hostile, { type: 'constructor', at: 0 }]) emitter.fire(message);
    assert.deepEqual([posted.length, ordered], [0, []]);
    emitter.fire({ type: 'ready' });
    emitter.fire({ type: 'ready' });
    emitter.fire({ type: 'copyComment', at: 0 });
    emitter.fire({ type: 'makeBaseline', at: 0 });
    assert.equal(posted.length, 2);
    assert.deepEqual(posted[0]?.folders, ['/results/a', '/results/b']);
    assert.deepEqual(ordered, ['copy 0', 'keep 0']);
    session.dispose();
    emitter.fire({ type: 'ready' });
    assert.equal(posted.length, 2);
  });
});

const page = {
  title: '"><script>alert(1)</script>',
  name: 'run' as const,
  language: 'en',
  scriptUri: 'https://file.example/dist/panel.js',
  styleUris: ['https://file.example/media/uPlot.css', 'https://file.example/media/panel.css'],
  cspSource: 'https://*.example',
  nonce: 'abc123',
};

describe('page of the panel', () => {
  const html = panelHtml(page);

  it('allows its one script by nonce, its style sheets by source, and nothing else', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1];
    assert.equal(
      policy,
      "default-src 'none'; script-src 'nonce-abc123'; style-src https://*.example; base-uri 'none'; form-action 'none'",
    );
  });

  it('has no inline script, style or handler', () => {
    assert.equal(html.match(/<script/g)?.length, 1);
    assert.match(html, /<script nonce="abc123" src="[^"]+"><\/script>/);
    assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=|javascript:/i);
  });

  it('takes the title for text', () => {
    assert.ok(!html.includes('alert(1)</script>'));
  });

  it('takes every colour from the theme', () => {
    const css = readFileSync('media/panel.css', 'utf8').replace(/\/\*[^]*?\*\//g, '');
    assert.doesNotMatch(css, /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/i);
  });
});

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
