import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Snapshot } from '../../../../src/measure/snapshot';
import { thinSnapshots } from '../../../../src/measure/snapshotHistory';
import {
  readChartColumns,
  isolatedPoints,
  chooseRightAxis,
  thinChartPoints,
  timeCharts,
  type TimeChartSpec,
} from '../../../../src/measure/show/timeSeries';
import { toPanelResult } from '../../../../src/extension/panel/panelSession';
import { legendAtRest } from '../../../../src/webview/charts/timeChart';
import type { ShownRun } from '../../../../src/webview/panelState';
import { tilesOf } from '../../../../src/webview/tables/tiles';
import { latency, sampleResult, sampleSnapshot } from '../../results/sampleResult';
import { measured, shownRun } from '../shownRun';

const [latencyChart, ratesChart, connectionsChart] = timeCharts;

describe('columns of a chart', () => {
  it('leave a gap where nothing was measured', () => {
    const columns = readChartColumns(
      latencyChart!,
      [measured(1, 1), sampleSnapshot(2, 1), measured(3, 1)],
      100,
    );
    assert.deepEqual(columns.seconds, [1, 2, 3]);
    assert.deepEqual(columns.lines[2], [20_000, null, 20_000]);
  });

  it('take rates over the measured part of a second, and none over a moment at a border', () => {
    let tick = 0;
    const part = (seconds: number, receivingSeconds: number, share: number): Snapshot => {
      const snapshot = measured(++tick, 1);
      const counts = { offered: 700 * share, sent: 700 * share, received: 7000 * share };
      return {
        ...snapshot,
        interval: { ...snapshot.interval!, seconds, receivingSeconds, ...counts },
      };
    };
    // The step begins 20 ms before a tick, and ends 600 ms after one with 200 ms of drain.
    const snapshots = [part(0.02, 0.02, 0.03), part(1, 1, 1), part(0.6, 0.8, 0.6), part(0, 0.1, 0)];
    const { lines } = readChartColumns(ratesChart!, snapshots, 100);
    assert.deepEqual(lines, [
      [null, 700, 700, null],
      [null, 700, 700, null],
      [null, 7000, null, null],
    ]);
  });

  it('draw the part of a second in which a step ends, together with the second before it', () => {
    const whole = measured(9, 1);
    const counts = { offered: 140, sent: 105, received: 1400 };
    const seconds = { seconds: 0.2, receivingSeconds: 0.2 };
    const latencyUs = latency(1400, 1000, 50_000, 90_000);
    const part = { ...measured(10, 1), interval: { ...seconds, ...counts, latencyUs } };
    const { lines } = readChartColumns(ratesChart!, [whole, part], 100);
    const rates = lines.map((line) => Math.round(line[1]!));
    assert.deepEqual(rates, [700, Math.round(805 / 1.2), 7000]);
    assert.equal(readChartColumns(latencyChart!, [whole, part], 100).lines[2]![1], 50_000);
    // The first part of another step has no second before it.
    const next = { ...part, step: measured(11, 2).step! };
    assert.equal(readChartColumns(ratesChart!, [whole, next], 100).lines[0]![1], null);
  });

  it('show connections while nothing is measured yet', () => {
    const columns = readChartColumns(connectionsChart!, [sampleSnapshot(3)], 100);
    assert.deepEqual(columns.lines, [[300], [0], [0], [0]]);
  });

  it('never have more points than asked for, and never lose a spike', () => {
    const property = fc.property(
      fc.array(fc.option(fc.integer({ min: 1, max: 1e7 })), { minLength: 1, maxLength: 500 }),
      fc.integer({ min: 1, max: 100 }),
      (line, most) => {
        const seconds = line.map((_, at) => at);
        const thinned = thinChartPoints({ seconds, lines: [line], perPoint: 1 }, 'max', most);
        assert.ok(thinned.seconds.length <= most);
        assert.equal(thinned.lines[0]!.length, thinned.seconds.length);
        const highest = (values: readonly (number | null)[]): number =>
          Math.max(0, ...values.map((value) => value ?? 0));
        assert.equal(highest(thinned.lines[0]!), highest(line));
      },
    );
    fc.assert(property, { numRuns: 60 });
  });

  it('put lines of another size on an axis of their own, but never one of the rates', () => {
    const few = { seconds: [1], lines: [[1900], [0], [14], [17]], perPoint: 1 };
    assert.equal(chooseRightAxis(connectionsChart!, few), 'smaller');
    const many = { seconds: [1], lines: [[10], [0], [14], [21]], perPoint: 1 };
    assert.equal(chooseRightAxis(connectionsChart!, many), 'larger');
    const rates = fc.array(fc.array(fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }))), {
      minLength: 3,
      maxLength: 3,
    });
    const property = fc.property(rates, (lines) => {
      assert.equal(chooseRightAxis(ratesChart!, { seconds: [], lines, perPoint: 1 }), 'none');
    });
    fc.assert(property);
  });

  it('put neighbours together by worst, mean or last', () => {
    const seconds = [0, 1, 2, 3];
    const thinned = (
      combine: Parameters<typeof thinChartPoints>[1],
      line: readonly (number | null)[],
    ) => thinChartPoints({ seconds, lines: [line], perPoint: 1 }, combine, 2);
    const rest = { seconds: [0, 2], perPoint: 2 };
    assert.deepEqual(thinned('max', [1, 3, null, 5]), { ...rest, lines: [[3, 5]] });
    assert.deepEqual(thinned('mean', [1, 3, null, 5]), { ...rest, lines: [[2, 5]] });
    assert.deepEqual(thinned('last', [1, 3, 7, null]), { ...rest, lines: [[3, 7]] });
  });

  it('have no gap at a change of phase, which is reported between two ticks', () => {
    const change = { ...sampleSnapshot(2, 1), atMs: 2100 };
    const { seconds, lines } = readChartColumns(
      latencyChart!,
      [measured(2, 1), change, measured(3, 1)],
      9,
    );
    assert.deepEqual(
      [seconds, lines[2]],
      [
        [2, 3],
        [20_000, 20_000],
      ],
    );
    assert.equal(
      readChartColumns(connectionsChart!, [measured(2, 1), change], 9).seconds.length,
      2,
    );
  });

  it('have dots where no line goes through', () => {
    assert.deepEqual(isolatedPoints([7, null, 1, 2, null, undefined, 3]), [0, 6]);
    assert.deepEqual([isolatedPoints([]), isolatedPoints([5])], [[], [0]]);
  });

  it('say of latencies what the tile says, of the run that goes on and the one that is over, and name the worst second', () => {
    const snapshots = [measured(1, 1), measured(2, 1, 2_992_000), measured(3, 1)];
    const result = toPanelResult(sampleResult());
    for (const state of [shownRun(snapshots), shownRun(snapshots, { result })]) {
      const [tile] = tilesOf(state);
      const columns = readChartColumns(latencyChart!, snapshots, 9);
      const { label, values } = legendAtRest(latencyChart!, columns, state);
      assert.equal(values[2], tile!.value);
      assert.equal(label, `step ${state.result ? 3 : 1} · worst second p99 3 s`);
    }
  });

  it('report the whole of a run that is over, and the latest of one that goes on', () => {
    const snapshots = [measured(1, 1), measured(2, 1), measured(3, 1)];
    const [live, done] = [
      shownRun(snapshots),
      shownRun(snapshots, { result: toPanelResult(sampleResult()) }),
    ];
    const rest = (spec: TimeChartSpec, state: ShownRun) =>
      legendAtRest(spec, readChartColumns(spec, snapshots, 9), state);
    const values = ['700', '700', '7,000'];
    assert.deepEqual(rest(ratesChart!, done), { label: 'mean of the run', values });
    assert.deepEqual(rest(ratesChart!, live), { label: 'latest', values });
    assert.deepEqual(rest(connectionsChart!, done), {
      label: 'at the end',
      values: ['1,900', '0', '0', '0'],
    });
  });
});

