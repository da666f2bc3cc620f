import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  completion,
  SessionBench,
  sessionOf,
  sessionPlan,
  type FakeHub,
  answering,
} from '../../../fakes/sessionBench';

describe('a session at the end of its step', () => {
  it('holds its pauses to the end of the step, so that no other one begins before they are over', () => {
    const plan = sessionOf(
      'sessionInterval: 1600ms\nsteps: [{ call: A }, { wait: 1500ms }, { call: B }]',
    );
    const hub: FakeHub = ({ id, target }) => [
      { afterUs: target === 'A' ? 700_000 : 0, message: completion(id) },
    ];
    const bench = new SessionBench(plan, hub).run(12_000, { drainMs: 3000 });
    const atMs = [0, 2200, 4400, 6600, 8800, 11_000];
    assert.deepEqual(
      bench.calls.map(({ target, atUs }) => `${target} ${(atUs - 5_000_000) / 1000}`),
      atMs.flatMap((ms) => [...(ms > 0 ? [`B ${ms}`] : []), `A ${ms}`]),
    );
    const { sessions, calls } = bench.sample();
    assert.deepEqual(
      calls!.map(({ sent, expected, received }) => [sent, expected, received]),
      [
        [6, 6, 6],
        [5, 5, 5],
      ],
    );
    // Those that are due at 9.6 and 11.2 s never get their turn.
    assert.deepEqual([sessions!.started, sessions!.completed, sessions!.waiting], [8, 5, 2]);
  });

  it('makes calls no closer together than its pauses and its answers are, whatever keeps it', () => {
    const ms = fc.integer({ min: 0, max: 900 });
    const pause = fc.integer({ min: 1, max: 900 });
    fc.assert(
      fc.property(
        ms,
        pause,
        ms,
        fc.integer({ min: 1, max: 3 }),
        (firstMs, pauseMs, nextMs, senders) => {
          const plan = sessionPlan(
            `sessionInterval: 1s\nsteps: [{ call: A }, { wait: ${pauseMs}ms }, { call: B }]`,
            { connections: senders },
          );
          const hub: FakeHub = ({ id, target }) => [
            { afterUs: 1000 * (target === 'A' ? firstMs : nextMs), message: completion(id) },
          ];
          const bench = new SessionBench(plan, hub).run(5000, { drainMs: 2000 });
          for (let index = 0; index < senders; index++) {
            const calls = bench.calls.filter((call) => call.index === index);
            for (const [at, { target, atUs }] of calls.slice(1).entries()) {
              const leastMs = target === 'A' ? nextMs : firstMs + pauseMs;
              const gapUs = Math.round(atUs - calls[at]!.atUs);
              assert.notEqual(target, calls[at]!.target);
              assert.ok(gapUs >= leastMs * 1000, `${target} after ${gapUs} us of ${leastMs} ms`);
            }
          }
          const { calls, sessions } = bench.sample();
          for (const { sent, expected, received } of calls!)
            assert.deepEqual([expected, received], [sent, sent]);
          assert.equal(calls![0]!.sent, sessions!.started - sessions!.waiting);
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe('a stream in a session', () => {
  it('counts the items of a stream, and breaks off when there are too few', () => {
    const plan = sessionOf('sessionInterval: 2s\nsteps: [{ stream: Count, items: 3 }]');
    let made = 3;
    const hub: FakeHub = ({ id }) => [
      ...Array.from({ length: made }, (_, item) => ({
        ...{ afterUs: 1000 * (item + 1), message: { type: 2, invocationId: id, item } },
      })),
      { afterUs: 5000, message: { type: 3, invocationId: id } },
    ];
    const whole = new SessionBench(plan, hub).run(2000).sample();
    assert.deepEqual([whole.expected, whole.received, whole.sessions!.completed], [3, 3, 1]);
    made = 2;
    const bench = new SessionBench(plan, hub).run(2000);
    const short = bench.sample();
    assert.deepEqual([short.expected, short.received, short.sessions!.brokenOff], [3, 2, 1]);
    assert.deepEqual(bench.errors, ['invocation: Count: completed after 2 of 3 items']);
  });

  it('counts the latency of an item from where it is due', () => {
    const plan = sessionOf(
      'sessionInterval: 4s\nsteps: [{ stream: Ticks, items: 3, every: 500ms }]',
    );
    // The second comes before it is due, the third 20 ms late.
    const hub: FakeHub = ({ id }) => [
      ...[1000, 400_000, 1_020_000].map((afterUs, item) => ({
        ...{ afterUs, message: { type: 2, invocationId: id, item } },
      })),
      { afterUs: 1_030_000, message: { type: 3, invocationId: id } },
    ];
    const { latency, received } = new SessionBench(plan, hub).run(4000).sample();
    assert.deepEqual(
      [received, latency!.minUs, latency!.maxUs, latency!.sumUs],
      [3, 0, 20_000, 21_000],
    );
  });

  it('cancels a stream that goes on when it has its items, and goes on itself', () => {
    const plan = sessionOf(
      'sessionInterval: 4s\nsteps: [{ stream: Ticks, items: 3, cancel: true }, { call: A }]',
    );
    const hub: FakeHub = ({ target, id }) =>
      target === 'A'
        ? [{ afterUs: 1000, message: completion(id) }]
        : [
            ...Array.from({ length: 5 }, (_, item) => ({
              ...{ afterUs: 1000 * (item + 1), message: { type: 2, invocationId: id, item } },
            })),
            // .NET may end a cancelled stream with an error.
            { afterUs: 6000, message: { type: 3, invocationId: id, error: 'cancelled' } },
          ];
    const bench = new SessionBench(plan, hub).run(4000);
    const { expected, received, extra, sessions, calls } = bench.sample();
    assert.deepEqual([expected, received, extra], [4, 4, 2]);
    assert.deepEqual([sessions!.completed, calls![1]!.received, bench.errors], [1, 1, []]);
    const [ticks] = bench.calls;
    assert.deepEqual(bench.connections[0]!.messages, [{ type: 5, invocationId: ticks!.id }]);
  });
});

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
