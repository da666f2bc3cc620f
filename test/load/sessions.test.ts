import assert from 'node:assert/strict';
import { startBenchHub, type BenchHub } from '../../src/servers/hub/benchHub';
import { assertConsistent, loadRun, onlyStep } from './loadRun';

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
    assert.equal(result.verdict.status, 'pass', JSON.stringify(result.verdict));
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
    assert.equal(send!.received + step.extra, posted);
  });

  it('say at which call they break off, and why', async () => {
    const result = await loadRun({
      target: hub.url,
      useCase: 'session',
      parameters: {
        ...{ messageSize: undefined, sendingInterval: undefined, sessionInterval: '100ms' },
        steps: [
          { call: 'GetHistory', arguments: ['empty', 1], keep: { last: '$[0].id' } },
          { call: 'Acknowledge', arguments: ['{last}'] },
        ],
      },
      config: { connections, singleStepDuration: '300ms', warmup: 0 },
    });
    const { calls, sessions, errors } = onlyStep(result);
    assert.equal(sessions!.started, 3 * connections);
    assert.deepEqual(sessions!.brokenOffAt, { Acknowledge: sessions!.brokenOff });
    assert.equal(calls![1]!.sent, 0);
    assert.deepEqual(errors, { noValue: sessions!.brokenOff });
    assert.match(result.errorExamples[0]!.text, /^Acknowledge needs \{last\}/);
  });
});
