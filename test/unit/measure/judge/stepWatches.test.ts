import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  detectStall,
  WaitingWatch,
  BacklogWatch,
  type LatencyGrowth,
  RecoveryWatch,
} from '../../../../src/measure/judge/stepWatches';
import { RunTotals } from '../../../../src/measure/total/runTotals';
import { stepSampleOf, workerSampleOf } from '../../../fakes/sample';
import { sampleSnapshot } from '../../results/sampleResult';
import { seededRandom } from '../../../../src/base/random';
import { normal } from '../../../fakes/simulatedServers';
import { LatencyHistogram } from '../../../../src/measure/histogram';

const noLatency = new LatencyHistogram().summary();
const s = 1_000_000;

/** A watch that was given these counts, one second after the other. */
function watched(...counts: readonly (readonly [expected: number, received: number])[]) {
  const watch = new WaitingWatch();
  counts.forEach(([expected, received], at) => {
    watch.note((at + 1) * s, (at + 1) * s, expected, received);
  });
  return watch.waiting();
}

describe('deliveries that are waited for', () => {
  it('are none while each second brings what was due before it', () => {
    assert.equal(watched(), undefined);
    assert.equal(watched([200, 198], [400, 398], [600, 597]), undefined);
    assert.equal(watched([200, 200], [200, 200], [200, 200]), undefined);
  });

  it('are reported with the length of the silence', () => {
    assert.deepEqual(watched([200, 160], [400, 160]), { oldestS: 1, silentS: 1 });
    assert.deepEqual(watched([200, 160], [400, 160], [600, 160]), { oldestS: 2, silentS: 2 });
    // It is over.
    assert.equal(watched([200, 160], [400, 160], [600, 160], [800, 799]), undefined);
  });

  it('are reported with the age of the oldest when newer ones arrive', () => {
    assert.deepEqual(watched([200, 100], [400, 150], [600, 190]), { oldestS: 2, silentS: 0 });
  });

  it('are never reported older than the oldest one is', () => {
    const message = fc.record({
      dueUs: fc.integer({ min: 0, max: 10 * s }),
      tookUs: fc.option(fc.integer({ min: 0, max: 5 * s })),
    });
    const property = fc.property(
      fc.array(message, { maxLength: 60 }),
      fc.array(fc.integer({ min: 0, max: 300_000 }), { minLength: 12, maxLength: 12 }),
      (messages, lateUs) => {
        const watch = new WaitingWatch();
        for (let tick = 1; tick <= 12; tick++) {
          // Two workers: one takes its sample in time, the other later.
          const [fromUs, toUs] = [tick * s, tick * s + lateUs[tick - 1]!];
          const arrivedBy = (atUs: number) =>
            messages.filter(({ dueUs, tookUs }) => tookUs !== null && dueUs + tookUs <= atUs);
          const due = messages.filter(({ dueUs }) => dueUs <= toUs);
          watch.note(fromUs, toUs, due.length, arrivedBy(fromUs).length);
          const missing = due.filter((each) => !arrivedBy(fromUs).includes(each));
          const ages = missing.map(({ dueUs }) => (fromUs - dueUs) / s);
          const { oldestS = 0, silentS = 0 } = watch.waiting() ?? {};
          assert.ok(oldestS <= Math.max(0, ...ages) + 1e-9, `${oldestS} of ${ages.join(', ')}`);
          const last = Math.max(
            0,
            ...arrivedBy(fromUs).map(({ dueUs, tookUs }) => dueUs + tookUs!),
          );
          assert.ok(silentS <= (fromUs - last) / s + 1e-9);
          assert.ok(silentS <= oldestS);
        }
      },
    );
    fc.assert(property, { numRuns: 300 });
  });

  it('are counted over all workers, up to the last sample of each', () => {
    const totals = new RunTotals(10);
    const step = totals.beginStep({ index: 1, senders: 10 });
    const add = (worker: number, atS: number, expected: number, received: number): void => {
      const steps = [stepSampleOf({ expected, received })];
      totals.add(workerSampleOf({ worker, tick: atS, atUs: atS * s, steps }));
    };
    // One sends, the other receives.
    for (const worker of [0, 1]) add(worker, 1, worker === 0 ? 100 : 0, worker === 0 ? 0 : 60);
    add(0, 2, 100, 0);
    assert.equal(step.waiting(), undefined);
    add(1, 2, 0, 0);
    assert.deepEqual(step.waiting(), { oldestS: 1, silentS: 1 });
    step.verdict = { status: 'pass', reasons: [] };
    assert.equal(step.waiting(), undefined);
  });
});

