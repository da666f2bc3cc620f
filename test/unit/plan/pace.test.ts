import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { seededRandom, shuffled } from '../../../src/base/random';
import { drawnTiming, createDraw, DrawnPace, Pace, type Pacing } from '../../../src/plan/pace';
import { senderRanksOfWorker } from '../../../src/plan/population';

interface Due {
  readonly atUs: number;
  /** Rank of the sender among all of the step. */
  readonly rank: number;
}

/** All messages due before `endUs`, each taken in time. */
function dueBefore(endUs: number, pace: Pacing, ranks: Uint32Array): Due[] {
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
        return dueBefore(rounds * intervalUs, new Pace(ranks, senders, intervalUs), ranks);
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
    const due = dueBefore(3_000_000, closed(20, 1_000_000), ranks);
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
