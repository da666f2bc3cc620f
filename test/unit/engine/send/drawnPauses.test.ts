import assert from 'node:assert/strict';
import { answering, SessionBench, sessionPlan } from '../../../fakes/sessionBench';

describe('a session whose pauses are lists', () => {
  const drawn = (interval: string, workers = 1) =>
    sessionPlan(
      `sessionInterval: ${interval}
steps:
  - repeat: 3
    every: [100ms, 300ms]
    steps: [{ call: A, reply: none }]
  - wait: [0s, 1s, 5s]
  - { call: B }`,
      { connections: 20 },
      workers,
    );

  it('draws pauses from lists, each as often, the same whoever works at it', () => {
    const callsBy = (workers: number) =>
      Array.from({ length: workers }, (_, worker) => {
        const bench = new SessionBench(drawn('10s', workers), answering(0), worker);
        return bench.run(250_000).calls;
      }).flat();
    const calls = callsBy(1);
    const [rounds, pauses] = [new Map<number, number>(), new Map<number, number>()];
    for (const index of Array.from({ length: 20 }, (_, at) => at)) {
      const own = calls.filter((call) => call.index === index);
      for (const [at, { target, atUs }] of own.entries()) {
        const next = own[at + 1];
        if (target === 'B' || next === undefined) continue;
        const ms = (next.atUs - atUs) / 1000;
        const counts = next.target === 'A' ? rounds : pauses;
        counts.set(ms, (counts.get(ms) ?? 0) + 1);
      }
    }
    assert.deepEqual(
      [...rounds.keys()].sort((a, b) => a - b),
      [100, 300],
    );
    // The last round takes as long as another one.
    assert.deepEqual(
      [...pauses.keys()].sort((a, b) => a - b),
      [100, 300, 1100, 1300, 5100, 5300],
    );
    for (const counts of [rounds, pauses]) {
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const share = 1 / counts.size;
      // Four standard deviations of a binomial distribution.
      for (const [ms, count] of counts)
        assert.ok(
          Math.abs(count - all * share) <= 4 * Math.sqrt(all * share * (1 - share)),
          `${ms}: ${count} of ${all}`,
        );
    }
    const listed = (all: typeof calls): string[] =>
      all.map(({ index, target, atUs }) => `${index} ${atUs} ${target}`).sort();
    assert.deepEqual(listed(callsBy(2)), listed(calls));
  });

  it('puts off a session that is due within drawn pauses of the one before, and calls that no latency', () => {
    for (const warmupMs of [0, 7000]) {
      // As long as the mean: every other session takes longer.
      const bench = new SessionBench(drawn('2600ms'), answering(2000));
      const { calls, sessions } = bench.run(20_000, { warmupMs, drainMs: 1000 }).sample();
      const [a, b] = calls!;
      assert.ok(sessions!.started > 100 && sessions!.completed > 100, String(sessions!.completed));
      assert.equal(b!.sent, b!.expected);
      assert.equal(b!.received, b!.expected);
      assert.equal(b!.latency!.maxUs, 2000);
      assert.ok(
        a!.sent > 0 && sessions!.duration!.maxUs <= 5_902_000,
        String(sessions!.duration!.maxUs),
      );
      assert.equal(sessions!.brokenOff, 0);
    }
  });

  it('expects the answer of a session that was put off when it begins, and never after the step', () => {
    const plan = sessionPlan(
      // Answers take 2 ms, for which there is room.
      'sessionInterval: 1010ms\nsteps: [{ call: A }, { wait: [100ms, 1900ms] }, { call: B }]',
      { connections: 10 },
    );
    for (const warmupMs of [0, 3500]) {
      const bench = new SessionBench(plan, answering(1000));
      const { calls, sessions } = bench.run(20_000, { warmupMs, drainMs: 3000 }).sample();
      for (const { sent, expected, received, latency } of calls!) {
        assert.ok(sent > 50);
        assert.deepEqual([expected, received], [sent, sent]);
        assert.equal(latency!.maxUs, 1000);
      }
      assert.ok(sessions!.completed <= sessions!.started);
    }
  });
});