/** A run as its conductor reports it: ticks, and between them changes of phase that measure nothing. */
const runs = fc
  .array(
    fc.record({
      warmup: fc.nat(2),
      ticks: fc.array(
        fc.record({
          p99: fc.integer({ min: 2, max: 5_000_000 }),
          rate: fc.integer({ min: 1, max: 100_000 }),
          // Nothing due, nothing received, sending ends in it, or all of it measured.
          kind: fc.constantFrom('empty', 'silent', 'ends', 'whole', 'whole'),
          toldBetween: fc.boolean(),
        }),
        { minLength: 1, maxLength: 6 },
      ),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((steps) => {
    const snapshots: Snapshot[] = [sampleSnapshot(1)];
    let tick = 1;
    const between = (step: number, phase: Snapshot['phase']): void => {
      snapshots.push({ ...sampleSnapshot(tick, step, { phase }), atMs: tick * 1000 + 400 });
    };
    for (const [at, { warmup, ticks }] of steps.entries()) {
      const step = at + 1;
      between(step, 'warmup');
      for (let second = 0; second < warmup; second++)
        snapshots.push(sampleSnapshot(++tick, step, { phase: 'warmup' }));
      between(step, 'measuring');
      for (const { p99, rate, kind, toldBetween } of ticks) {
        const snapshot = measured(++tick, step);
        const received = kind === 'silent' ? 0 : rate;
        const counts = { offered: rate, sent: rate, received };
        const us = kind === 'silent' ? 0 : p99;
        const latencyUs = latency(received, us / 2, us, us * 2);
        const times = { seconds: kind === 'ends' ? 0.6 : 1, receivingSeconds: 1 };
        if (kind === 'empty') snapshots.push(sampleSnapshot(tick, step));
        else snapshots.push({ ...snapshot, interval: { ...times, ...counts, latencyUs } });
        if (toldBetween) between(step, 'measuring');
      }
      between(step, 'draining');
    }
    between(steps.length, 'done');
    return snapshots;
  });

/** What a chart shows of a line: lines between neighbours, and dots. */
function drawnOf(line: readonly (number | null)[]): number[] {
  const islands = isolatedPoints(line);
  return line.flatMap((value, at) => {
    const joined = (line[at - 1] ?? null) !== null || (line[at + 1] ?? null) !== null;
    return value !== null && (joined || islands.includes(at)) ? [value] : [];
  });
}

describe('what the charts draw', () => {
  const highest = (values: readonly number[]): number => Math.max(-1, ...values);
  /** From the intervals themselves, not by what the charts read. */
  const measuredBy: Readonly<Record<string, (snapshot: Snapshot) => number[]>> = {
    ...Object.fromEntries(
      (['p50', 'p90', 'p99', 'p999', 'max'] as const).map((key) => [
        key,
        ({ interval }: Snapshot) =>
          // Fewer deliveries show no p99.9.
          (interval?.latencyUs.count ?? 0) >= (key === 'p999' ? 10_000 : 1)
            ? [interval!.latencyUs[key]]
            : [],
      ]),
    ),
    offered: ({ interval }) => (interval ? [interval.offered / interval.seconds] : []),
    sent: ({ interval }) => (interval ? [interval.sent / interval.seconds] : []),
    received: ({ interval }) => (interval?.seconds === 1 ? [interval.received] : []),
    connected: ({ connections }) => [connections.connected],
    failed: ({ connections }) => [connections.failed],
    dropped: ({ connections }) => [connections.dropped],
    errors: () => [0],
  };

  for (const spec of timeCharts) {
    it(`reaches the highest interval maximum of every line: ${spec.id}`, () => {
      const property = fc.property(runs, (snapshots) => {
        const { lines } = readChartColumns(spec, snapshots, 400);
        for (const [at, { id }] of spec.series.entries()) {
          const all = snapshots.flatMap(measuredBy[id]!);
          assert.equal(highest(drawnOf(lines[at]!)), highest(all), id);
        }
      });
      fc.assert(property, { numRuns: 100 });
    });
  }

  it('never loses the slowest delivery of a long run, and no gap parts neighbouring ticks', () => {
    const property = fc.property(runs, fc.integer({ min: 3, max: 20 }), (snapshots, most) => {
      const slowest = (of: readonly Snapshot[]): number => highest(of.flatMap(measuredBy['max']!));
      const { lines } = readChartColumns(latencyChart!, thinSnapshots(snapshots, most), most);
      assert.equal(highest(drawnOf(lines.at(-1)!)), slowest(snapshots));
      const whole = readChartColumns(latencyChart!, snapshots, 400);
      const ticks = snapshots.filter(({ tick }, at) => tick !== snapshots[at - 1]?.tick);
      assert.equal(whole.seconds.length, ticks.length);
    });
    fc.assert(property, { numRuns: 100 });
  });
});
