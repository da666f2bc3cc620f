import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Plan } from '../../../../src/plan/plan';
import {
  completion,
  SessionBench,
  sessionOf,
  sessionPlan,
  type FakeHub,
} from '../../../fakes/sessionBench';

/** A hub with groups: calls take effect when they arrive there, after `wayUs`. */
function chatHub(bench: () => SessionBench, wayUs: () => number): FakeHub {
  const groups = new Map<string, Set<number>>();
  return ({ index, target, args, id }) => {
    const [group] = args as [string];
    const members = groups.get(group) ?? new Set();
    groups.set(group, members);
    if (target === 'JoinRoom') members.add(index);
    if (target === 'LeaveRoom') members.delete(index);
    if (target === 'SendMessage')
      for (const to of members)
        bench().reply(bench().nowUs + wayUs(), to, { type: 1, target: 'Posted', arguments: args });
    return id === undefined ? [] : [{ afterUs: wayUs(), message: completion(id) }];
  };
}

function inChat(plan: Plan, wayUs: () => number): SessionBench {
  const bench: SessionBench = new SessionBench(
    plan,
    chatHub(() => bench, wayUs),
  );
  return bench;
}

describe('sessions whose calls join and leave groups', () => {
  const chat = `sessionInterval: 6s
groupCount: 3
steps:
  - { call: JoinRoom, arguments: ['{group}'] }
  - repeat: 4
    every: 1s
    steps:
      - call: SendMessage
        arguments: ['{group}', '{text:60}']
        reply: callback
        callback: Posted
        receivers: group
  - { call: LeaveRoom, arguments: ['{group}'] }`;

  it('expect of each message exactly those that are in the group when it is sent', () => {
    const plan = sessionPlan(chat, { connections: 12 });
    const bench = inChat(plan, () => 2000);
    bench.run(30_000, { drainMs: 1000 });
    const { expected, received, duplicated, outOfOrder, calls } = bench.sample();
    assert.equal(received, expected);
    assert.deepEqual([duplicated, outOfOrder], [0, 0]);
    const [, send] = calls!;
    assert.ok(send!.expected > send!.sent, 'others than the sender are members');
    assert.equal(send!.extra, 0);
    assert.ok(send!.leaving > 0, 'those that are joining or leaving get some as well');
  });

  it('count nobody as moved for one of two calls that were late together', () => {
    const plan = sessionPlan(chat, { connections: 6 });
    const bench = inChat(plan, () => 1000);
    // The sender stands still: members that should be out by then go out between two calls.
    for (const atUs of [5_500_000, 11_700_000, 18_200_000])
      bench.reply(atUs, 0, () => bench.standStill(3700));
    const { calls } = bench.run(30_000, { drainMs: 1000 }).sample();
    for (const { expected, received } of calls!) assert.equal(received, expected);
  });

  it('take as long as their pauses, whatever comes right before the call that leaves', () => {
    const plan = sessionOf(`sessionInterval: 2s
groupCount: 1
steps:
  - { call: JoinRoom, arguments: ['{group}'] }
  - { call: SendMessage, arguments: ['{group}', '{text:60}'], reply: callback, callback: Posted, receivers: group }
  - { wait: 1300ms }
  - { call: GetHistory }
  - { wait: 500ms }
  - { call: LeaveRoom, arguments: ['{group}'] }`);
    const bench = inChat(plan, () => 1000);
    bench.run(6000);
    const calls = bench.calls.map(({ target, atUs }) => [target, Math.floor(atUs / 1000) - 5000]);
    assert.deepEqual(calls, [
      ...[0, 2000, 4000].flatMap((at) => [
        ['JoinRoom', at],
        ['SendMessage', at + 1],
        ['GetHistory', at + 1301],
        ['LeaveRoom', at + 1802],
      ]),
    ]);
    const { expected, received, latency, sessions, calls: counts } = bench.sample();
    assert.deepEqual([expected, received, sessions!.completed], [12, 12, 3]);
    assert.deepEqual([counts![1]!.expected, counts![1]!.extra], [3, 0]);
    assert.ok(latency!.maxUs < 1100, String(latency!.maxUs));
    assert.ok(sessions!.duration!.maxUs < 1_900_000);
  });

  it('miss nothing that is on its way when somebody leaves, as long as that is a second at most', () => {
    const ms = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
    let [deliveries, left] = [0, 0];
    fc.assert(
      fc.property(
        fc.array(ms(900), { minLength: 4, maxLength: 4 }),
        fc.record({ rounds: ms(4), every: ms(500), first: ms(1500), last: ms(1200) }),
        fc.boolean(),
        fc.boolean(),
        (waysMs, { rounds, every, first, last }, mayStay, draws) => {
          const pause = (least: number): string =>
            draws ? `[${least}ms, ${2 * least}ms]` : `${least}ms`;
          const leave = `{ call: LeaveRoom, arguments: ['{group}'] }`;
          const post = `{ call: SendMessage, arguments: ['{group}', '{text:60}'], reply: callback, callback: Posted, receivers: group }`;
          const plan = sessionPlan(
            `sessionInterval: ${draws ? 8 : 5}s
groupCount: 1
steps:
  - { call: JoinRoom, arguments: ['{group}'] }
  - repeat: ${rounds}
    every: ${pause(every)}
    steps:
      - ${post}
      - choose: [${mayStay ? `{ steps: [${leave}] }, ` : ''}{ steps: [{ call: GetHistory }] }]
  - { wait: ${pause(first)} }
  - ${post}
  - { wait: ${pause(last)} }
  - ${leave}`,
            { connections: 4 },
          );
          const members = new Set<number>();
          // What a client sends arrives in its order, each client's so long after it was sent.
          const hub: FakeHub = ({ index, target, args, id, atUs }) => {
            const arrivesUs = atUs + waysMs[index]! * 1000;
            bench.reply(arrivesUs, index, () => {
              if (target === 'JoinRoom') members.add(index);
              if (target === 'LeaveRoom' && members.delete(index)) left += 1;
              if (target === 'SendMessage')
                for (const to of members)
                  bench.reply(arrivesUs, to, { type: 1, target: 'Posted', arguments: args });
              if (id !== undefined) bench.reply(arrivesUs, index, completion(id));
            });
            return [];
          };
          const bench: SessionBench = new SessionBench(plan, hub);
          bench.run(20_000, { drainMs: 5000 });
          const { calls } = bench.sample();
          for (const { expected, received } of calls!) {
            assert.equal(received, expected);
            deliveries += received;
          }
        },
      ),
      // Who goes in by that way for a millisecond must go out again in time.
      {
        numRuns: 12,
        examples: [[[1, 211, 525, 1], { rounds: 2, every: 1, first: 996, last: 5 }, true, false]],
      },
    );
    assert.ok(deliveries > 300 && left > 30, `${deliveries} deliveries, ${left} left`);
  });

  const shortStay = (wait: string): string => `sessionInterval: 2s
groupCount: 1
steps:
  - { call: JoinRoom, arguments: ['{group}'] }
  - { call: SendMessage, arguments: ['{group}', '{text:60}'], reply: callback, callback: Posted, receivers: group }
${wait}  - { call: LeaveRoom, arguments: ['{group}'] }`;

  it('are members however short they stay, and leave when what was meant for them has come', () => {
    const plan = sessionOf(shortStay('  - { wait: 200ms }\n'));
    let wayUs = 1000;
    const bench = inChat(plan, () => wayUs);
    bench.reply(6_500_000, 0, () => (wayUs = 300_000));
    const { calls, sessions } = bench.run(4000).sample();
    assert.deepEqual([calls![1]!.sent, calls![1]!.expected, calls![1]!.received], [2, 2, 2]);
    assert.equal(calls![1]!.extra, 0);
    assert.equal(sessions!.completed, 2);
    const leftMs = bench.calls
      .filter(({ target }) => target === 'LeaveRoom')
      .map(({ atUs }) => Math.floor(atUs / 10_000) * 10);
    // 200 ms after the answer to the join; in the second, slow session when the message has come, 300 ms after.
    assert.deepEqual(leftMs, [5200, 7610]);
  });

  it('wait a second at most for what never comes', () => {
    const plan = sessionOf(shortStay('  - { wait: 200ms }\n'));
    const chat = chatHub(
      () => bench,
      () => 1000,
    );
    const hub: FakeHub = (call) => (call.target === 'SendMessage' ? [] : chat(call));
    const bench: SessionBench = new SessionBench(plan, hub);
    const { calls } = bench.run(2000, { drainMs: 1000 }).sample();
    assert.deepEqual([calls![1]!.expected, calls![1]!.received], [1, 0]);
    // Counted out 50 ms before it was to leave.
    assert.equal(Math.floor(bench.calls.at(-1)!.atUs / 10_000) * 10, 6150);
  });

  it('expect nothing where they leave as soon as they have joined', () => {
    const plan = sessionOf(shortStay(''));
    const bench = inChat(plan, () => 1000);
    const { calls } = bench.run(4000).sample();
    assert.deepEqual([calls![1]!.sent, calls![1]!.expected, calls![1]!.leaving], [2, 0, 2]);
  });

  for (const [what, joins, args] of [
    ['of a group that they join', true, `['{group}', '{text:60}']`],
    ['of a group that they are in', false, `['{group}', '{text:60}']`],
    ['of everyone', false, `['{text:60}']`],
  ] as const)
    it(`count others than the caller, ${what}`, () => {
      const join = `{ call: JoinRoom, arguments: ['{group}'] }, { wait: 100ms }, `;
      const plan = sessionPlan(
        `sessionInterval: 5s${args.includes('group') ? '\ngroupCount: 1' : ''}
steps: [${joins ? join : ''}{ call: SendMessage, arguments: ${args}, reply: callback, callback: Posted, receivers: others, answered: true }, { wait: 1100ms }]`,
        { connections: 3 },
      );
      let asked = 0;
      const hub: FakeHub = ({ id, index, target, args: given }) => {
        const answer = { afterUs: 1000, message: completion(id) };
        if (target === 'JoinRoom') return [answer];
        if (id !== undefined) asked += 1;
        // One is called back by its own call, as well.
        const others = [0, 1, 2].filter((to) => to !== index || index === 2);
        const message = { type: 1, target: 'Posted', arguments: given };
        return [...others.map((to) => ({ afterUs: 1000, to, message })), answer];
      };
      const bench = new SessionBench(plan, hub).run(10_000);
      const call = bench.sample().calls!.at(-1)!;
      // Sessions begin one after the other: when the first one writes, the others are not in the group yet.
      const expected = joins ? 0 + 1 + 2 + 3 * 2 : 6 * 2;
      assert.deepEqual([call.sent, call.expected, call.received], [6, expected, expected]);
      // That one, and whoever is not in the group.
      assert.deepEqual([asked, call.extra, call.leaving], [6, 2, joins ? 3 : 0]);
      assert.deepEqual(bench.errors, []);
    });
});
