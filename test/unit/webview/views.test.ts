import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Snapshot } from '../../../src/measure/snapshot';
import { thinSnapshots } from '../../../src/measure/snapshotHistory';
import { heat, heatMapOf, shareBelow } from '../../../src/webview/charts/heatMap';
import { rateWords, timeLabel, timeLeftWords } from '../../../src/measure/show/chartWords';
import { percentileAxisPosition, spectrumPoints } from '../../../src/measure/latencySummary';
import { stepBands, timeCharts } from '../../../src/measure/show/timeSeries';
import { spectrumViewOf } from '../../../src/webview/charts/spectrum';
import {
  axisEndS,
  isUnreachable,
  plannedEndS,
  latestProblem,
  progressOf,
  type ShownRun,
} from '../../../src/webview/panelState';
import { generatorView, reportOf } from '../../../src/webview/tables/tables';
import { tilesOf } from '../../../src/webview/tables/tiles';
import { fill } from '../../../src/base/text';
import {
  latency,
  mixedProgress,
  mixedStep,
  sampleSnapshot,
  sampleStep,
  sampleSummary,
} from '../results/sampleResult';
import { finishedRun, measured, shownRun } from './shownRun';
import { chartTableOf } from '../../../src/webview/charts/timeChart';

describe('words of the panel', () => {
  it('fill places, leave unknown ones, and do not fill what was filled in', () => {
    assert.equal(fill('{0} of {1}, {7}', '{1}', 'b'), '{1} of b, {7}');
  });

  it('show time as a clock does', () => {
    assert.deepEqual([0, 65, 3599.6, 3661].map(timeLabel), ['0:00', '1:05', '1:00:00', '1:01:01']);
    assert.deepEqual([-1, 0.2, 59, 185].map(timeLeftWords), ['0 s', '1 s', '59 s', '3:05']);
    assert.deepEqual([0, 1.25, 1300, 99.96].map(rateWords), ['0', '1.3', '1,300', '100.0']);
  });
});

describe('bands of the steps', () => {
  it('reach from the first measured moment to the last, the current one to its planned end', () => {
    const bands = stepBands([measured(60, 1), measured(62, 1), measured(150, 2)]);
    assert.deepEqual(
      bands.map(({ index, fromS, toS }) => [index, fromS, toS]),
      [
        [1, 22, 60],
        [2, 112, 162],
      ],
    );
  });

  it('do not begin with what the step before still received', () => {
    const late = measured(110, 2);
    const warming = { ...late, step: { ...late.step!, elapsedS: 0 } };
    const bands = stepBands([measured(60, 1), warming, measured(150, 2)]);
    assert.deepEqual(
      bands.map(({ index, fromS }) => [index, fromS]),
      [
        [1, 22],
        [2, 112],
      ],
    );
  });

  it('end where the messages of their step ended, not where its last tick or its drain is reported', () => {
    const at = (atMs: number, elapsedS: number, phase: Snapshot['phase']): Snapshot => {
      const snapshot = measured(Math.floor(atMs / 1000), 1);
      return { ...snapshot, atMs, phase, step: { ...snapshot.step!, elapsedS, totalS: 3 } };
    };
    const change = at(4100, 2.6, 'draining');
    // Measured from 1.1 s to 4.1 s; the last sample before the change of phase was taken at 4 s.
    const reported = [at(2000, 0.9, 'measuring'), at(3000, 1.9, 'measuring'), change];
    const [drained] = stepBands([...reported, at(5000, 3, 'draining'), at(9000, 3, 'closing')]);
    assert.deepEqual([drained?.fromS.toFixed(3), drained?.toS.toFixed(3)], ['1.100', '4.100']);
    const [live] = stepBands(reported.slice(0, 2));
    assert.equal(live?.toS.toFixed(3), '4.100');
  });

  it('stand on the same time axis as the heat map: to the end of the run', () => {
    assert.equal(axisEndS(finishedRun()), 150);
    assert.equal(axisEndS(shownRun([measured(60, 1)])), 72 + 2 * 55);
  });

  it('give the axis an end before anything is measured', () => {
    const { run } = shownRun();
    assert.equal(plannedEndS(run, [sampleSnapshot(3)]), 19 + 3 * 55);
    assert.equal(plannedEndS(run, [measured(60, 1)]), 72 + 2 * 55);
    assert.equal(progressOf([sampleSnapshot(3)]), 0);
    assert.ok(Math.abs(progressOf([measured(60, 2)]) - (1 + 38 / 50) / 3) < 1e-9);
  });
});

