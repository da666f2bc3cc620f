import assert from 'node:assert/strict';
import { readChartColumns, timeCharts } from '../../../../src/measure/show/timeSeries';
import {
  createTimeView,
  snapshotsIn,
  zoomedBy,
  type TimeView,
} from '../../../../src/webview/charts/chartFrame';
import { measured, shownRun } from '../shownRun';
import { legendAtRest, columnsInRange } from '../../../../src/webview/charts/timeChart';

const run = Array.from({ length: 20 }, (_, at) => measured(at + 1, 1, (at + 1) * 1000));

function followed(): { readonly view: TimeView; readonly seen: string[] } {
  const view = createTimeView();
  const seen: string[] = [];
  view.follow({
    pointed: () => seen.push(`at ${String(view.moment)}`),
    zoomed: () => seen.push(`shows ${String(view.range)}`),
  });
  return { view, seen };
}

describe('what charts over time have in common', () => {
  it('goes to no card that is gone', () => {
    const view = createTimeView();
    const seen: string[] = [];
    const follow = (name: string) =>
      view.follow({ pointed: () => seen.push(name), zoomed: () => seen.push(name) });
    const ends = ['first', 'second', 'third'].map(follow);
    ends[1]!();
    view.point(1);
    view.zoom([2, 8]);
    assert.deepEqual(seen, ['first', 'third', 'first', 'third']);
  });

  it('goes to all of them, once for each change', () => {
    const { view, seen } = followed();
    view.point(3);
    view.point(3);
    view.zoom([4, 9]);
    view.zoom(undefined);
    view.zoom(undefined);
    view.point(undefined);
    assert.deepEqual(seen, ['at 3', 'shows 4,9', 'shows undefined', 'at undefined']);
  });

  it('is never a part of the run that is too short to see, nor one before its begin', () => {
    const { view } = followed();
    view.zoom([9, 4]);
    assert.deepEqual(view.range, [4, 9]);
    view.zoom([5, 5]);
    assert.deepEqual(view.range, [4, 6]);
    view.zoom([-3, 0.5]);
    assert.deepEqual(view.range, [0, 2]);
  });

  it('gets shorter around the moment, and the whole again', () => {
    assert.deepEqual(zoomedBy(0.5, 20, [0, 100], 100), [10, 60]);
    assert.deepEqual(zoomedBy(2, 35, [10, 60], 100), [0, 85]);
    assert.equal(zoomedBy(2, 50, [0, 100], 100), undefined);
  });

  it('has the snapshots of a part, and one neighbour on each side', () => {
    const ticks = (range: readonly [number, number] | undefined): number[] =>
      snapshotsIn(run, range).map(({ tick }) => tick);
    assert.deepEqual(ticks([5, 7]), [4, 5, 6, 7, 8]);
    assert.deepEqual(ticks([0, 1]), [1, 2]);
    assert.deepEqual(ticks([19, 40]), [18, 19, 20]);
    assert.deepEqual(ticks([30, 40]), []);
    assert.equal(snapshotsIn(run, undefined), run);
  });

  it('shows each second of a part whose run is drawn with fewer points', () => {
    const [latencyChart] = timeCharts;
    const whole = readChartColumns(latencyChart!, run, 5);
    assert.ok(whole.perPoint > 1);
    assert.equal(readChartColumns(latencyChart!, snapshotsIn(run, [5, 7]), 5).perPoint, 1);
  });

  it('is summed up without its neighbours', () => {
    const [latencyChart] = timeCharts;
    const range = [5, 7] as const;
    const columns = readChartColumns(latencyChart!, snapshotsIn(run, range), 100);
    const { label, values } = legendAtRest(
      latencyChart!,
      columnsInRange(columns, range),
      shownRun(run),
      range,
    );
    assert.equal(label, 'worst second, 0:05 to 0:07');
    assert.equal(values[2], '7 ms');
  });
});
