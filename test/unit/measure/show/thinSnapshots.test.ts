import assert from 'node:assert/strict';
import { thinSnapshots } from '../../../../src/measure/show/thinSnapshots';
import { sampleSnapshot } from '../../results/sampleResult';
import { measured } from '../../webview/shownRun';

describe('thinning of snapshots', () => {
  const snapshots = [
    ...Array.from({ length: 10 }, (_, at) => sampleSnapshot(at)),
    ...Array.from({ length: 500 }, (_, at) => measured(10 + at, 1, at === 333 ? 9e6 : 20_000)),
    ...Array.from({ length: 500 }, (_, at) => measured(510 + at, 2)),
  ];

  it('leaves a short run as it is', () => {
    assert.equal(thinSnapshots(snapshots, 2000), snapshots);
  });

  it('keeps order, spikes and the ends of each step', () => {
    const kept = thinSnapshots(snapshots, 100);
    assert.ok(kept.length <= 110, String(kept.length));
    const ticks = kept.map(({ tick }) => tick);
    assert.deepEqual(
      ticks,
      [...ticks].sort((a, b) => a - b),
    );
    for (const tick of [0, 9, 10, 343, 509, 510, 1009]) assert.ok(ticks.includes(tick), `${tick}`);
  });
});