describe('tables of the panel', () => {
  it('hold the numbers of the chart beside them', () => {
    const { heads, rows } = chartTableOf(timeCharts[0]!, shownRun([measured(65, 1)]));
    assert.deepEqual(heads, ['Time', 'p50', 'p90', 'p99', 'p99.9', 'max']);
    assert.deepEqual(rows, [['1:05', '2 ms', '11 ms', '20 ms', '–', '40 ms']]);
    const many = measured(65, 1);
    const { interval } = many;
    const latencyUs = { ...interval!.latencyUs, count: 10_000 };
    const full = { ...many, interval: { ...interval!, latencyUs } };
    assert.equal(chartTableOf(timeCharts[0]!, shownRun([full])).rows[0]?.[4], '30 ms');
  });

  it('say why p99.9 is missing, and which errors are not measured', () => {
    const note = (state: ShownRun): string | undefined => reportOf('steps', state).notes[0];
    const [step] = finishedRun().result!.steps;
    const few = { ...step!, latencyUs: { ...step!.latencyUs, count: 9_999 } };
    const many = { ...step!, latencyUs: { ...step!.latencyUs, count: 10_000 } };
    assert.match(note(finishedRun({ steps: [few] })) ?? '', /^–: p99\.9 is shown from 10,000/);
    assert.equal(note(finishedRun({ steps: [many] })), undefined);
    assert.equal(reportOf('steps', finishedRun({ steps: [few] })).rows[0]?.[6], '–');
    assert.match(
      tilesOf(finishedRun({ steps: [few] }))[0]!.details,
      /p99\.9 – \(too few deliveries\)/,
    );
    const early = { ...many, warmupErrors: { timeout: 3 } };
    const errors = reportOf('errors', finishedRun({ steps: [early], errors: { timeout: 4 } }));
    assert.deepEqual(errors.notes, ['3 of them in warm-ups, which are not measured.']);
  });

  it('draw no tail that too few deliveries show', () => {
    const { interval } = measured(65, 1);
    const few = { ...interval!.latencyUs, count: 9_999 };
    const many = { ...few, count: 20_000 };
    const shares = (summary: typeof few): number[] =>
      spectrumPoints(summary).map(({ share }) => share);
    assert.ok(!shares(few).includes(0.999));
    assert.ok(shares(many).includes(0.999) && !shares(many).includes(0.9999));
    // Between p99 and the largest nothing is known, so that all of it is spread evenly.
    assert.notEqual(shareBelow(few, few.p999), shareBelow(many, few.p999));
    assert.equal(shareBelow(many, many.p999), 0.999);
  });

  it('sum up a long run and say so', () => {
    const snapshots = Array.from({ length: 600 }, (_, at) => measured(at, 1));
    const { rows, note } = chartTableOf(timeCharts[0]!, shownRun(snapshots));
    assert.equal(rows.length, 120);
    assert.match(note ?? '', /5 seconds/);
    // Hours are reported by every second snapshot.
    const thinned = shownRun(snapshots.map(({ tick }) => measured(2 * tick, 1)));
    assert.match(chartTableOf(timeCharts[0]!, thinned).note ?? '', / 10 seconds/);
  });

  it('have the percentiles of the verdict, and say that lost ones count', () => {
    const lossy = {
      ...sampleStep(3, { lost: 12_000 }),
      judgedUs: { p50: 2800, p90: 1, p95: 1, p99: 414_000, p999: null, p9999: null, max: null },
    };
    const state = finishedRun({ steps: [sampleStep(2), lossy] });
    const { rows, notes } = reportOf('steps', state);
    assert.deepEqual(rows[1]?.slice(4, 8), ['2.8 ms', '414 ms', 'lost', 'lost']);
    assert.match(notes[0] ?? '', /count lost deliveries as slower/);
    const [tile] = tilesOf(state);
    assert.deepEqual(
      [tile?.value, tile?.details],
      ['414 ms', 'p50 2.8 ms · p99.9 lost · max lost'],
    );
    assert.deepEqual(reportOf('steps', finishedRun()).notes, []);
    assert.match(spectrumViewOf(state, 3)?.table.note ?? '', /^Of deliveries that arrived/);
  });

  it('have a dash for what was not measured of the generator', () => {
    const step = sampleStep(1);
    const idle = { ...step, generator: { ...step.generator, loopDelayP99Us: 0 } };
    const row = generatorView(finishedRun({ steps: [idle] })).rows[2];
    assert.deepEqual(row, ['event loop delay, p99', '–']);
  });

  it('leave the place of the charts to the errors where no connection was opened', () => {
    const { connections } = sampleSummary();
    const none = { ...connections, connected: 0, failed: 20 };
    assert.equal(isUnreachable(finishedRun({ steps: [], connections: none })), true);
    assert.equal(isUnreachable(finishedRun({ steps: [] })), false);
    assert.equal(isUnreachable(shownRun([sampleSnapshot(3)])), false);
  });

  it('list errors, most frequent first, with meaning and an example', () => {
    const errors = { timeout: 2, reset: 5 };
    const errorExamples = [{ errorClass: 'reset', text: 'x'.repeat(1000) }];
    const { rows } = reportOf('errors', finishedRun({ errors, errorExamples }));
    assert.deepEqual(
      rows.map(([name, count]) => [name, count]),
      [
        ['reset', '5'],
        ['timeout', '2'],
      ],
    );
    assert.equal(rows[0]?.[3]?.length, 300);
  });

  it('say what a server of the run has reported, also before there is a result', () => {
    const problem = 'A server connection was lost.';
    const reported = { ...measured(30, 1), errors: { ownServer: 2 }, problem };
    const live = shownRun([reported]);
    assert.equal(latestProblem(live), problem);
    assert.deepEqual(reportOf('errors', live).rows[0]?.slice(0, 2), ['ownServer', '2']);
    assert.equal(reportOf('errors', live).rows[0]?.[3], problem);
    assert.equal(latestProblem(shownRun([])), '');
  });

  it('have a row per use case of a mix and step, and none for one use case', () => {
    const { heads, rows } = reportOf(
      'entries',
      finishedRun({ steps: [mixedStep(1), mixedStep(3)] }),
    );
    assert.deepEqual(heads.slice(0, 3), ['Step', 'Use case', 'Senders']);
    assert.deepEqual(
      rows.map((row) => [row.length, row[0], row[1], row[2], row.at(-1)]),
      [
        [heads.length, '1', 'sendToGroup', '525', '0'],
        [heads.length, '1', 'echo', '175', '5'],
        [heads.length, '3', 'sendToGroup', '1,425', '0'],
        [heads.length, '3', 'echo', '475', '5'],
      ],
    );
    assert.deepEqual(reportOf('entries', finishedRun()).rows, []);
    const snapshot = measured(50, 1);
    const live = (over: boolean): string => {
      const entries = mixedProgress(1).slice(1);
      return reportOf(
        'entries',
        shownRun([{ ...snapshot, step: { ...snapshot.step!, over, entries } }]),
      ).rows[0]!.at(-1)!;
    };
    assert.deepEqual([live(false), live(true)], ['–', '5']);
  });

  it('have a row per step with its verdict, and the generator', () => {
    assert.deepEqual(
      reportOf('steps', finishedRun()).rows.map((row) => row.at(-1)),
      ['passed', 'passed', 'passed'],
    );
    const live = reportOf('steps', shownRun([measured(50, 1), measured(95, 2)])).rows;
    assert.deepEqual(
      live.map((row) => row.at(-1)),
      ['–', 'running'],
    );
    const judged = (tick: number, step: number, verdict: 'pass' | 'fail' | 'invalid') => {
      const snapshot = measured(tick, step);
      return { ...snapshot, step: { ...snapshot.step!, over: true, verdict } };
    };
    const after = [judged(50, 1, 'pass'), judged(95, 2, 'fail'), judged(140, 3, 'invalid')];
    assert.deepEqual(
      reportOf('steps', shownRun(after)).rows.map((row) => row.slice(-2)),
      [
        ['0', 'passed'],
        ['0', 'failed'],
        ['0', 'invalid'],
      ],
    );
    assert.deepEqual(generatorView(finishedRun()).rows[0], ['CPU of the busiest worker', '21 %']);
    assert.equal(generatorView(shownRun()).rows[0]?.[1], '–');
  });
});

