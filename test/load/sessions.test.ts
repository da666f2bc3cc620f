import assert from 'node:assert/strict';
import { startBenchHub, type BenchHub } from '../../src/servers/hub/benchHub';
import {
  assertConsistent,
  assertUndisturbed,
  loadRun,
  missedBy,
  onlyStep,
  type LoadTest,
} from './loadRun';

const connections = 20;

const chat = [
  { call: 'JoinRoom', arguments: ['{group}'] },
  {
    repeat: 3,
    every: '100ms',
    steps: [
      {
        call: 'SendMessage',
        arguments: ['{group}', { author: '{senderIndex}', text: '{text:100B}' }],
        ...{ reply: 'callback', callback: 'MessagePosted', receivers: 'group' },
      },
    ],
  },
  { call: 'GetHistory', arguments: ['{group}', 5], keep: { last: '$[0].id' } },
  { call: 'Acknowledge', arguments: ['{last}'] },
  { wait: '200ms' },
  { call: 'LeaveRoom', arguments: ['{group}'] },
];

describe('sessions, on the embedded hub', function () {
  this.timeout(60_000);
  let hub: BenchHub;

  before(async () => {
    hub = await startBenchHub({ port: 0 });
  });
  after(() => hub.dispose());

  it('make every call that is due, and lose nothing of what members of a group are sent', async () => {
    const before: BenchHub['counts'] = { ...hub.counts };
    const result = await loadRun({
      target: hub.url,
      useCase: 'session',
      parameters: {
        ...{ messageSize: undefined, sendingInterval: undefined },
        ...{ sessionInterval: '800ms', groupCount: 4, steps: chat },
      },
      config: { connections, singleStepDuration: '2400ms', warmup: 0 },
      workers: 2,
    });
    assert.deepEqual(missedBy(result), []);
    assertConsistent(result);
    const step = onlyStep(result);
    const { calls = [], sessions } = step;
    const names = ['JoinRoom', 'SendMessage', 'GetHistory', 'Acknowledge', 'LeaveRoom'];
    assert.deepEqual(
      calls.map(({ name }) => name),
      names,
    );
    // Every sender begins one each interval; the last ones are still going on at the end.
    assert.equal(sessions!.started, 3 * connections);
    assert.equal(sessions!.brokenOff, 0);
    assert.ok(sessions!.completed >= connections);
    const [join, send, history] = calls;
    assert.deepEqual([join!.sent, join!.expected, join!.lost], [60, 60, 0]);
    assert.ok(send!.sent >= 3 * connections && history!.sent >= connections);
    assert.ok(send!.expected > send!.sent);
    assert.deepEqual([step.lost, step.duplicated, step.errors], [0, 0, {}]);
    const sum = (of: (call: (typeof calls)[number]) => number): number =>
      calls.reduce((total, call) => total + of(call), 0);
    assert.equal(
      sum(({ sent }) => sent),
      step.sent,
    );
    assert.equal(
      sum(({ expected }) => expected),
      step.expected,
    );
    // What the hub itself has counted.
    assert.equal(hub.counts.invocations - before.invocations, step.sent);
    const posted = hub.counts.deliveries - before.deliveries;
    assert.equal(send!.received + step.leaving!, posted);
    assert.equal(step.extra, 0);
  });

  /** Four kinds in the same groups, each of which hears what the others say. */
  async function meet(where: Pick<LoadTest, 'workers' | 'processes'>): Promise<void> {
    const { deliveries } = hub.counts;
    const join = { call: 'JoinRoom', arguments: ['{group}'] };
    const leave = { call: 'LeaveRoom', arguments: ['{group}'] };
    const post = {
      ...{ call: 'SendMessage', arguments: ['{group}', { text: '{text:60B}' }] },
      ...{ reply: 'callback', callback: 'MessagePosted', receivers: 'group' },
    };
    const kinds = {
      chatting: [join, { repeat: 3, every: '50ms', steps: [post] }, leave],
      listening: [join, { on: 'MessagePosted' }, { wait: '50ms' }, leave],
      // Never expected to hear anything, since it leaves at once.
      hasty: [
        join,
        { on: 'MessagePosted', keep: { id: '$[0].id' } },
        { call: 'Acknowledge', arguments: ['{id}'] },
        leave,
      ],
      // Without being there.
      announcing: [post],
    };
    const none = { messageSize: undefined, sendingInterval: undefined };
    const result = await loadRun({
      target: hub.url,
      entries: Object.values(kinds).map((steps) => ({
        name: 'session',
        parameters: {
          ...{ ...none, sessionInterval: '400ms', groupCount: 3, sharedGroups: 'rooms' },
          steps,
        },
      })),
      config: { connections: 40, singleStepDuration: '1600ms', warmup: 0 },
      ...where,
    });
    assertUndisturbed(result);
    const step = onlyStep(result);
    const [, listening, hasty, announcing] = step.entries!;
    assert.deepEqual([step.lost, step.duplicated], [0, 0]);
    // Nobody posts in rooms of listeners but others; each message is expected at members of both kinds.
    assert.equal(listening!.sessions!.brokenOff, 0);
    for (const kind of [listening, hasty]) assert.ok(kind!.sessions!.completed > 0);
    assert.equal(announcing!.sent, 40);
    assert.ok(announcing!.expected > 0);
    const posts = step.calls!.filter(({ name }) => name.startsWith('SendMessage'));
    const received = posts.reduce((sum, call) => sum + call.received, 0);
    assert.equal(received + step.leaving!, hub.counts.deliveries - deliveries);
    assert.equal(step.extra, 0);
    for (const key of ['started', 'completed', 'brokenOff'] as const) {
      const each = step.entries!.map(({ sessions }) => sessions![key]);
      assert.equal(
        each.reduce((sum, count) => sum + count, 0),
        step.sessions![key],
      );
      // Each of 10 senders begins one every 400 ms.
      if (key === 'started') assert.deepEqual(each, [40, 40, 40, 40]);
    }
  }

  it('of several kinds are in the same groups, and each hears what the others say', () =>
    meet({ workers: 2 }));

  it('are in the same groups where they run in several processes, and count as exactly', () =>
    meet({ processes: 2 }));
});
