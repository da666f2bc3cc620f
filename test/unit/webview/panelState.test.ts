import assert from 'node:assert/strict';
import { toPanelResult } from '../../../src/extension/panel/panelSession';
import type { Snapshot } from '../../../src/measure/snapshot';
import { latestAgents, mostSnapshots } from '../../../src/measure/snapshotHistory';
import type { ToPanel } from '../../../src/messages/panel';
import { panelStrings } from '../../../src/measure/show/panelStrings';
import {
  initialState,
  latestProblem,
  reduce,
  type PanelState,
  progressOf,
  searchOf,
} from '../../../src/webview/panelState';
import { sampleAgents, sampleResult, sampleScenario } from '../results/sampleResult';
import { otherReasons, reportOf } from '../../../src/webview/tables/tables';
import { hydrate, measured, shownRun, finishedRun } from './shownRun';
import { searchColumns, searchTable } from '../../../src/webview/charts/searchChart';
import { decisiveStep } from '../../../src/measure/report/reportModel';
import { sentenceOf } from '../../../src/webview/sentence';
import { tilesOf } from '../../../src/webview/tables/tiles';
import { searchSample } from '../../fakes/searchSample';

const shown = (state: PanelState) => (state.kind === 'run' ? state : undefined);

describe('state of the panel', () => {
  it('waits, is filled, grows by snapshots and ends with the result', () => {
    assert.equal(initialState.kind, 'waiting');
    let state = reduce(initialState, hydrate({ snapshots: [measured(1, 1)] }));
    state = reduce(state, { type: 'snapshot', snapshot: measured(2, 1) });
    assert.deepEqual(
      shown(state)?.snapshots.map(({ tick }) => tick),
      [1, 2],
    );
    const result = toPanelResult(sampleResult());
    state = reduce(state, { type: 'finished', result, spectra: [] });
    assert.equal(shown(state)?.result?.verdict.status, 'pass');
  });

  it('has the minutes of a service in its samples when the run is over, also of a stored one', () => {
    const snapshots = [measured(1, 1), measured(2, 1)];
    const load = {
      ...{ name: 'serverLoad @ chat', unit: 'share' as const, steps: [], everyS: 60 },
      points: [[0, 0.4] as const],
    };
    const observed = { series: [load], findings: [], problems: [] };
    const result = toPanelResult({ ...sampleResult(), observed });
    const going = reduce(initialState, hydrate({ snapshots }));
    for (const state of [
      reduce(going, { type: 'finished', result, spectra: [] }),
      reduce(initialState, hydrate({ snapshots, result })),
    ])
      assert.deepEqual(
        shown(state)?.snapshots.map((snapshot) => snapshot.observed),
        [{ 'serverLoad @ chat': 0.4 }, { 'serverLoad @ chat': 0.4 }],
      );
    assert.equal(shown(going)?.snapshots[0]?.observed, undefined);
  });

  it('shows agents as they stood when it was last said, and then those of the result', () => {
    const agents = sampleAgents.map((agent) => ({ ...agent, status: 'running' as const }));
    let state = reduce(initialState, hydrate({ snapshots: [{ ...measured(1, 1), agents }] }));
    const states = (): unknown[] => reportOf('agents', shown(state)!).rows.map((row) => row.at(-1));
    assert.deepEqual(states(), ['running', 'running', 'running']);
    state = reduce(state, { type: 'snapshot', snapshot: measured(2, 1) });
    assert.deepEqual(states(), ['running', 'running', 'running']);
    const later = [agents[0]!, { ...agents[1]!, status: 'silent' as const }];
    state = reduce(state, { type: 'snapshot', snapshot: { ...measured(3, 1), agents: later } });
    assert.deepEqual(states(), ['running', 'silent after 200 s']);
    assert.equal(latestAgents(shown(state)!.snapshots.slice(1)).length, 0, 'kept once');
    const result = toPanelResult({ ...sampleResult(), agents: sampleAgents });
    state = reduce(state, { type: 'finished', result, spectra: [] });
    assert.deepEqual(states(), ['done', 'done', 'lost after 96 s']);
    const alone = toPanelResult(sampleResult());
    state = reduce(state, { type: 'finished', result: alone, spectra: [] });
    assert.deepEqual(states(), []);
  });

  it('says what went wrong while the run goes on, and once where it has ended for it', () => {
    const problem = 'agent 3 of 3 (vm) was lost: it was silent for 30 s';
    const snapshots = [{ ...measured(3, 1), problem }];
    assert.equal(latestProblem(shownRun(snapshots)), problem);
    const endedBy = (endingMessage: string | undefined): string => {
      const result = sampleResult({
        ending: 'workerLost',
        ...(endingMessage && { endingMessage }),
      });
      return latestProblem(shownRun(snapshots, { result: toPanelResult(result) }));
    };
    assert.equal(endedBy(`A part of the load was missing: ${problem}`), '');
    assert.equal(endedBy('agent 2 of 3 (vm) left: it got SIGTERM'), problem);
    assert.equal(endedBy(undefined), problem);
  });

  it('lists the reasons of a verdict that its first sentence leaves out', () => {
    const reasons = ['a part was missing', 'step 2: the step was cut short'].map((message) => ({
      ...{ code: 'x', message },
    }));
    const verdict = { status: 'incomplete' as const, reasons };
    const result = toPanelResult({ ...sampleResult(), verdict });
    assert.match(result.sentences.rest, /part was missing/);
    assert.deepEqual(otherReasons({ result }), ['step 2: the step was cut short']);
    assert.deepEqual(otherReasons({ result: undefined }), []);
  });

  it('leaves out a snapshot that is older than what it was filled with', () => {
    const state = shownRun([measured(5, 1)]);
    assert.equal(reduce(state, { type: 'snapshot', snapshot: measured(4, 1) }), state);
  });

  it('changes nothing on increments before it is filled, nor on messages it does not know', () => {
    const snapshot: ToPanel = { type: 'snapshot', snapshot: measured(1, 1) };
    assert.equal(reduce(initialState, snapshot), initialState);
    const unknown = { type: 'somethingNew' } as unknown as ToPanel;
    assert.equal(reduce(initialState, unknown), initialState);
  });

  it('takes its words from the editor', () => {
    const words = { ...panelStrings, stop: 'Anhalten' };
    assert.deepEqual(shown(reduce(initialState, hydrate({ strings: words })))?.strings, words);
    const message = 'It is gone.';
    const gone = reduce(initialState, { type: 'unreadable', message, strings: words });
    assert.deepEqual(gone, { kind: 'unreadable', message, strings: words });
  });

  it('stays bounded over days', () => {
    const snapshots = Array.from({ length: 2 * mostSnapshots }, (_, at) => measured(at, 1));
    const next = reduce(shownRun(snapshots), { type: 'snapshot', snapshot: measured(1e6, 1) });
    assert.ok((shown(next)?.snapshots.length ?? 0) <= mostSnapshots + 2);
    assert.equal(shown(next)?.snapshots.at(-1)?.tick, 1e6);
  });
});

