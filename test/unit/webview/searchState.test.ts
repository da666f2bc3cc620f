import assert from 'node:assert/strict';
import { toPanelResult } from '../../../src/extension/panel/panelSession';
import type { Snapshot } from '../../../src/measure/snapshot';
import { searchColumns, searchTable } from '../../../src/webview/charts/searchChart';
import { decisiveStep } from '../../../src/measure/report/reportModel';
import { progressOf } from '../../../src/webview/panelState';
import { searchOf } from '../../../src/webview/searchState';
import { sentenceOf } from '../../../src/webview/sentence';
import { tilesOf } from '../../../src/webview/tables/tiles';
import { searchSample } from '../../fakes/searchSample';
import { sampleResult, sampleScenario } from '../results/sampleResult';
import { finishedRun, hydrate, measured, shownRun } from './shownRun';

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
