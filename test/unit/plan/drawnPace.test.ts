import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  Activity,
  drawnTiming,
  createDraw,
  evenTiming,
  jitterTiming,
  DrawnPace,
  type DrawnPaceSpec,
} from '../../../src/plan/pace';
import { intervalSeed } from '../../../src/plan/draws';
import type { PlanIntervals } from '../../../src/plan/plan';

const second = 1_000_000;

interface Due {
  readonly atUs: number;
  readonly rank: number;
}

/** All messages due before `endUs`, each taken `lateUs` after it was due. */
function dueBefore(endUs: number, spec: DrawnPaceSpec, lateUs = 0): Due[] {
  const pace = new DrawnPace(spec);
  const due: Due[] = [];
  while (pace.nextDueUs < endUs) {
    const atUs = pace.nextDueUs;
    due.push({ atUs, rank: spec.ranks[pace.take(atUs + lateUs)]! });
  }
  return due;
}

const ranksTo = (count: number, of = 1, part = 0): Uint32Array =>
  Uint32Array.from([...Array(count).keys()].filter((rank) => rank % of === part));

const distributions: readonly PlanIntervals[] = [
  { distribution: 'uniform', spread: 0.5 },
  { distribution: 'uniform', spread: 1 },
  { distribution: 'exponential', spread: 1 },
  { distribution: 'lognormal', spread: 0.3 },
  { distribution: 'lognormal', spread: 1 },
];

const timings = (intervalUs: number, seed: number) => [
  evenTiming(intervalUs),
  jitterTiming(intervalUs, createDraw(seed)),
  ...distributions.map((intervals) => drawnTiming(intervalUs, intervals, createDraw(seed))),
];

const load = fc.record({
  senders: fc.integer({ min: 1, max: 40 }),
  workers: fc.integer({ min: 1, max: 5 }),
  intervalUs: fc.integer({ min: 1000, max: 3_000_000 }),
  kind: fc.nat({ max: distributions.length + 1 }),
  seed: fc.integer(),
});

const stages = fc.record({
  from: fc.integer({ min: 0, max: 40 }),
  stages: fc.array(
    fc.record({
      to: fc.integer({ min: 0, max: 40 }),
      overMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5000 })),
      holdMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5000 })),
    }),
    { minLength: 1, maxLength: 5 },
  ),
});

