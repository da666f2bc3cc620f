import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { columnsOf, thin, usesRightAxis } from '../../../src/webview/columns';
import { timeCharts } from '../../../src/webview/timeCharts';
import type { Snapshot } from '../../../src/measure/snapshot';
import { sampleSnapshot } from '../results/sampleResult';
import { measured } from './shownRun';

const [latencyChart, ratesChart, connectionsChart] = timeCharts;

describe('columns of a chart', () => {
  it('leave a gap where nothing was measured', () => {
    const columns = columnsOf(
      latencyChart!,
      [measured(1, 1), sampleSnapshot(2, 1), measured(3, 1)],
      100,
    );
    assert.deepEqual(columns.seconds, [1, 2, 3]);
    assert.deepEqual(columns.lines[2], [20_000, null, 20_000]);
  });

  it('take rates over the measured part of a second, and none over a moment at a border', () => {
    const part = (seconds: number, receivingSeconds: number, share: number): Snapshot => {
      const snapshot = measured(1, 1);
      const counts = { offered: 700 * share, sent: 700 * share, received: 7000 * share };
      return {
        ...snapshot,
        interval: { ...snapshot.interval!, seconds, receivingSeconds, ...counts },
      };
    };
    // The step begins 20 ms before a tick, and ends 600 ms after one with 200 ms of drain.
    const snapshots = [part(0.02, 0.02, 0.03), part(1, 1, 1), part(0.6, 0.8, 0.6), part(0, 0.1, 0)];
    const { lines } = columnsOf(ratesChart!, snapshots, 100);
    assert.deepEqual(lines, [
      [null, 700, 700, null],
      [null, 700, 700, null],
      [null, 7000, 5250, null],
    ]);
  });

  it('show connections while nothing is measured yet', () => {
    const columns = columnsOf(connectionsChart!, [sampleSnapshot(3)], 100);
    assert.deepEqual(columns.lines, [[300], [0], [0], [0]]);
  });

  it('never have more points than asked for, and never lose a spike', () => {
    const property = fc.property(
      fc.array(fc.option(fc.integer({ min: 1, max: 1e7 })), { minLength: 1, maxLength: 500 }),
      fc.integer({ min: 1, max: 100 }),
      (line, most) => {
        const seconds = line.map((_, at) => at);
        const thinned = thin({ seconds, lines: [line], perPoint: 1 }, ['max'], most);
        assert.ok(thinned.seconds.length <= most);
        assert.equal(thinned.lines[0]!.length, thinned.seconds.length);
        const highest = (values: readonly (number | null)[]): number =>
          Math.max(0, ...values.map((value) => value ?? 0));
        assert.equal(highest(thinned.lines[0]!), highest(line));
      },
    );
    fc.assert(property, { seed: 1, numRuns: 200 });
  });

  it('put lines of another size on an axis of their own', () => {
    const lines = (offered: number, received: number) => [[offered], [offered], [received]];
    const uses = (offered: number, received: number): boolean =>
      usesRightAxis(ratesChart!, { seconds: [1], lines: lines(offered, received), perPoint: 1 });
    assert.deepEqual([uses(700, 700), uses(700, 7000), uses(700, 0)], [false, true, false]);
    const few = { seconds: [1], lines: [[1900], [0], [14], [17]], perPoint: 1 };
    assert.equal(usesRightAxis(connectionsChart!, few), true);
  });

  it('put neighbours together by worst, mean or last', () => {
    const lines = [
      [1, 3, null, 5],
      [1, 3, null, 5],
      [1, 3, 7, null],
    ];
    const thinned = thin({ seconds: [0, 1, 2, 3], lines, perPoint: 1 }, ['max', 'mean', 'last'], 2);
    assert.deepEqual(thinned, {
      seconds: [0, 2],
      lines: [
        [3, 5],
        [2, 5],
        [3, 7],
      ],
      perPoint: 2,
    });
  });
});
