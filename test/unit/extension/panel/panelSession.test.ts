import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/base/async';
import { english } from '../../../../src/base/text';
import type { PanelSource } from '../../../../src/extension/panel/panelSession';
import { hydrateMessage, startPanelSession } from '../../../../src/extension/panel/panelSession';
import { spectraOf, toPanelResult } from '../../../../src/extension/panel/panelSession';
import { seededRandom } from '../../../../src/base/random';
import { compareResults } from '../../../../src/results/compare/compareResults';
import { LatencyHistogram } from '../../../../src/measure/histogram';
import type { Snapshot } from '../../../../src/measure/snapshot';
import type { PanelResult, ToPanel } from '../../../../src/messages/panel';
import { panelStrings } from '../../../../src/measure/show/panelStrings';
import {
  sampleEstimate,
  sampleResult,
  sampleScenario,
  sampleStep,
  unusualScenario,
} from '../../results/sampleResult';
import { measuredStep, wanderingSeconds } from '../../../fakes/measuredStep';
import { measured } from '../../webview/shownRun';

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