describe('latency spectrum', () => {
  it('gives each nine the same room', () => {
    for (const [share, place] of [
      [0, 0],
      [0.9, 1],
      [0.99, 2],
      [0.999, 3],
    ] as const) {
      assert.ok(Math.abs(percentileAxisPosition(share) - place) < 1e-9);
    }
    assert.ok(Number.isFinite(percentileAxisPosition(1)));
  });

  it('names no percentile that too few values cannot show', () => {
    assert.deepEqual(
      spectrumPoints(latency(100, 10, 100, 1000)).map(({ share }) => share),
      [0, 0.5, 0.9, 0.95, 0.99],
    );
    assert.deepEqual(spectrumPoints(latency(0, 0, 0, 0)), []);
  });

  it('takes the last step, or the one asked for', () => {
    const state = finishedRun();
    assert.deepEqual(spectrumViewOf(state)?.steps, [1, 2, 3]);
    assert.equal(spectrumViewOf(state)?.step, 3);
    assert.equal(spectrumViewOf(state, 2)?.title, 'Latency spectrum, step 2');
    assert.equal(spectrumViewOf(state, 99)?.step, 3);
    assert.equal(spectrumViewOf(shownRun()), undefined);
    assert.deepEqual(spectrumViewOf(shownRun([measured(5, 1)]))?.sent, []);
  });
});

