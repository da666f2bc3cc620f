import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  answering,
  completion,
  SessionBench,
  sessionPlan,
  type FakeHub,
} from '../../../fakes/sessionBench';

const callsOf = (bench: SessionBench, index: number): string[] =>
  bench.calls
    .filter((call) => call.index === index)
    .map(({ target, atUs }) => `${target} ${(atUs - 5_000_000) / 1000}`);

const one = { connections: 1 };

describe('a session', () => {
  it('makes its calls by its schedule, rounds in their intervals, pauses behind what was before', () => {
    const plan = sessionPlan(
      `sessionInterval: 10s
steps:
  - call: A
    reply: none
  - repeat: 2
    every: 2s
    steps: [{ call: B, reply: none }]
  - wait: 500ms
  - call: C
    reply: none`,
      one,
    );
    const bench = new SessionBench(plan, () => []).run(20_000);
    const round = ['A 0', 'B 0', 'B 2000', 'C 4500'];
    assert.deepEqual(callsOf(bench, 0), [...round, 'A 10000', 'B 10000', 'B 12000', 'C 14500']);
    const { sent, offered, expected, sessions, calls } = bench.sample();
    assert.deepEqual([sent, offered, expected], [8, 8, 0]);
    assert.deepEqual([sessions!.started, sessions!.completed], [2, 2]);
    assert.deepEqual(
      calls!.map((call) => call.sent),
      [2, 4, 2],
    );
  });

  it('makes a call that follows an answer when that has come, and counts latency from then', () => {
    const plan = sessionPlan(
      `sessionInterval: 10s
steps:
  - call: A
  - wait: 1s
  - call: B`,
      one,
    );
    const bench = new SessionBench(plan, answering(300_000)).run(10_000);
    assert.deepEqual(callsOf(bench, 0), ['A 0', 'B 1300']);
    const { calls, sessions } = bench.sample();
    for (const { latency, expected, received } of calls!) {
      assert.deepEqual([expected, received], [1, 1]);
      assert.deepEqual([latency!.minUs, latency!.maxUs], [300_000, 300_000]);
    }
    assert.equal(sessions!.duration!.maxUs, 1_600_000);
  });

  it('keeps its due time where the one before is still going on', () => {
    const plan = sessionPlan('sessionInterval: 1s\nsteps: [{ call: A }]', one);
    let calls = 0;
    // The first answer takes 2.5 s, so that two sessions wait.
    const hub: FakeHub = ({ id }) => [
      { afterUs: calls++ === 0 ? 2_500_000 : 100_000, message: completion(id) },
    ];
    const bench = new SessionBench(plan, hub).run(4000, { drainMs: 1000 });
    assert.deepEqual(callsOf(bench, 0), ['A 0', 'A 2500', 'A 2600', 'A 3000']);
    const { expected, received, latency, sessions } = bench.sample();
    assert.deepEqual([expected, received, sessions!.completed], [4, 4, 4]);
    // 2.5 s, 1.6 s from 1 s on, 0.7 s from 2 s on, 0.1 s.
    assert.deepEqual(
      [latency!.minUs, latency!.maxUs, latency!.sumUs],
      [100_000, 2_500_000, 4_900_000],
    );
  });

  it('expects the answer of a session that never gets its turn', () => {
    const plan = sessionPlan('sessionInterval: 1s\nsteps: [{ call: A }]', one);
    const bench = new SessionBench(plan, () => []).run(3000, { drainMs: 1000 });
    const { sent, offered, expected, received, sessions } = bench.sample();
    assert.deepEqual([sent, offered, expected, received], [1, 1, 3, 0]);
    assert.deepEqual([sessions!.started, sessions!.completed, sessions!.brokenOff], [3, 0, 0]);
  });

  it('expects no answer of a session that waited for its turn and then had nobody to call', () => {
    const plan = sessionPlan('sessionInterval: 1s\nsteps: [{ call: A }]', one);
    const bench: SessionBench = new SessionBench(plan, ({ id, index }) => {
      bench.reply(bench.nowUs + 2_500_000, index, () => {
        bench.connections[0]!.isOpen = false;
        bench.sender.completed(
          bench.connections[0]!.asHub,
          { type: 3, invocationId: id!, error: 'gone' },
          bench.nowUs,
        );
      });
      return [];
    });
    const { expected, received, sessions } = bench.run(3000).sample();
    assert.deepEqual([expected, received], [1, 0]);
    assert.deepEqual([sessions!.started, sessions!.brokenOff], [3, 3]);
  });

  it('breaks off at a call that fails, and begins anew when the next is due', () => {
    const plan = sessionPlan(
      `sessionInterval: 1s
steps: [{ call: A }, { call: B }, { call: C }]`,
      one,
    );
    const hub: FakeHub = ({ id, target }) => [
      {
        afterUs: 1000,
        message:
          target === 'B' ? { type: 3, invocationId: id, error: 'B is busy' } : completion(id),
      },
    ];
    const bench = new SessionBench(plan, hub).run(2000);
    assert.deepEqual(callsOf(bench, 0), ['A 0', 'B 1', 'A 1000', 'B 1001']);
    const { calls, sessions, errors } = bench.sample();
    assert.deepEqual(
      calls!.map(({ expected, received, brokenOff, errors: own }) => [
        ...[expected, received, brokenOff, own.invocation],
      ]),
      [
        [2, 2, 0, undefined],
        [2, 0, 2, 2],
        [0, 0, 0, undefined],
      ],
    );
    assert.deepEqual([sessions!.completed, sessions!.brokenOff, errors.invocation], [0, 2, 2]);
    assert.deepEqual(bench.errors, ['invocation: B is busy']);
    assert.deepEqual(
      calls!.map(({ errorText }) => errorText),
      [undefined, 'B is busy', undefined],
    );
  });

  it('breaks off when an answer does not come in time', () => {
    const plan = sessionPlan('sessionInterval: 5s\nsteps: [{ call: A, within: 2s }]', one);
    const bench = new SessionBench(plan, () => []).run(5000);
    const { sessions, errors, expected } = bench.sample();
    assert.deepEqual([sessions!.brokenOff, errors.timeout, expected], [1, 1, 1]);
    assert.deepEqual(bench.errors, ['timeout: A: no answer within 2 s']);
  });

  it('writes what it has kept into later calls, as it came', () => {
    const plan = sessionPlan(
      `sessionInterval: 5s
steps:
  - call: Get
    keep: { id: '$[0].id', all: '$', name: '$[0].name' }
  - call: Use
    arguments: ['{id}', 'is {id}', { deep: ['{all}'] }, '{name}']`,
      one,
    );
    const answer = [{ id: 7, name: '{text:1KB} "quoted"' }];
    const bench = new SessionBench(plan, answering(1000, answer)).run(5000);
    const { args } = bench.calls.find(({ target }) => target === 'Use')!;
    assert.deepEqual(args, [7, 'is 7', { deep: [answer] }, '{text:1KB} "quoted"']);
  });

  it('says at which call a value was missing, and breaks off there', () => {
    const plan = sessionPlan(
      `sessionInterval: 5s
steps: [{ call: GetHistory, keep: { last: '$[0].id' } }, { call: Acknowledge, arguments: ['{last}'] }]`,
      one,
    );
    const bench = new SessionBench(plan, answering(1000, [])).run(5000);
    const { calls, sessions, errors } = bench.sample();
    assert.deepEqual([sessions!.brokenOff, calls![1]!.brokenOff, calls![1]!.sent], [1, 1, 0]);
    assert.deepEqual(errors, { noValue: 1 });
    assert.match(
      bench.errors[0]!,
      /^noValue: Acknowledge needs \{last\}.* \$\[0\]\.id of GetHistory found nothing/,
    );
  });

  it('goes the way that a kept value says', () => {
    const plan = sessionPlan(
      `sessionInterval: 1s
steps:
  - call: Get
    keep: { state: '$' }
  - if: state
    equals: open
    steps: [{ call: Open, reply: none }]
    else:
      - if: state
        steps: [{ call: Other, reply: none }]
        else: [{ call: None, reply: none }]`,
      one,
    );
    const states = ['open', 'shut', ''];
    let at = 0;
    const hub: FakeHub = ({ id, target }) =>
      target === 'Get' ? [{ afterUs: 1000, message: completion(id, states[at++ % 3]) }] : [];
    const bench = new SessionBench(plan, hub).run(3000);
    const went = bench.calls.map(({ target }) => target).filter((target) => target !== 'Get');
    assert.deepEqual(went, ['Open', 'Other', 'None']);
  });

  it('chooses by weights, the same whoever works at it', () => {
    const steps = `sessionInterval: 10ms
steps:
  - choose:
      - weight: 3
        steps: [{ call: Often, reply: none }]
      - steps: [{ call: Seldom, reply: none }]`;
    const chosen = (workers: number): string[] =>
      Array.from({ length: workers }, (_, worker) => {
        const plan = sessionPlan(steps, { connections: 20 }, workers);
        return new SessionBench(plan, () => [], worker).run(1000).calls;
      })
        .flat()
        .map(({ index, target, atUs }) => `${index} ${atUs} ${target}`)
        .sort();
    const all = chosen(1);
    assert.equal(all.length, 2000);
    const often = all.filter((call) => call.endsWith('Often')).length;
    // Four standard deviations of a binomial distribution.
    assert.ok(Math.abs(often - 1500) <= 4 * Math.sqrt(2000 * 0.75 * 0.25), String(often));
    assert.deepEqual(chosen(2), all);
  });

  it('waits for what the hub calls, also where that came with the call before', () => {
    const plan = sessionPlan(
      `sessionInterval: 10s
steps:
  - call: Start
  - on: Ready
    within: 2s
    keep: { ticket: '$[0]' }
  - call: Use
    arguments: ['{ticket}']
    reply: none
  - on: Done
    within: 3s`,
      one,
    );
    const hub: FakeHub = ({ id, target }) =>
      target === 'Start'
        ? [
            { afterUs: 1000, message: { type: 1, target: 'ready', arguments: ['t1'] } },
            { afterUs: 2000, message: completion(id) },
          ]
        : [{ afterUs: 500_000, message: { type: 1, target: 'Done', arguments: [] } }];
    const bench = new SessionBench(plan, hub).run(10_000);
    assert.deepEqual(
      bench.calls.map(({ target, args }) => [target, ...args]),
      [['Start'], ['Use', 't1']],
    );
    const { calls, sessions } = bench.sample();
    assert.deepEqual(
      calls!.map(({ expected, received, latency }) => [expected, received, latency?.maxUs]),
      [
        [1, 1, 2000],
        [1, 1, 0],
        [0, 0, undefined],
        [1, 1, 500_000],
      ],
    );
    assert.equal(sessions!.completed, 1);
    const silent = new SessionBench(plan, ({ id }) => [
      { afterUs: 1, message: completion(id) },
    ]).run(10_000);
    assert.equal(silent.sample().calls![1]!.brokenOff, 1);
    assert.deepEqual(silent.errors, ['timeout: Ready: the hub did not call it within 2 s']);
  });

  it('counts no event that is still waited for when the step ends, unless that is too long', () => {
    const plan = sessionPlan(
      'sessionInterval: 10s\nsteps: [{ call: Start }, { on: Ready }, { on: Ready }]',
      one,
    );
    const hub =
      (...afterUs: readonly number[]): FakeHub =>
      ({ id }) => [
        { afterUs: 1, message: completion(id) },
        ...afterUs.map((us) => ({
          ...{ afterUs: us, message: { type: 1, target: 'Ready', arguments: [] } },
        })),
      ];
    const eventsOf = (step: SessionBench): (readonly number[])[] => {
      const { calls, sessions } = step.sample();
      assert.deepEqual([sessions!.brokenOff, sessions!.completed], [0, 0]);
      return calls!.slice(1).map(({ expected, received }) => [expected, received]);
    };
    // None of the kind has come: it may never do.
    assert.deepEqual(eventsOf(new SessionBench(plan, hub(2_900_000)).run(10_000)), [
      [1, 1],
      [1, 0],
    ]);
    assert.deepEqual(eventsOf(new SessionBench(plan, hub()).run(10_000)), [
      [1, 0],
      [0, 0],
    ]);
    const twice = sessionPlan(
      'sessionInterval: 5s\nsteps: [{ call: Start }, { on: Ready, within: 20s }]',
      one,
    );
    const started: number[] = [];
    let wayUs = 0;
    const once: FakeHub = (call) => (started.push(call.index) === 1 ? hub(wayUs) : hub())(call);
    for (const [way, expected] of [
      [2_000_000, 2],
      [3_000_000, 1],
    ] as const) {
      wayUs = way;
      started.length = 0;
      const bench = new SessionBench(twice, once).run(10_000);
      const { calls, sessions } = bench.sample();
      assert.deepEqual([calls![1]!.expected, calls![1]!.received], [expected, 1]);
      assert.deepEqual([sessions!.started, sessions!.completed, sessions!.brokenOff], [2, 1, 0]);
    }
  });

  it('counts the items of a stream, and breaks off when there are too few', () => {
    const plan = sessionPlan('sessionInterval: 2s\nsteps: [{ stream: Count, items: 3 }]', one);
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

  it('is broken off where its connection goes, and none begins until that is back', () => {
    const plan = sessionPlan(
      'sessionInterval: 1s\nsteps: [{ call: A }, { wait: 500ms }, { call: B }]',
      one,
    );
    const hub: FakeHub = (call) => answering(1000)(call);
    const bench = new SessionBench(plan, hub);
    bench.connections[0]!.send = function send(frame) {
      this.frames.push(Buffer.from(frame));
      if (this.frames.length === 3) this.isOpen = false;
      return true;
    };
    const { sessions, calls } = bench.run(4000).sample();
    assert.deepEqual([sessions!.started, sessions!.completed], [2, 1]);
    assert.equal(calls![0]!.sent, 2);
  });

  it('measures nothing of its warm-up', () => {
    const plan = sessionPlan('sessionInterval: 1s\nsteps: [{ call: A }]', one);
    const { sent, received, sessions } = new SessionBench(plan, answering(1000))
      .run(2000, { warmupMs: 3000 })
      .sample();
    assert.deepEqual([sent, received, sessions!.started], [2, 2, 2]);
  });
});

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
    const hub = chatHub(
      () => bench,
      () => 2000,
    );
    const bench: SessionBench = new SessionBench(plan, hub);
    bench.run(30_000, { drainMs: 1000 });
    const { expected, received, duplicated, outOfOrder, calls } = bench.sample();
    assert.equal(received, expected);
    assert.deepEqual([duplicated, outOfOrder], [0, 0]);
    const [, send] = calls!;
    assert.ok(send!.expected > send!.sent, 'others than the sender are members');
    assert.ok(send!.extra > 0, 'those that are joining or leaving get some as well');
  });

  it('take as long as their pauses, whatever comes right before the call that leaves', () => {
    const plan = sessionPlan(
      `sessionInterval: 2s
groupCount: 1
steps:
  - { call: JoinRoom, arguments: ['{group}'] }
  - { call: SendMessage, arguments: ['{group}', '{text:60}'], reply: callback, callback: Posted, receivers: group }
  - { wait: 1300ms }
  - { call: GetHistory }
  - { wait: 500ms }
  - { call: LeaveRoom, arguments: ['{group}'] }`,
      one,
    );
    const hub = chatHub(
      () => bench,
      () => 1000,
    );
    const bench: SessionBench = new SessionBench(plan, hub);
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
        (waysMs, { rounds, every, first, last }, mayStay) => {
          const leave = `{ call: LeaveRoom, arguments: ['{group}'] }`;
          const post = `{ call: SendMessage, arguments: ['{group}', '{text:60}'], reply: callback, callback: Posted, receivers: group }`;
          const plan = sessionPlan(
            `sessionInterval: 5s
groupCount: 1
steps:
  - { call: JoinRoom, arguments: ['{group}'] }
  - repeat: ${rounds}
    every: ${every}ms
    steps:
      - ${post}
      - choose: [${mayStay ? `{ steps: [${leave}] }, ` : ''}{ steps: [{ call: GetHistory }] }]
  - { wait: ${first}ms }
  - ${post}
  - { wait: ${last}ms }
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
        numRuns: 40,
        examples: [[[1, 211, 525, 1], { rounds: 2, every: 1, first: 996, last: 5 }, true]],
      },
    );
    assert.ok(deliveries > 1000 && left > 100, `${deliveries} deliveries, ${left} left`);
  });

  const shortStay = (wait: string): string => `sessionInterval: 2s
groupCount: 1
steps:
  - { call: JoinRoom, arguments: ['{group}'] }
  - { call: SendMessage, arguments: ['{group}', '{text:60}'], reply: callback, callback: Posted, receivers: group }
${wait}  - { call: LeaveRoom, arguments: ['{group}'] }`;

  it('are members however short they stay, and leave when what was meant for them has come', () => {
    const plan = sessionPlan(shortStay('  - { wait: 200ms }\n'), one);
    let wayUs = 1000;
    const hub = chatHub(
      () => bench,
      () => wayUs,
    );
    const bench: SessionBench = new SessionBench(plan, hub);
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
    const plan = sessionPlan(shortStay('  - { wait: 200ms }\n'), one);
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
    const plan = sessionPlan(shortStay(''), one);
    const hub = chatHub(
      () => bench,
      () => 1000,
    );
    const bench: SessionBench = new SessionBench(plan, hub);
    const { calls } = bench.run(4000).sample();
    assert.deepEqual([calls![1]!.sent, calls![1]!.expected, calls![1]!.extra], [2, 0, 2]);
  });
});

describe('what sessions count', () => {
  it('adds up, whatever the hub does', () => {
    const outcome = fc.constantFrom('answer', 'error', 'nothing', 'late');
    fc.assert(
      fc.property(
        fc.array(outcome, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 0, max: 1500 }),
        (outcomes, connections, warmupMs) => {
          const plan = sessionPlan(
            `sessionInterval: 700ms
steps:
  - { call: A, within: 400ms, keep: { x: '$.x' } }
  - repeat: 2
    steps: [{ call: B, reply: callback, callback: B, arguments: ['{text:60}'] }]
  - choose:
      - steps: [{ call: C, within: 300ms }]
      - steps: [{ wait: 100ms }, { call: D, arguments: ['{x}'] }]`,
            { connections },
          );
          let at = 0;
          const hub: FakeHub = ({ id, target, args }) => {
            const done = outcomes[at++ % outcomes.length];
            const called = { type: 1, target: 'B', arguments: args };
            if (target === 'B')
              return done === 'answer' ? [{ afterUs: 1000, message: called }] : [];
            if (done === 'nothing') return [];
            const error = { type: 3, invocationId: id, error: 'no' };
            const message = done === 'error' ? error : completion(id, { x: at });
            return [{ afterUs: done === 'late' ? 500_000 : 1000, message }];
          };
          const bench = new SessionBench(plan, hub).run(3000, { warmupMs, drainMs: 1000 });
          const sample = bench.sample() as ReturnType<SessionBench['sample']> | undefined;
          if (sample === undefined) return;
          const { calls = [], sessions, errors } = sample;
          const sum = (of: (call: (typeof calls)[number]) => number): number =>
            calls.reduce((total, call) => total + of(call), 0);
          for (const name of ['offered', 'sent', 'expected', 'received', 'payloadBytesIn'] as const)
            assert.equal(
              sum((call) => call[name]),
              sample[name],
              name,
            );
          for (const call of calls) assert.ok(call.received <= call.expected);
          if (sessions === undefined) return;
          const { started, completed, brokenOff } = sessions;
          assert.ok(completed + brokenOff <= started);
          assert.ok(started - completed - brokenOff <= 4 * connections + 3);
          assert.equal(
            sum((call) => call.brokenOff),
            brokenOff,
          );
          const own = sum((call) => Object.values(call.errors).reduce((a, b) => a + b, 0));
          assert.equal(
            own,
            Object.values(errors).reduce((a, b) => a + b, 0),
          );
        },
      ),
      { numRuns: 60 },
    );
  });
});
