import { say } from '../../../src/base/sentence';
import assert from 'node:assert/strict';
import { maximumSeries, parseSeriesName, summarizeObserved } from '../../../src/measure/observed';
import { observedCharts, findingWords } from '../../../src/measure/show/observedWords';
import { addLateSeries } from '../../../src/measure/show/timeSeries';
import type { Snapshot } from '../../../src/measure/snapshot';
import { panelStrings } from '../../../src/measure/show/panelStrings';
import { sampleSnapshot } from '../results/sampleResult';

/** A step of a second for each value. */
function during(name: string, values: readonly number[], step = 1): Snapshot[] {
  return values.map((value, at) => {
    const snapshot = sampleSnapshot(10 * step + at, step);
    return {
      ...snapshot,
      observed: { [name]: value },
      step: { ...snapshot.step!, elapsedS: at + 1 },
    };
  });
}

const wordsOf = (snapshots: readonly Snapshot[]): string[] =>
  (summarizeObserved(snapshots)?.findings ?? []).map((finding) => say(findingWords(finding)));

describe('what was seen of a server', () => {
  it('is summed up by step, over its measured time', () => {
    const warm = { ...during('queue', [1000])[0]!, phase: 'warmup' as const };
    const { series } = summarizeObserved([
      warm,
      ...during('queue', [1, 2, 6]),
      ...during('queue', [4], 2),
    ])!;
    assert.deepEqual(series[0]?.steps, [
      { index: 1, mean: 3, max: 6, last: 6 },
      { index: 2, mean: 4, max: 4, last: 4 },
    ]);
    assert.equal(series[0].points.length, 5);
  });

  it('is undefined where nothing was seen, and has the reason where something was wanted', () => {
    assert.equal(summarizeObserved([sampleSnapshot(1, 1)]), undefined);
    assert.deepEqual(summarizeObserved([], ['no answer']), {
      ...{ series: [], findings: [], problems: ['no answer'] },
    });
  });

  it('says of a queue from when on it grew, and nothing of one that comes and goes or only stays', () => {
    const growing = [0, 1, 0, 2, 1, 3, 30, 60, 90, 120];
    assert.deepEqual(wordsOf(during('queue', growing)), [
      "the server's thread-pool queue grew from second 7 on",
    ]);
    for (const values of [
      [0, 200, 0, 200, 0, 0, 1, 0, 2, 1],
      [50, 52, 49, 51, 50, 52, 50, 51],
      [0, 1, 2, 3, 4, 5, 6, 7],
      [0, 0, 0, 0, 0, 0, 0, 900],
      [900],
      [],
    ])
      assert.deepEqual(wordsOf(during('queue', values)), [], values.join(' '));
  });

  it('says from when on the processors were full, where it is known how many there are', () => {
    const full = [0.5, 0.8, 0.93, 0.97, 0.95, 0.95];
    assert.deepEqual(wordsOf(during('cpu', full)), [
      'the server used 95 % of its processors from second 3 on',
    ]);
    assert.deepEqual(wordsOf(during('cpu', [...full, 0.2])), []);
    assert.deepEqual(wordsOf(during('cpuCores', [4, 4, 4, 4, 4])), []);
    assert.deepEqual(wordsOf(during('gcPause @ a:1', [0.3, 0.3, 0.3, 0.3])), [
      'the server spent 30 % of its time in garbage collection from second 1 on (a:1)',
    ]);
  });

  it('takes of what came late the whole minutes of each step', () => {
    const startedAtMs = Date.parse('2026-11-23T10:00:00Z');
    // Measured from second 10 to 200 of the run: minutes 1 and 2 lie inside.
    const snapshots = Array.from({ length: 190 }, (_, at): Snapshot => {
      const snapshot = sampleSnapshot(11 + at, 1);
      return { ...snapshot, step: { ...snapshot.step!, elapsedS: at + 1 } };
    });
    const values = [0.1, 0.8, 0.9, 0.2];
    const points = values.map((value, at) => [startedAtMs + at * 60_000, value] as const);
    const late = [{ name: 'serverLoad @ chat', points }];
    const { series, findings } = summarizeObserved(snapshots, [], late, startedAtMs)!;
    assert.deepEqual(series, [
      {
        ...{ name: 'serverLoad @ chat', unit: 'share' },
        steps: [{ index: 1, mean: 0.85, max: 0.9, last: 0.9 }],
        points: values.map((value, at) => [at * 60, value]),
        everyS: 60,
      },
    ]);
    assert.deepEqual(
      findings.map((each) => say(findingWords(each))),
      ['the load of the service was 85 % from second 50 on (chat)'],
    );
  });

  it('is in all samples of its minute where it came when the run was over', () => {
    const samples = [0, 59, 60, 119, 120, 150, 200].map((atS) => ({
      ...{ atMs: atS * 1000, observed: { cpu: 0.5 } },
    }));
    const series = (name: string, points: [number, number][], everyS?: number) => ({
      ...{ name, unit: 'share' as const, steps: [], points, ...(everyS && { everyS }) },
    });
    const observed = {
      series: [
        series('cpu', [[0, 0.5]]),
        // The first began before the run, and that of the second minute is missing; no order is relied on.
        series(
          'serverLoad',
          [
            ...([
              [90, 0.9],
              [-30, 0.4],
            ] as [number, number][]),
          ],
          60,
        ),
      ],
      ...{ findings: [], problems: [] },
    };
    assert.deepEqual(
      addLateSeries(samples, observed).map((sample) => Object.values(sample.observed)),
      [[0.5, 0.4], [0.5], [0.5], [0.5, 0.9], [0.5, 0.9], [0.5], [0.5]],
    );
    // Charts see that nothing is new.
    for (const none of [undefined, { ...observed, series: observed.series.slice(0, 1) }])
      assert.equal(addLateSeries(samples, none), samples);
  });

  it('has a bound on series and points, however long the run', () => {
    const names = Array.from({ length: 200 }, (_, at) => [`a${at}`, at] as const);
    const many = [{ ...sampleSnapshot(1, 1), observed: Object.fromEntries(names) }];
    assert.equal(summarizeObserved(many)?.series.length, maximumSeries);
    const long = during(
      'queue',
      Array.from({ length: 5000 }, () => 1),
    );
    assert.ok(summarizeObserved(long)!.series[0]!.points.length <= 600);
  });

  it('is named by what it is, with names of a server as they are', () => {
    assert.deepEqual(parseSeriesName('queue @ h:1'), {
      ...{ name: 'queue @ h:1', kind: 'queue', unit: 'count', place: 'h:1' },
    });
    assert.equal(parseSeriesName('orders_total/s').unit, 'perSecond');
    assert.equal(parseSeriesName('__proto__').kind, undefined);
    assert.equal(parseSeriesName('constructor').kind, undefined);
  });

  it('is a chart for each unit there is, shares in percent and memory in megabytes', () => {
    const megabyte = 1024 * 1024;
    const observed = {
      ...{ cpu: 0.5, memory: 3 * megabyte, queue: 4, 'orders_total/s': 2 },
      'trafficIn @ chat': 5 * megabyte,
    };
    const snapshots = [{ ...sampleSnapshot(1, 1), observed }, sampleSnapshot(2, 1)];
    const charts = observedCharts(snapshots, panelStrings);
    assert.deepEqual(
      charts.map(({ id, series }) => [
        id,
        ...series.map((line) => [line.label, line.read(snapshots[0]!)]),
      ]),
      [
        ['observedShares', ['CPU', 50]],
        ['observedCounts', ['thread-pool queue', 4], ['orders_total/s', 2]],
        ['observedBytes', ['memory', 3], ['traffic in, a second @ chat', 5]],
      ],
    );
    assert.equal(charts[0]?.series[0]?.read(snapshots[1]!), null);
    assert.deepEqual(observedCharts([sampleSnapshot(1, 1)], panelStrings), []);
  });
});