describe('heat map', () => {
  it('holds every delivery once', () => {
    const map = heatMapOf([measured(10, 1), measured(11, 1, 40_000), measured(12, 1)])!;
    const widthS = map.seconds[1]! - map.seconds[0]!;
    const sum = map.cells.flat().reduce((total, cell) => total + cell, 0) * widthS;
    assert.ok(Math.abs(sum - 21_000) < 1, String(sum));
    assert.equal(heatMapOf([sampleSnapshot(1)]), undefined);
  });

  it('holds as many deliveries for a run of which some seconds were left out', () => {
    const all = Array.from({ length: 601 }, (_, at) => measured(at + 1, 1));
    const sum = (snapshots: readonly Snapshot[]): number => {
      const { cells, seconds } = heatMapOf(snapshots)!;
      return cells.flat().reduce((total, cell) => total + cell, 0) * (seconds[1]! - seconds[0]!);
    };
    const kept = thinSnapshots(all, 200);
    assert.ok(kept.length < 250);
    assert.ok(Math.abs(sum(kept) / sum(all) - 1) < 0.01, `${sum(kept)} of ${sum(all)}`);
  });

  it('rises with the latency and stays within 0 and 1', () => {
    const us = fc.integer({ min: 0, max: 100_000 });
    const property = fc.property(us, us, (one, other) => {
      const summary = latency(1000, 2000, 20_000, 40_000);
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const [below, above] = [shareBelow(summary, low), shareBelow(summary, high)];
      assert.ok(below >= 0 && above <= 1 && below <= above + 1e-12);
    });
    fc.assert(property, { numRuns: 200 });
    assert.deepEqual([heat(0, 10), heat(10, 10), heat(5, 0)], [0, 1, 0]);
  });
});
