import assert from 'node:assert/strict';
import type { BenchHubKnobs } from '../../../../src/servers/hub/benchHubOptions';
import { HubDeliveries } from '../../../../src/servers/hub/hubDeliveries';
import { VirtualTime } from '../../../fakes/virtualTime';

describe('deliveries of the bench hub', () => {
  let time: VirtualTime;
  let written: [frame: number, atMs: number][];
  let holds: [what: string, atMs: number][];
  let deliveries: HubDeliveries;

  beforeEach(() => {
    time = new VirtualTime().install();
    [written, holds] = [[], []];
  });
  afterEach(() => {
    deliveries.dispose();
    time.restore();
  });

  function start(knobs: BenchHubKnobs): void {
    deliveries = new HubDeliveries(knobs, {
      onHold: () => holds.push(['hold', time.nowMs]),
      onRelease: () => holds.push(['release', time.nowMs]),
    });
  }

  const receiver = { write: (frame: Buffer) => written.push([frame[0]!, time.nowMs]) };
  const deliver = (...numbers: readonly number[]): void => {
    for (const n of numbers) deliveries.deliver(receiver, Buffer.from([n]));
  };

  it('are lost and doubled at exactly every n-th', () => {
    start({ dropEvery: 3, dupEvery: 4 });
    deliver(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    const numbers = written.map(([frame]) => frame);
    assert.deepEqual(numbers, [1, 2, 4, 4, 5, 7, 8, 8, 10, 11]);
    assert.deepEqual(deliveries.counts, { deliveries: 12, dropped: 4, duplicated: 2 });
  });

  it('are delayed by what was asked for and not by what timers are late', async () => {
    start({ delayMs: 50 });
    time.lateMs = () => 0.9;
    for (let n = 0; n < 10; n++) {
      await time.to(n * 7);
      deliver(n);
    }
    await time.to(200);
    for (const [n, [frame, atMs]] of written.entries()) {
      assert.equal(frame, n);
      assert.ok(atMs >= n * 7 + 50 && atMs < n * 7 + 50.01, `${atMs} ms`);
    }
    assert.equal(written.length, 10);
  });

  it('wait for their turn when only so many may leave in a second, or never leave', async () => {
    start({ capacity: { perSecond: 100, mostWaitMs: 30 } });
    deliver(1, 2, 3, 4, 5, 6);
    await time.to(100);
    assert.deepEqual(written, [
      [1, 0],
      [2, 10],
      [3, 20],
      [4, 30],
    ]);
    assert.deepEqual(deliveries.counts, { deliveries: 6, dropped: 2, duplicated: 0 });
  });

  it('stall once, with those whose delay ends meanwhile', async () => {
    start({ delayMs: 30, stall: { afterMs: 50, forMs: 300 } });
    await time.to(100);
    assert.ok(!deliveries.isHeld, 'no stall before the first message');
    deliveries.startStallClock();
    deliver(1);
    await time.to(140);
    deliver(2);
    await time.to(500);
    deliveries.startStallClock();
    deliver(3);
    await time.to(1000);
    assert.deepEqual(written, [
      [1, 130],
      [2, 450],
      [3, 530],
    ]);
    assert.deepEqual(holds, [
      ['hold', 150],
      ['release', 450],
    ]);
  });
});
