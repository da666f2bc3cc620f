import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MessageRows } from '../../../../src/engine/send/messageShape';
import {
  answering,
  completion,
  SessionBench,
  sessionOf,
  sessionPlan,
  type FakeHub,
} from '../../../fakes/sessionBench';

const callsOf = (bench: SessionBench, index: number): string[] =>
  bench.calls
    .filter((call) => call.index === index)
    .map(({ target, atUs }) => `${target} ${(atUs - 5_000_000) / 1000}`);

describe('a session', () => {
  it('makes its calls by its schedule, rounds in their intervals, pauses behind what was before', () => {
    const plan = sessionOf(`sessionInterval: 10s
steps:
  - call: A
    reply: none
  - repeat: 2
    every: 2s
    steps: [{ call: B, reply: none }]
  - wait: 500ms
  - call: C
    reply: none`);
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
    const plan = sessionOf(`sessionInterval: 10s
steps:
  - call: A
  - wait: 1s
  - call: B`);
    const bench = new SessionBench(plan, answering(300_000)).run(10_000);
    assert.deepEqual(callsOf(bench, 0), ['A 0', 'B 1300']);
    const { calls, sessions } = bench.sample();
    for (const { latency, expected, received } of calls!) {
      assert.deepEqual([expected, received], [1, 1]);
      assert.deepEqual([latency!.minUs, latency!.maxUs], [300_000, 300_000]);
    }
    assert.equal(sessions!.duration!.maxUs, 1_600_000);
  });

  it('draws one of several sizes for each text, by weight and seed, and counts what it has drawn', () => {
    const written = `sessionInterval: 10ms
steps:
  - { call: First, keep: { last: '$' } }
  - call: A
    arguments: ['{text:60B 3, 200B 1}']
    reply: callback
    callback: Came
    receivers: others
  - { call: B, arguments: [7, '{text:10B, 30B}', '{text:100B-132B}', '{last}'] }`;
    const hub: FakeHub = ({ id, target, args, index }) => [
      ...(id === undefined ? [] : [{ afterUs: 10, message: completion(id, 'kept') }]),
      ...(target === 'A'
        ? [{ afterUs: 10, to: 1 - index, message: { type: 1, target: 'Came', arguments: args } }]
        : []),
    ];
    const sizes = (seed: number): { bench: SessionBench; sent: (readonly number[])[] } => {
      const bench = new SessionBench(sessionPlan(written, { connections: 2, seed }), hub);
      bench.run(2000, { drainMs: 100 });
      const sent = bench.calls.map(({ args }) => args.map((each) => String(each).length));
      return { bench, sent: sent.filter(({ length }) => length > 0) };
    };
    const { bench, sent } = sizes(1);
    assert.deepEqual(sizes(1).sent, sent);
    assert.notDeepEqual(sizes(2).sent, sent);
    const [a, b] = [1, 4].map((length) => sent.filter((each) => each.length === length));
    assert.equal(a!.length, 400);
    const large = a!.filter(([bytes]) => bytes === 200).length;
    // A quarter of 400, within four standard deviations.
    assert.ok(Math.abs(large - 100) <= 4 * Math.sqrt((400 * 3) / 16), `${large} of 400 are large`);
    assert.ok(a!.every(([bytes]) => bytes === 60 || bytes === 200));
    assert.deepEqual(new Set(b!.map(([, bytes]) => bytes)), new Set([10, 30]));
    assert.equal(new Set(b!.map(([, , bytes]) => bytes)).size, 16);
    const [, ofA, ofB] = bench.sample().calls!;
    const bytes = (all: readonly (readonly number[])[], envelope: number): number =>
      all.reduce((sum, args) => sum + envelope + args.reduce((one, each) => one + each, 0), 0);
    // The brackets, commas and quotes of JSON.
    assert.equal(ofA!.payloadBytesIn, bytes(a!, 4));
    assert.equal(ofA!.payloadBytesOut, ofA!.payloadBytesIn);
    assert.equal(ofB!.payloadBytesIn, bytes(b!, 11));
  });

  it('keeps its due time where the one before is still going on', () => {
    const plan = sessionOf('sessionInterval: 1s\nsteps: [{ call: A }]');
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
    const plan = sessionOf('sessionInterval: 1s\nsteps: [{ call: A }]');
    const bench = new SessionBench(plan, () => []).run(3000, { drainMs: 1000 });
    const { sent, offered, expected, received, sessions } = bench.sample();
    assert.deepEqual([sent, offered, expected, received], [1, 1, 3, 0]);
    assert.deepEqual([sessions!.started, sessions!.completed, sessions!.brokenOff], [3, 0, 0]);
    assert.equal(sessions!.waiting, 2);
  });

  for (const [what, first, brings] of [
    ['waits for no answer', 'call: A, reply: none', 0],
    ['is called back', 'call: A, reply: callback, callback: Came, arguments: ["{text:60B}"]', 1],
    ['is a stream', 'stream: A, items: 4', 4],
    [
      'is called back elsewhere',
      'call: A, reply: callback, callback: Came, receivers: others, arguments: ["{text:60B}"]',
      0,
    ],
    ['is a pause', 'wait: 1ms', 0],
  ] as const)
    it(`counts a session that never gets its turn and whose first step ${what}`, () => {
      const plan = sessionOf(`sessionInterval: 1s\nsteps: [{ ${first} }, { call: B }]`);
      const bench = new SessionBench(plan, () => []).run(3000, { drainMs: 1000 });
      const { sessions, calls } = bench.sample();
      assert.deepEqual(
        [sessions!.started, sessions!.completed, sessions!.brokenOff, sessions!.waiting],
        [3, 0, 0, 2],
      );
      if (!what.includes('pause')) assert.equal(calls![0]!.expected, 3 * brings);
    });

  it('counts those that wait no more when they have had their turn, or their connection is gone', () => {
    const plan = sessionOf('sessionInterval: 1s\nsteps: [{ call: A, reply: none }, { call: B }]');
    let calls = 0;
    const hub: FakeHub = ({ id }) =>
      id === undefined
        ? []
        : [{ afterUs: calls++ === 0 ? 2_500_000 : 1000, message: completion(id) }];
    const { sessions } = new SessionBench(plan, hub).run(3000).sample();
    assert.deepEqual([sessions!.started, sessions!.completed, sessions!.waiting], [3, 3, 0]);
    const silent: SessionBench = new SessionBench(plan, () => []);
    silent.reply(8_500_000, 0, () => silent.sender.lost!(0));
    const { sessions: lost } = silent.run(4000).sample();
    assert.deepEqual([lost!.started, lost!.brokenOff, lost!.waiting], [4, 4, 0]);
  });

  it('counts its arguments as long as they are, whatever the names of groups', () => {
    const plan = sessionPlan(
      `sessionInterval: 1s
groupCount: 12
steps:
  - { call: Join, arguments: ['{group}'], reply: none, group: none }
  - { call: Say, arguments: ['in {group}', { of: '{senderIndex}', at: '{time}' }, '{text:60B}'], reply: none }`,
      { connections: 12, runId: 0x1f },
    );
    const bench = new SessionBench(plan, () => []).run(2000);
    assert.equal(bench.calls.length, 48);
    const bytes = bench.calls.map(({ args }) => JSON.stringify(args).length);
    assert.equal(
      bench.sample().payloadBytesIn,
      bytes.reduce((sum, each) => sum + each, 0),
    );
  });

  it('expects no answer of a session that waited for its turn and then had nobody to call', () => {
    const plan = sessionOf('sessionInterval: 1s\nsteps: [{ call: A }]');
    const bench: SessionBench = new SessionBench(plan, ({ id, index }) => {
      bench.reply(bench.nowUs + 2_500_000, index, () => {
        bench.connections[0]!.isOpen = false;
        bench.sender.completed!(
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
    const plan = sessionOf(`sessionInterval: 1s
steps: [{ call: A }, { call: B }, { call: C }]`);
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
    const plan = sessionOf('sessionInterval: 5s\nsteps: [{ call: A, within: 2s }]');
    const bench = new SessionBench(plan, () => []).run(5000);
    const { sessions, errors, expected } = bench.sample();
    assert.deepEqual([sessions!.brokenOff, errors.timeout, expected], [1, 1, 1]);
    assert.deepEqual(bench.errors, ['timeout: A: no answer within 2 s']);
  });

  it('writes what it has kept into later calls, as it came', () => {
    const plan = sessionOf(`sessionInterval: 5s
steps:
  - call: Get
    keep: { id: '$[0].id', all: '$', name: '$[0].name' }
  - call: Use
    arguments: ['{id}', 'is {id}', { deep: ['{all}'] }, '{name}']`);
    const answer = [{ id: 7, name: '{text:1KB} "quoted"' }];
    const bench = new SessionBench(plan, answering(1000, answer)).run(5000);
    const { args } = bench.calls.find(({ target }) => target === 'Use')!;
    assert.deepEqual(args, [7, 'is 7', { deep: [answer] }, '{text:1KB} "quoted"']);
  });

  it('takes one of the rows that are shared, for all its calls', () => {
    const plan = sessionOf(`sessionInterval: 2s
steps:
  - { call: Look }
  - { call: Order, arguments: ['{data.id}'] }
  - { repeat: 2, steps: [{ call: Pay, arguments: ['{data.id}', '{data.price}'], reply: none }] }`);
    const data = {
      rows: [
        { id: 'a', price: 1 },
        { id: 'b', price: 2 },
        { id: 'c', price: 3 },
      ],
      shared: true,
    };
    const own = { valuesOf: () => undefined, dataOf: () => undefined };
    const rows = new MessageRows(own, data, plan, 0);
    const bench = new SessionBench(plan, answering(1000), 0, rows).run(8000);
    const session = (id: string, price: number): unknown[][] => [
      ['Look'],
      ['Order', id],
      ['Pay', id, price],
      ['Pay', id, price],
    ];
    assert.deepEqual(
      bench.calls.map(({ target, args }) => [target, ...args]),
      [...session('a', 1), ...session('b', 2), ...session('c', 3), ...session('a', 1)],
    );
  });

  it('says at which call a value was missing, and breaks off there', () => {
    const plan = sessionOf(`sessionInterval: 5s
steps: [{ call: GetHistory, keep: { last: '$[0].id' } }, { call: Acknowledge, arguments: ['{last}'] }]`);
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
    const plan = sessionOf(`sessionInterval: 1s
steps:
  - call: Get
    keep: { state: '$' }
  - if: state
    equals: open
    steps: [{ call: Open, reply: none }]
    else:
      - if: state
        steps: [{ call: Other, reply: none }]
        else: [{ call: None, reply: none }]`);
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
        return new SessionBench(plan, () => [], worker).run(400).calls;
      })
        .flat()
        .map(({ index, target, atUs }) => `${index} ${atUs} ${target}`)
        .sort();
    const all = chosen(1);
    assert.equal(all.length, 800);
    const often = all.filter((call) => call.endsWith('Often')).length;
    // Four standard deviations of a binomial distribution.
    assert.ok(Math.abs(often - 600) <= 4 * Math.sqrt(800 * 0.75 * 0.25), String(often));
    assert.deepEqual(chosen(2), all);
  });

  it('waits for what the hub calls, also where that came with the call before', () => {
    const plan = sessionOf(`sessionInterval: 10s
steps:
  - call: Start
  - on: Ready
    within: 2s
    keep: { ticket: '$[0]' }
  - call: Use
    arguments: ['{ticket}']
    reply: none
  - on: Done
    within: 3s`);
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
    const plan = sessionOf(
      'sessionInterval: 10s\nsteps: [{ call: Start }, { on: Ready }, { on: Ready }]',
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
    const twice = sessionOf(
      'sessionInterval: 5s\nsteps: [{ call: Start }, { on: Ready, within: 20s }]',
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

  it('is broken off where its connection goes, and none begins until that is back', () => {
    const plan = sessionOf(
      'sessionInterval: 1s\nsteps: [{ call: A }, { wait: 500ms }, { call: B }]',
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
      { numRuns: 20 },
    );
  });
});