describe('a stall', () => {
  const step = (oldestS: number, silentS: number, p99: number, over = false) => {
    const { step: sample } = sampleSnapshot(9, 1);
    const latencyUs = { ...sample!.latencyUs, p99 };
    return { ...sample!, latencyUs, over, outstanding: 400, waiting: { oldestS, silentS } };
  };

  it('is a wait that the latencies so far do not show', () => {
    assert.deepEqual(detectStall(step(2.19, 2.19, 11_000)), {
      kind: 'silent',
      seconds: '2.1',
      count: 400,
    });
    assert.deepEqual(detectStall(step(6.99, 0, 11_000)), {
      kind: 'behind',
      seconds: '6.9',
      count: 400,
    });
    assert.equal(detectStall(step(2.1, 2.1, 2_200_000)), undefined);
    assert.equal(detectStall(step(2.1, 2.1, 11_000, true)), undefined);
    assert.equal(detectStall(sampleSnapshot(9, 1).step!), undefined);
  });
});

/** Seconds 1 … n of a step, each with a median latency in microseconds. */
function growthOf(p50s: readonly number[], received = 100): LatencyGrowth | undefined {
  const watch = new BacklogWatch(0, p50s.length * 1e6, 0.05);
  p50s.forEach((p50, at) =>
    watch.tick({ tick: at + 1, received, latencyUs: { ...noLatency, p50 } }),
  );
  return watch.growth();
}

const seconds = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const kindOf = (p50s: readonly number[]): LatencyGrowth['kind'] | undefined => growthOf(p50s)?.kind;

describe('BacklogWatch', () => {
  it('finds the share by which a target is above its capacity', () => {
    // 5 % more than can be delivered: of each second 5/105 stays in the queue.
    const share = 0.05 / 1.05;
    const growth = growthOf(seconds(8, (at) => 2000 + share * 1e6 * (at + 0.5)))!;
    assert.equal(growth.kind, 'grows');
    assert.ok(Math.abs(growth.middle - share) < 1e-9);
    assert.ok(Math.abs(growth.limit - 0.0005) < 1e-12);
  });

  it('finds none in latency that stays, however high, or falls', () => {
    assert.equal(kindOf(seconds(8, () => 900_000)), 'stays');
    assert.equal(kindOf(seconds(8, (at) => 900_000 - 100_000 * at)), 'stays');
  });

  it('takes no slow second for a trend', () => {
    for (const slow of [0, 3, 11])
      assert.equal(kindOf(seconds(12, (at) => (at === slow ? 700_000 : 2000 + (at % 3)))), 'stays');
  });

  it('sees a target half a per cent above its capacity, and none in one at it', () => {
    for (const [growthUs, kind] of [
      [5000, 'grows'],
      [0, 'stays'],
    ] as const) {
      const found = seconds(100, (seed) => seed + 1).map((seed) => {
        const random = seededRandom(seed);
        return kindOf(seconds(28, (at) => 20_000 + growthUs * at + 2000 * normal(random)));
      });
      const others = found.filter((each) => each !== kind && each !== 'open');
      assert.deepEqual(others, []);
      assert.ok(found.filter((each) => each === kind).length >= 90, found.join());
    }
  });

  it('leaves open what its seconds do not tell', () => {
    const random = seededRandom(7);
    const found = seconds(40, () =>
      kindOf(seconds(8, (at) => 100_000 + 600 * at + 20_000 * normal(random))),
    );
    assert.ok(found.filter((kind) => kind === 'open').length >= 36, found.join());
  });

  it('believes seconds less that follow the one before', () => {
    // A queue that wanders, and comes back.
    let wandering = 0;
    const random = seededRandom(3);
    const found = seconds(100, () =>
      kindOf(seconds(28, () => 50_000 + (wandering = 0.85 * wandering + 3000 * normal(random)))),
    );
    assert.ok(found.filter((kind) => kind === 'grows').length <= 8, found.join());
  });

  it('needs five seconds in which something arrived', () => {
    assert.equal(growthOf([100_000, 600_000, 900_000, 1_200_000]), undefined);
    assert.equal(
      growthOf(
        seconds(9, (at) => 100_000 * at),
        0,
      ),
      undefined,
    );
  });

  it('looks at whole seconds of the measured time alone', () => {
    const watch = new BacklogWatch(1_500_000, 7_200_000, 0.05);
    const ticks = [0, 0, 1, 2, 3, 4, 5, 900];
    ticks.forEach((ms, at) =>
      watch.tick({ tick: at + 1, received: 1, latencyUs: { ...noLatency, p50: ms * 100_000 } }),
    );
    assert.ok(Math.abs(watch.growth()!.middle - 0.1) < 1e-9);
  });

  it('never says anything that contradicts itself', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3_000_000), { maxLength: 40 }), (p50s) => {
        const growth = growthOf(p50s);
        if (growth === undefined) return;
        const { kind, low, middle, high, limit } = growth;
        assert.ok(Number.isFinite(middle) && low <= middle && middle <= high);
        assert.equal(kind, low > limit ? 'grows' : high <= limit ? 'stays' : 'open');
      }),
    );
  });
});

