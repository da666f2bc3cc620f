import assert from 'node:assert/strict';
import { countFor, showsShare } from '../../../src/base/measuringLimits';
import {
  cameEarly,
  hidesTail,
  latencyAt,
  shownLatency,
  tailUs,
  type LatencySummary,
} from '../../../src/measure/latencySummary';

const summary = (count: number): LatencySummary => ({
  ...{ count, min: 1, mean: 2, p50: 2, p90: 3, p95: 4, p99: 5, p999: 6, p9999: 7, max: 8 },
});

describe('tails', () => {
  it('are reported where at least ten values lie beyond', () => {
    assert.deepEqual([showsShare(9_999, 0.999), showsShare(10_000, 0.999)], [false, true]);
    assert.deepEqual([showsShare(99_999, 0.9999), showsShare(100_000, 0.9999)], [false, true]);
    assert.deepEqual([countFor(0.999), countFor(0.9999)], [10_000, 100_000]);
    assert.deepEqual(
      [tailUs(summary(50_000), 'p999'), tailUs(summary(50_000), 'p9999')],
      [6, undefined],
    );
  });

  it('leave the other percentiles alone', () => {
    assert.deepEqual(
      (['p50', 'p99', 'p999', 'max'] as const).map((key) => latencyAt(summary(20), key)),
      [2, 5, undefined, 8],
    );
    assert.equal(latencyAt(summary(0), 'p50'), undefined);
  });

  it('and all others say nothing where what came was early', () => {
    const early = { ...summary(20), min: 0, mean: 1, p50: 0, p90: 0, p95: 0, p99: 5, max: 8 };
    const { p50, p90, p99, max } = shownLatency({ latencyUs: early })!;
    assert.deepEqual([p50, p90, p99, max], [undefined, undefined, 5, 8]);
    assert.deepEqual(
      [cameEarly([{ latencyUs: early }]), cameEarly([{ latencyUs: summary(20) }])],
      [...[true, false]],
    );
  });

  it('are missed where one of several is not shown', () => {
    assert.equal(hidesTail([summary(10_000), summary(0), undefined]), false);
    assert.equal(hidesTail([summary(10_000), summary(9_999)]), true);
  });
});
