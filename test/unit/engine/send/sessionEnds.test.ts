import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  completion,
  SessionBench,
  sessionOf,
  sessionPlan,
  type FakeHub,
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