describe('drawn times of messages', () => {
  it('are the same whatever workers share the senders, and again for the same seed', () => {
    const same = fc.property(load, fc.option(stages, { nil: undefined }), (given, spec) => {
      const { senders, workers, intervalUs, kind, seed } = given;
      const timing = timings(intervalUs, seed)[kind]!;
      const activity = spec && new Activity(spec);
      const endUs = 5 * intervalUs;
      const part = (of: number, at: number): Due[] =>
        dueBefore(endUs, { ranks: ranksTo(senders, of, at), timing, activity });
      const order = (a: Due, b: Due): number => a.atUs - b.atUs || a.rank - b.rank;
      const whole = part(1, 0).sort(order);
      const merged = Array.from({ length: workers }, (_, at) => part(workers, at)).flat();
      assert.deepEqual(merged.sort(order), whole);
    });
    fc.assert(same, { numRuns: 150 });
  });

  it('come in order, and as many are left as are then taken', () => {
    const counted = fc.property(
      load,
      fc.option(stages, { nil: undefined }),
      fc.nat({ max: 100 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      ({ senders, intervalUs, kind, seed }, spec, taken, share) => {
        const timing = timings(intervalUs, seed)[kind]!;
        const activity = spec && new Activity(spec);
        const pace = new DrawnPace({ ranks: ranksTo(senders), timing, activity });
        let beforeUs = 0;
        for (let number = 0; number < taken && pace.nextDueUs < Infinity; number++) {
          assert.ok(pace.nextDueUs >= beforeUs);
          beforeUs = pace.nextDueUs;
          pace.take(beforeUs);
        }
        const fromUs = beforeUs + share * intervalUs;
        const untilUs = fromUs + 3 * intervalUs;
        const left = Array.from({ length: senders }, (_, at) => pace.left(at, fromUs, untilUs));
        const counts = Array<number>(senders).fill(0);
        while (pace.nextDueUs < untilUs) {
          const counts_ = pace.nextDueUs >= fromUs;
          const position = pace.take(pace.nextDueUs);
          if (counts_) counts[position]! += 1;
        }
        assert.deepEqual(left, counts);
      },
    );
    fc.assert(counted, { numRuns: 150 });
  });

  it('keep the interval of each sender, evenly over however many send', () => {
    const due = dueBefore(10 * second, { ranks: ranksTo(50), timing: evenTiming(second) });
    assert.equal(due.length, 500);
    for (const [at, { atUs, rank }] of due.slice(50).entries()) {
      assert.equal(due[at]!.rank, rank);
      assert.ok(Math.abs(atUs - due[at]!.atUs - second) < 1e-3);
    }
    // The largest gap between any two of n in a row is at most 3/n of the interval, for every n.
    for (const n of [1, 2, 3, 7, 20, 50]) {
      const times = due.filter(({ rank }) => rank < n).map(({ atUs }) => atUs);
      const gaps = times.slice(1).map((atUs, at) => atUs - times[at]!);
      assert.ok(Math.max(...gaps) <= (3 / n) * second, `${n} senders: ${Math.max(...gaps)} us`);
    }
  });

  it('with jitter have each sender send once in each interval', () => {
    const timing = jitterTiming(second, createDraw(7));
    const due = dueBefore(20 * second, { ranks: ranksTo(30), timing });
    const places = due.map(({ atUs, rank }) => `${rank} ${Math.floor(atUs / second)}`);
    assert.equal(new Set(places).size, 600);
    assert.equal(due.length, 600);
    const inSecond = due.map(({ atUs }) => (atUs % second) / second);
    const mean = inSecond.reduce((sum, one) => sum + one, 0) / inSecond.length;
    // Five standard errors of the mean of 600 uniform draws.
    assert.ok(Math.abs(mean - 0.5) < 5 * Math.sqrt(1 / 12 / 600), `${mean}`);
  });

  for (const intervals of distributions) {
    const { distribution, spread } = intervals;
    it(`drawn from a ${distribution} distribution of ${spread} have its mean and width from the first moment on`, () => {
      const deviation = {
        uniform: spread / Math.sqrt(3),
        exponential: 1,
        lognormal: spread,
      }[distribution];
      for (const seed of [1, 2, 3]) {
        const timing = drawnTiming(second, intervals, createDraw(seed));
        const [senders, seconds] = [500, 20];
        const due = dueBefore(seconds * second, { ranks: ranksTo(senders), timing });
        // Each second has as many as there are senders, the first one too: five deviations of a Poisson count, which
        // none of these is wider than.
        const bySecond = Array<number>(seconds).fill(0);
        for (const { atUs } of due) bySecond[Math.floor(atUs / second)]! += 1;
        for (const count of bySecond)
          assert.ok(Math.abs(count - senders) < 5 * Math.sqrt(senders), bySecond.join(' '));
        const gaps: number[] = [];
        const before = new Map<number, number>();
        for (const { atUs, rank } of due) {
          const last = before.get(rank);
          if (last !== undefined) gaps.push((atUs - last) / second);
          before.set(rank, atUs);
        }
        // Those that begin early enough not to be cut off by the end would bias neither; here a twentieth may.
        const mean = gaps.reduce((sum, one) => sum + one, 0) / gaps.length;
        const variance = gaps.reduce((sum, one) => sum + (one - mean) ** 2, 0) / gaps.length;
        assert.ok(Math.abs(mean - 1) < 0.08, `mean ${mean}`);
        assert.ok(
          Math.abs(Math.sqrt(variance) - deviation) < 0.15 * Math.max(deviation, 0.3),
          `${Math.sqrt(variance)}`,
        );
        if (distribution === 'uniform')
          for (const gap of gaps) assert.ok(gap > 1 - spread - 1e-6 && gap < 1 + spread + 1e-6);
      }
    });
  }

  it('with closed pacing count from the send', () => {
    const timing = drawnTiming(second, { distribution: 'uniform', spread: 0.2 }, createDraw(5));
    const spec = { ranks: ranksTo(20), timing, closed: true };
    const lateUs = 300_000;
    const due = dueBefore(20 * second, spec, lateUs);
    const before = new Map<number, number>();
    for (const { atUs, rank } of due) {
      const last = before.get(rank);
      if (last !== undefined) assert.ok(atUs - last >= lateUs + 0.8 * second - 1e-3);
      before.set(rank, atUs);
    }
    const pace = new DrawnPace(spec);
    assert.ok(pace.left(0, 0, 100 * second) === 1);
  });

  it('have a seed of their own for each entry and step', () => {
    const seeds = [0, 1, 2].flatMap((entry) =>
      [1, 2, 3].map((step) => intervalSeed({ seed: 4 }, entry, step)),
    );
    assert.equal(new Set(seeds).size, 9);
    assert.equal(intervalSeed({ seed: 4 }, 1, 2), intervalSeed({ seed: 4 }, 1, 2));
  });
});

describe('senders that come and go', () => {
  it('are as many as the stages say, ramps in between', () => {
    const activity = new Activity(
      {
        from: 10,
        stages: [
          { to: 20, overMs: 1000, holdMs: 1000 },
          { to: 0, overMs: 0, holdMs: 500 },
          { to: 5, overMs: 500, holdMs: 0 },
        ],
      },
      1 * second,
    );
    const at = [0, 1, 1.5, 2, 2.9, 3, 3.4, 3.75, 4, 9].map((s) => activity.at(s * second));
    assert.deepEqual(at, [10, 10, 15, 20, 20, 0, 0, 2.5, 5, 5]);
    const half = new Activity({ from: 0, stages: [{ to: 8, overMs: 0, holdMs: 1 }] }, 0, 0.5);
    assert.deepEqual(
      [0, 3, 4].map((rank) => half.isActive(rank, 0)),
      [true, true, false],
    );
  });

  it('are found among many stages without looking at each', () => {
    const stages = Array.from({ length: 10_000 }, (_, at) => ({
      ...{ to: at % 7, overMs: 500, holdMs: 500 },
    }));
    const activity = new Activity({ from: 0, stages });
    let comparisons = 0;
    const at = (us: number): number => {
      const counted = { valueOf: () => ((comparisons += 1), us) };
      return activity.at(counted as unknown as number);
    };
    assert.deepEqual(
      [0, 750, 1250, 9_999_750, 10_000_000].map((ms) => at(ms * 1000)),
      [0, 0, 0.5, 9999 % 7, 9999 % 7],
    );
    assert.ok(comparisons <= 5 * 20, `${comparisons} comparisons`);
  });

  it('are found where they take part next', () => {
    const found = fc.property(
      stages,
      fc.nat({ max: 45 }),
      fc.nat({ max: 60_000_000 }),
      (spec, rank, us) => {
        const activity = new Activity(spec);
        const fromUs = activity.activeFromUs(rank, us);
        assert.ok(fromUs >= us);
        // A moment after it it takes part; nowhere before it does it.
        if (fromUs < Infinity && fromUs > us) assert.ok(activity.at(fromUs + 1) > rank + 0.499);
        const untilUs = Math.min(fromUs, us + 60 * second);
        for (let step = 0; step < 50; step++) {
          const atUs = us + ((untilUs - us) * step) / 50;
          if (atUs < fromUs - 1) assert.ok(!activity.isActive(rank, atUs), `${atUs}`);
        }
      },
    );
    fc.assert(found, { numRuns: 300 });
  });

  it('send just what they would if all did, while they take part', () => {
    const kept = fc.property(load, stages, ({ senders, intervalUs, kind, seed }, spec) => {
      // Drawn gaps begin anew when a sender comes back.
      const timing = timings(intervalUs, seed)[kind % 2]!;
      const activity = new Activity(spec);
      const ranks = ranksTo(senders);
      const endUs = 12 * intervalUs;
      const all = dueBefore(endUs, { ranks, timing });
      const sent = dueBefore(endUs, { ranks, timing, activity });
      assert.deepEqual(
        sent,
        all.filter(({ atUs, rank }) => activity.isActive(rank, atUs)),
      );
    });
    fc.assert(kept, { numRuns: 200 });
  });

  it('with drawn intervals send at the rate of those that take part', () => {
    const spec = { from: 0, stages: [{ to: 400, overMs: 20_000, holdMs: 20_000 }] };
    for (const intervals of distributions) {
      const timing = drawnTiming(second, intervals, createDraw(9));
      const activity = new Activity(spec);
      const due = dueBefore(40 * second, { ranks: ranksTo(400), timing, activity });
      const early = due.filter(({ atUs }) => atUs < 20 * second).length;
      // Half of 400 on the mean of the ramp; five deviations of a Poisson count.
      assert.ok(Math.abs(early - 4000) < 5 * Math.sqrt(4000), `${early}`);
      assert.ok(Math.abs(due.length - early - 8000) < 5 * Math.sqrt(8000));
    }
  });

  it('cost no time where nobody takes part for long', () => {
    const spec = {
      from: 0,
      stages: [
        { to: 0, overMs: 0, holdMs: 86_400_000 },
        { to: 1000, overMs: 0, holdMs: 1000 },
      ],
    };
    const timing = evenTiming(1000);
    const pace = new DrawnPace({ ranks: ranksTo(1000), timing, activity: new Activity(spec) });
    assert.ok(pace.nextDueUs >= 86_400 * second && pace.nextDueUs < 86_400 * second + 1000);
  });
});