const atUs = (seconds: number): number => seconds * 1_000_000;

/** A second of the run in which so many were due and so many came, all after that time. */
function second(tick: number, expected: number, received: number, us: number) {
  const latency = new LatencyHistogram();
  for (let count = 0; count < received; count++) latency.record(us);
  return { tick, expected, received, latency };
}

const facts = {
  slo: { latencyUs: { p99: 1000 }, dropped: 0.1 },
  connections: 100,
  measureUs: atUs(10),
  endUs: atUs(30),
  sends: true,
};

describe('RecoveryWatch', () => {
  it('sees nothing while no more are missing than the objective allows', () => {
    const watch = new RecoveryWatch(facts);
    watch.open(atUs(11), 90);
    watch.open(atUs(9), 0);
    watch.open(atUs(31), 0);
    assert.deepEqual(watch.recoveries(), []);
  });

  it('takes the time until connections and then latency are back', () => {
    const watch = new RecoveryWatch(facts);
    watch.open(atUs(12), 60);
    watch.open(atUs(13), 20);
    watch.second(second(14, 1, 1, 5));
    watch.open(atUs(14.5), 90);
    // The second from 14 to 15 began before they were back, the next one is slow, 17 to 18 is empty.
    watch.second(second(15, 1, 1, 5));
    watch.second(second(16, 1, 1, 5000));
    watch.second(second(18, 0, 0, 0));
    assert.deepEqual(watch.recoveries(), [
      { atS: 2, missing: 80, connectionsS: 2.5, latencyS: null },
    ]);
    watch.second(second(19, 1, 1, 1000));
    assert.equal(watch.recoveries()[0]!.latencyS, 7);
    watch.second(second(20, 1, 1, 900));
    assert.equal(watch.recoveries()[0]!.latencyS, 7);
  });

  it('counts a storm from the moment it drops the connections, not from their leaving before', () => {
    const watch = new RecoveryWatch({
      ...facts,
      storm: { fromUs: atUs(14), atUs: atUs(15) },
    });
    // Some have left already, others not yet.
    watch.open(atUs(14), 40);
    watch.open(atUs(14.02), 0);
    watch.open(atUs(15.02), 0);
    watch.open(atUs(17), 95);
    assert.deepEqual(watch.recoveries(), [
      { atS: 5, missing: 100, connectionsS: 2, latencyS: null },
    ]);
  });

  describe('with deliveries that do not come', () => {
    /** Seconds from the outage at 12 s on until latency is back; connections are at 13 s. */
    function calm(each: readonly (readonly [due: number, came: number])[], us = 5) {
      const watch = new RecoveryWatch(facts);
      watch.open(atUs(12), 0);
      watch.open(atUs(13), 100);
      each.forEach(([due, came], at) => watch.second(second(14 + at, due, came, us)));
      return watch.recoveries()[0]!.latencyS;
    }

    it('is not back while as many stay away as are slower than any limit', () => {
      const half = Array.from({ length: 16 }, () => [1000, 500] as const);
      assert.equal(calm(half), null);
      assert.equal(calm([...half.slice(0, 3), [1000, 989], [1000, 990], [1000, 1000]]), 6);
      // Those that came were all too slow.
      assert.equal(calm([[1000, 1000]], 1001), null);
    });

    it('takes what is on its way when a second ends for no loss', () => {
      // Due and arrived in each second; of the third row the last arrive long after the limit.
      for (const [seconds, expected] of [
        ['1000/700 1000/1300', 2],
        ['1000/700 1000/1000 1000/1000', 3],
        ['1000/500 1000/1000 1000/1000 0/500', 3],
        ['1000/700 0/300', 2],
      ] as const) {
        const each = seconds.split(' ').map((one) => one.split('/').map(Number));
        assert.equal(calm(each as [number, number][]), expected, seconds);
      }
    });
  });

  it('leaves latency out where nothing is sent, and what is not over open', () => {
    const watch = new RecoveryWatch({ ...facts, sends: false });
    watch.open(atUs(20), 10);
    assert.deepEqual(watch.recoveries(), [{ atS: 10, missing: 90, connectionsS: null }]);
  });
});
