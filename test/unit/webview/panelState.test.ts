import assert from 'node:assert/strict';
import { toPanelResult } from '../../../src/extension/panel/panelSession';
import { latestAgents, mostSnapshots } from '../../../src/measure/snapshot';
import type { ToPanel } from '../../../src/messages/panel';
import { panelStrings } from '../../../src/measure/show/panelStrings';
import { initialState, problemOf, reduce, type PanelState } from '../../../src/webview/panelState';
import { sampleAgents, sampleResult } from '../results/sampleResult';
import { otherReasons, reportOf } from '../../../src/webview/tables/tables';
import { hydrate, measured, shownRun } from './shownRun';

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
    assert.equal(problemOf(shownRun(snapshots)), problem);
    const endedBy = (endingMessage: string | undefined): string => {
      const result = sampleResult({
        ending: 'workerLost',
        ...(endingMessage && { endingMessage }),
      });
      return problemOf(shownRun(snapshots, { result: toPanelResult(result) }));
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
