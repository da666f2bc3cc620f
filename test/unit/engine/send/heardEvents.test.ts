import assert from 'node:assert/strict';
import { listCalls, stepsIn } from '../../../../src/usecases/sessionSteps';
import {
  completion,
  SessionBench,
  sessionOf,
  sessionPlan,
  type FakeHub,
} from '../../../fakes/sessionBench';

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
      listCalls(stepsIn(plan.entries[0]!.run.session!)).map(({ name }) => name),
      ['callback Typing', 'Typing', 'Done', 'End'],
    );
    const bench = new SessionBench(plan, hub).run(20_000, { warmupMs: 10_000, drainMs: 3000 });
    const { calls, expected, received, sessions, pushed } = bench.sample();
    const [heard, typing, done, end] = calls!;
    // Of two sessions of each, at two others; what comes in the warm-up or in the drain is not measured.
    assert.equal(typing!.sent, 6);
    const heardAt = bench.calls
      .filter(({ target }) => target === 'Typing')
      .map(({ atUs }) => atUs + 2_500_000);
    const measured = heardAt.filter((us) => us >= 15_000_000 && us <= 35_000_000);
    assert.ok(measured.length > 0 && measured.length < heardAt.length);
    const unknown = bench.calls.filter(
      ({ target, atUs }) => target === 'Typing' && atUs + 2000 >= 15_000_000,
    );
    assert.deepEqual(pushed, [
      { name: 'Unknown', messages: unknown.length, bytes: unknown.length * 44 },
      { name: 'typing', messages: 2 * measured.length, bytes: 2 * measured.length * 44 },
    ]);
    assert.deepEqual([heard!.sent, heard!.expected, heard!.received], [0, 0, 0]);
    assert.deepEqual([done!.expected, done!.received, end!.sent], [6, 6, 6]);
    assert.deepEqual([expected, received], [12, 12]);
    assert.deepEqual([sessions!.started, sessions!.completed, sessions!.brokenOff], [6, 6, 0]);
    assert.deepEqual(bench.errors, []);
  });

  it('are pushed, those that a session waits for are not, however long before they came', () => {
    // The hub calls on its own, twice as often as sessions wait for it, the first time before they do.
    const plan = sessionOf(`sessionInterval: 1s
steps:
  - { wait: 200ms }
  - { on: Tick, within: 1s }`);
    const bench = new SessionBench(plan, () => []);
    const tick = { type: 1, target: 'Tick', arguments: [] };
    for (let us = 5_100_000; us < 9_000_000; us += 500_000) bench.reply(us, 0, tick);
    bench.run(4000);
    const { calls, pushed } = bench.sample();
    assert.deepEqual([calls![0]!.expected, calls![0]!.received], [4, 4]);
    assert.deepEqual(pushed, [{ name: 'Tick', messages: 4, bytes: 4 * 41 }]);
    assert.equal(calls![0]!.ofCalls, undefined);
  });

  it('have the size of their arguments, and are said to be of a call where one has brought them', () => {
    const plan = sessionOf(`sessionInterval: 1s
steps:
  - { call: Say, arguments: ['{text:100B}'], reply: callback, callback: Said }
  - { on: said, within: 1s }
  - { on: Tick, within: 1s }`);
    const tick = { type: 1, target: 'Tick', arguments: ['a'.repeat(18)] };
    const bench = new SessionBench(plan, ({ args }) => [
      { afterUs: 2000, message: { type: 1, target: 'Said', arguments: args } },
      { afterUs: 4000, message: tick },
    ]);
    bench.run(4000);
    const { calls, pushed } = bench.sample();
    assert.deepEqual(
      calls!.map(({ received, ofCalls, payloadBytesOut }) => [received, ofCalls, payloadBytesOut]),
      [
        [4, undefined, 4 * 104],
        [4, 4, 0],
        [4, undefined, 4 * 22],
      ],
    );
    assert.equal(pushed, undefined);
  });
});
