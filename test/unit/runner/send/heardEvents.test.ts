import assert from 'node:assert/strict';
import { callsOf, stepsIn } from '../../../../src/usecases/sessionSteps';
import { completion, SessionBench, sessionPlan, type FakeHub } from '../../../fakes/sessionBench';

describe('events that nothing in a session waits for', () => {
  it('are counted as often as they come, while sessions go on and between them, and none is expected', () => {
    const plan = sessionPlan(
      `sessionInterval: 10s
steps:
  - { on: Typing, within: 0 }
  - { call: Typing }
  - { on: Done }
  - { wait: 1s }
  - { call: End, reply: none }`,
      { connections: 3 },
    );
    const others = (index: number): number[] => [0, 1, 2].filter((to) => to !== index);
    // Everybody else hears it, in other letters, when sessions are over as well; a fourth one nobody asked for.
    const hub: FakeHub = ({ index, target, id }) =>
      target === 'End'
        ? []
        : [
            { afterUs: 1000, message: { type: 1, target: 'Done', arguments: [] } },
            ...others(index).map((to) => ({
              ...{ afterUs: 2_500_000, to },
              message: { type: 1, target: 'typing', arguments: [index] },
            })),
            { afterUs: 2000, message: { type: 1, target: 'Unknown', arguments: [] } },
            { afterUs: 1000, message: completion(id) },
          ];
    assert.deepEqual(
      callsOf(stepsIn(plan.entries[0]!.run.session!)).map(({ name }) => name),
      ['callback Typing', 'Typing', 'Done', 'End'],
    );
    const bench = new SessionBench(plan, hub).run(20_000, { warmupMs: 10_000, drainMs: 3000 });
    const { calls, expected, received, sessions } = bench.sample();
    const [heard, typing, done, end] = calls!;
    // Of two sessions of each, at two others. Those of the warm-up count nowhere but for what comes after it.
    assert.equal(typing!.sent, 6);
    const late = bench.calls.filter(
      ({ target, atUs }) =>
        target === 'Typing' && atUs < 15_000_000 && atUs + 2_500_000 >= 15_000_000,
    );
    assert.equal(heard!.came, 12 + 2 * late.length);
    assert.deepEqual([heard!.sent, heard!.expected, heard!.received], [0, 0, 0]);
    assert.deepEqual([done!.expected, done!.received, end!.sent], [6, 6, 6]);
    assert.deepEqual([expected, received], [12, 12]);
    assert.deepEqual([sessions!.started, sessions!.completed, sessions!.brokenOff], [6, 6, 0]);
    assert.deepEqual(bench.errors, []);
  });
});
