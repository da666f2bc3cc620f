import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { seededRandom, shuffled } from '../../../src/base/random';
import {
  drawnTiming,
  createDraw,
  DrawnPace,
  Pace,
  type Pacing,
  Activity,
  evenTiming,
  jitterTiming,
  type DrawnPaceSpec,
} from '../../../src/plan/pace';
import { senderRanksOfWorker } from '../../../src/plan/population';
import { intervalSeed } from '../../../src/plan/draws';
import type { PlanIntervals } from '../../../src/plan/plan';

interface Due {
  readonly atUs: number;
  /** Rank of the sender among all of the step. */
  readonly rank: number;
}

/** All messages due before `endUs`, each taken in time. */
function takenDueBefore(endUs: number, pace: Pacing, ranks: Uint32Array): Due[] {
  const due: Due[] = [];
  while (pace.nextDueUs < endUs) {
    const atUs = pace.nextDueUs;
    due.push({ atUs, rank: ranks[pace.take(atUs)]! });
  }
  return due;
}

const populations = fc.record({
  connections: fc.integer({ min: 1, max: 60 }),
  share: fc.double({ min: 0, max: 1, noNaN: true }),
  workers: fc.integer({ min: 1, max: 8 }),
  intervalMs: fc.integer({ min: 1, max: 5000 }),
  rounds: fc.integer({ min: 1, max: 6 }),
  seed: fc.integer(),
});

describe('Pace', () => {
  it('spreads all workers’ messages evenly, each sender once a round', () => {
    const even = fc.property(populations, (given) => {
      const { connections, share, workers, rounds, seed } = given;
      const intervalUs = given.intervalMs * 1000;
      const senders = Math.ceil(share * connections);
      const order = shuffled(connections, seededRandom(seed));
      const merged = Array.from({ length: workers }, (_, worker) => {
        const ranks = senderRanksOfWorker(order, senders, worker, workers);
        return takenDueBefore(rounds * intervalUs, new Pace(ranks, senders, intervalUs), ranks);
      })
        .flat()
        .sort((a, b) => a.atUs - b.atUs);
      assert.equal(merged.length, senders * rounds);
      for (const [number, { atUs, rank }] of merged.entries()) {
        const exactUs = (number * intervalUs) / senders;
        assert.ok(Math.abs(atUs - exactUs) < 1e-3, `message ${number} at ${atUs}, not ${exactUs}`);
        assert.equal(rank, number % senders);
      }
    });
    fc.assert(even, { numRuns: 200 });
  });

  it('reports how many messages of each sender are left in a window, as taking them would', () => {
    const counted = fc.property(
      populations,
      fc.nat({ max: 300 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (given, taken, fromShare) => {
        const intervalUs = given.intervalMs * 1000;
        const senders = Math.ceil(given.share * given.connections);
        const order = shuffled(given.connections, seededRandom(given.seed));
        const ranks = senderRanksOfWorker(order, senders, 0, given.workers);
        if (ranks.length === 0) return;
        const pace = new Pace(ranks, senders, intervalUs);
        for (let count = 0; count < taken; count++) pace.take();
        const untilUs = pace.nextDueUs + given.rounds * intervalUs;
        const fromUs = fromShare * untilUs;
        const reported = Array.from(ranks, (_, position) => pace.left(position, fromUs, untilUs));
        const seen = new Array<number>(ranks.length).fill(0);
        for (let dueUs = pace.nextDueUs; dueUs < untilUs; dueUs = pace.nextDueUs) {
          const position = pace.take();
          if (dueUs >= fromUs) seen[position]! += 1;
        }
        assert.deepEqual(reported, seen);
      },
    );
    fc.assert(counted, { numRuns: 300 });
  });

  it('has nothing to do without senders', () => {
    assert.equal(new Pace(new Uint32Array(), 5, 1000).nextDueUs, Infinity);
  });

  it('does not lose its beat over a long run', () => {
    const pace = new Pace(Uint32Array.of(0, 2), 3, 1000);
    for (let count = 0; count < 2_000_001; count++) pace.take();
    assert.ok(Math.abs(pace.nextDueUs - (1_000_000 + 2 / 3) * 1000) < 1e-3);
  });
});

describe('closed pacing', () => {
  const closed = (senders: number, intervalUs: number): DrawnPace =>
    new DrawnPace({
      ranks: Uint32Array.from({ length: senders }, (_, rank) => rank),
      timing: drawnTiming(intervalUs, { distribution: 'uniform', spread: 0 }, createDraw(3)),
      closed: true,
    });

  // How long after it was due the first message is sent, and when the second is due, in intervals from then.
  const table = {
    'in time': [0, 1],
    late: [0.5, 1.5],
    'later than a whole interval': [4, 5],
    early: [-0.1, 1],
  };
  for (const [name, [sent, next]] of Object.entries(table))
    it(`sends again one interval after a send that was ${name}`, () => {
      const pace = closed(1, 1000);
      const firstUs = pace.nextDueUs;
      assert.ok(firstUs > 0 && firstUs < 1000);
      pace.take(firstUs + sent! * 1000);
      assert.equal(pace.nextDueUs, firstUs + next! * 1000);
    });

  it('serves every sender once in each interval, in order, when nobody is late', () => {
    const ranks = Uint32Array.from({ length: 20 }, (_, sender) => sender);
    const due = takenDueBefore(3_000_000, closed(20, 1_000_000), ranks);
    assert.equal(due.length, 60);
    for (const [at, { atUs, rank }] of due.entries()) {
      if (at > 0) assert.ok(atUs >= due[at - 1]!.atUs);
      if (at >= 20) assert.equal(rank, due[at - 20]!.rank);
    }
  });

  it('knows what is left of each of very many senders', () => {
    const senders = 100_000;
    const pace = closed(senders, 1_000_000);
    for (let count = 0; count < senders / 2; count++) pace.take(pace.nextDueUs);
    const beforeUs = pace.nextDueUs;
    let [early, late] = [0, 0];
    for (let position = 0; position < senders; position++) {
      early += pace.left(position, 0, 1_000_000);
      late += pace.left(position, 1_000_000, 1_000_000 + beforeUs);
    }
    assert.deepEqual([early, late], [senders / 2, senders / 2]);
  });

  it('has nothing to do without senders', () => {
    assert.equal(closed(0, 1000).nextDueUs, Infinity);
  });
});

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
