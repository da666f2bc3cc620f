import assert from 'node:assert/strict';
import { completion, SessionBench, sessionOf, type FakeHub } from '../../../fakes/sessionBench';

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
