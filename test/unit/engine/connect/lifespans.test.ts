import assert from 'node:assert/strict';
import { LifeTotals } from '../../../../src/measure/total/runTotals';
import { Lifespans } from '../../../../src/engine/connect/connections';

const second = 1_000_000;

describe('life spans of connections', () => {
  it('are reported with their down time and the share they were up', () => {
    const lifespans = new Lifespans();
    // Up from 0 to 10 s but for 2 s; up from 2 s on; down since 5 s; never opened is not counted.
    for (const index of [1, 3]) lifespans.opened(index, 0);
    lifespans.closed(1, 4 * second);
    lifespans.closed(1, 5 * second);
    lifespans.opened(1, 6 * second);
    lifespans.opened(2, 2 * second);
    lifespans.closed(3, 5 * second);
    lifespans.closed(4, 5 * second);
    assert.equal(lifespans.openUs(1, 7 * second), second);

    const totals = new LifeTotals();
    assert.equal(totals.summary(0, 0, 0), undefined);
    totals.add({ life: lifespans.take(10 * second) });
    const life = totals.summary(2, 0, 1)!;
    assert.deepEqual([life.drops, life.closed, life.reconnects], [2, 0, 1]);
    const nearly = (value: number, wanted: number): void =>
      assert.ok(Math.abs(value - wanted) <= 0.001 * Math.max(1, wanted), `${value}, not ${wanted}`);
    nearly(life.lifeSpanMs.p50, 10_000);
    nearly(life.downMs.p50, 2000);
    nearly(life.downMs.p99, 5000);
    nearly(life.sla.p50, 0.8);
    nearly(life.sla.p99, 0.5);
    nearly(life.sla.mean, 1 - 7 / 28);
  });
});