const { of, from, to, precision, budgetMs } = searchSample;
const filled = hydrate() as Extract<ReturnType<typeof hydrate>, { type: 'hydrate' }>;
const scenario = { ...sampleScenario, search: { of, from, to, precision, budgetMs } };
const run = { ...filled.run, scenario };

const trying = (
  tick: number,
  step: number,
  value: number,
  interval: { readonly low: number | null; readonly high: number | null },
): Snapshot => ({ ...measured(tick, step), search: { of, value, ...interval } });

describe('a search in the panel', () => {
  const done = shownRun([measured(30, 1)], {
    run,
    result: {
      ...toPanelResult({ ...sampleResult(), search: searchSample }),
    },
  });

  it('is none where steps are fixed', () => {
    assert.equal(searchOf(finishedRun()), undefined);
    assert.deepEqual(
      tilesOf(finishedRun()).map(({ id }) => id),
      ['p99', 'sent', 'connections', 'lost', 'generator'],
    );
  });

  it('has its own tiles', () => {
    const tiles = tilesOf(done).map(({ label, value, of: unit, details }) =>
      [label, value, unit, details].filter((text) => text !== ''),
    );
    assert.deepEqual(
      tiles.map(([label, value]) => [label, value]),
      [
        ['Holds up to', '681'],
        ['Breaks at', '687'],
        ['Interval', '0.9 %'],
        ['Time', '6:40'],
        ['Units at 681', '10'],
      ],
    );
    assert.equal(tiles[1]![2], 'p99 1.1 s, limit 1 s');
    assert.equal(tiles[2]![2], 'asked for 5 %');
    assert.equal(tiles[3]![2], '12 steps, 2 repeated');
  });

  it('says first what held and what did not', () => {
    const { lead, rest, tone } = sentenceOf(done);
    assert.deepEqual([lead, tone], ['Passed at 681 senders, failed at 687.', 'good']);
    assert.match(rest, /^p99 1\.1 s, limit 1 s \(12 steps, 6:40, generator healthy\)\.$/);
  });

  it('draws the newest judged step of each value, rising, and lists all in their order', () => {
    const [values, p50s] = searchColumns(searchSample) as unknown as [number[], number[]];
    assert.deepEqual(values, [100, 200, 400, 600, 650, 675, 681, 687, 700, 800]);
    assert.equal(p50s[values.indexOf(681)], 11_200);
    const { rows } = searchTable(searchSample, done);
    assert.equal(rows.length, 12);
    assert.deepEqual(rows[3], ['4', '800', '620 ms', '1.9 s', '0', 'p99 1.9 s, limit 1 s']);
    assert.deepEqual(rows[4], ['5', '600', '3.1 ms', '38 ms', '0', 'passed']);
  });

  it('takes the spectrum and the rates from the highest value that held', () => {
    const { steps } = sampleResult();
    const low = { ...searchSample, low: 200, steps: searchSample.steps.slice(0, 3) };
    const result = { ...toPanelResult(sampleResult()), search: low };
    assert.equal(decisiveStep(result)?.index, steps[1]?.index);
  });

  it('is followed while it goes on', () => {
    const snapshots = [
      trying(10, 1, 100, { low: null, high: null }),
      trying(20, 1, 100, { low: 100, high: null }),
      // The next value is named before its step has begun.
      trying(21, 1, 200, { low: 100, high: null }),
      trying(30, 2, 200, { low: 100, high: null }),
    ];
    const state = shownRun(snapshots, { run });
    const search = searchOf(state)!;
    assert.deepEqual([search.low, search.high], [100, null]);
    assert.deepEqual(
      search.steps.map(({ index, value, status }) => [index, value, status]),
      [
        [1, 100, 'incomplete'],
        [2, 200, 'incomplete'],
      ],
    );
    assert.match(sentenceOf(state).lead, /^Step 2, 200 senders,$/);
    assert.equal(tilesOf(state)[0]!.value, '100');
    assert.equal(progressOf(snapshots, 60_000), snapshots.at(-1)!.atMs / 60_000);
  });

  it('has its tiles before anything is known', () => {
    const tiles = tilesOf(shownRun([], { run }));
    assert.deepEqual(tiles.map(({ value }) => value).slice(0, 3), ['–', '–', '–']);
    assert.doesNotMatch(JSON.stringify(tiles), /NaN|Infinity|undefined/);
  });
});
