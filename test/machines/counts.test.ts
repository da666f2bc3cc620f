import assert from 'node:assert/strict';
import type { Result } from '../../src/results/result';
import { bothEmulators } from '../load/bothEmulators';
import { assertExact, assertUndisturbed, onlyStep } from '../load/loadRun';
import { AgentsOnBus } from './agentsOnBus';
import { assertEachExact, mixOf, useCasesOf } from './useCases';

const connections = 60;
function assertDone(result: Result): void {
  const { agents = [] } = result;
  assert.deepEqual(
    agents.map(({ index, status, clockErrorUs }) => [index, status, clockErrorUs]),
    [1, 2, 3].map((index) => [index, 'done', 0]),
  );
  const received = agents.map(({ lastStep }) => lastStep?.received ?? 0);
  assert.equal(
    received.reduce((sum, each) => sum + each, 0),
    onlyStep(result).received,
  );
}

describe('exact counts of three agents', () => {
  const connectionStrings = bothEmulators();
  let cluster: AgentsOnBus;

  before(async () => {
    const { signalr } = connectionStrings;
    cluster = await AgentsOnBus.start('', { SIGNALR_BENCH_SECRET_SERVICE: signalr });
  });
  after(() => cluster.dispose());

  it('of every use case of hubs', async () => {
    const cases = useCasesOf(connections);
    const result = await cluster.result(3, mixOf(cases, connections));
    assertUndisturbed(result);
    assertEachExact(result, cases);
    assertDone(result);
  });

  it('of every use case of the REST API of a service, and of its server connections', async () => {
    const groups = { groupCount: 4 };
    const cases = ['rest', 'restPersist'].flatMap((kind) => [
      { name: `${kind}SendToUser`, receivers: 1 },
      { name: `${kind}SendToGroup`, parameters: groups, receivers: connections / 4 },
      { name: `${kind}Broadcast`, receivers: connections },
    ]);
    const { config, ...mix } = mixOf(cases, connections);
    const result = await cluster.result(3, {
      ...mix,
      target: '${secret:service}',
      config: { ...config, service: 'signalr', skipNegotiation: false },
    });
    // HTTP requests side by side keep no order.
    assertEachExact(result, cases, { outOfOrder: 0 });
    assertDone(result);
  });

  it('of connections that send nothing', async () => {
    const result = await cluster.result(3, {
      useCase: 'connectOnly',
      config: { connections: 20, workers: 1 },
    });
    const { requested, connected, failed, dropped } = result.connections;
    assert.deepEqual([requested, connected, failed, dropped], [20, 20, 0, 0]);
    assertExact(onlyStep(result), 0, 0);
    assertDone(result);
  });

  it('of several steps and a mix, with two workers each', async () => {
    const result = await cluster.result(2, {
      config: { baseSending: 4, step: 4, sendingSteps: 2, workers: 2 },
      entries: [
        { name: 'echo', senders: 2 },
        { name: 'broadcast', senders: 2 },
      ],
    });
    assert.equal(result.machine.workers, 4);
    for (const { received, expected, lost, extra } of result.steps)
      assert.deepEqual([received, lost, extra], [expected, 0, 0]);
  });
});

describe('members that move between three agents', () => {
  let cluster: AgentsOnBus;

  before(async () => {
    cluster = await AgentsOnBus.start();
  });
  after(() => cluster.dispose());

  const moving = { singleStepDuration: '3s', warmup: '500ms', workers: 1 };

  it('are counted as those who send to them count them', async () => {
    const result = await cluster.result(3, {
      useCase: 'frequentJoinLeaveGroup',
      parameters: { groupCount: 3, sendingInterval: '40ms', joinLeaveInterval: '200ms' },
      config: { ...moving, connections: 30, baseSending: 12 },
    });
    // Those that are on their way in or out get messages, too: nobody counts on them.
    const { expected, received, lost, membership } = onlyStep(result);
    assert.deepEqual([received, lost], [expected, 0]);
    assert.ok(expected > 1000 && membership!.joins > 10, `${expected}, ${membership?.joins} joins`);
  });

  it('are counted so where they join and leave by calls of their sessions', async () => {
    const posts = {
      ...{ call: 'SendMessage', arguments: ['{group}', { text: '{text:60B}' }] },
      ...{ reply: 'callback', callback: 'MessagePosted', receivers: 'group' },
    };
    const [join, leave] = ['JoinRoom', 'LeaveRoom'].map((call) => ({
      ...{ call, arguments: ['{group}'] },
    }));
    const kinds = [
      [join, { repeat: 10, every: '100ms', steps: [posts] }, leave],
      [{ call: 'GetHistory', arguments: ['{group}', 5] }, { call: 'GetConnectionId' }],
    ];
    const result = await cluster.result(3, {
      entries: kinds.map((steps, at) => ({
        ...{ name: 'session', senders: [30, 9][at]! },
        parameters: {
          ...{ messageSize: undefined, sendingInterval: undefined },
          // Of the three in each group every agent has one.
          ...{ sessionInterval: '2s', groupCount: 10, steps },
        },
      })),
      config: {
        ...{ ...moving, singleStepDuration: '4s', warmup: 0 },
        ...{ connections: 39, baseSending: 39 },
      },
    });
    const { expected, received, lost, ambiguous, calls = [], ...step } = onlyStep(result);
    assert.deepEqual([received, lost, ambiguous ?? 0], [expected, 0, 0]);
    const [{ sessions } = {}, { sessions: reading } = {}] = step.entries!;
    assert.deepEqual([sessions!.started, reading!.started, step.sessions!.started], [60, 18, 78]);
    assert.deepEqual(
      calls
        .filter(({ entry }) => entry === 'session 2')
        .map(({ name, received: of }) => [name, of]),
      [
        ['GetHistory', 18],
        ['GetConnectionId', 18],
      ],
    );
    const post = calls.find(({ name }) => name === 'SendMessage')!;
    assert.ok(post.expected > post.sent, `${post.sent} to ${post.expected}`);
    // A busy machine has some wait at the end of the step.
    const { completed, waiting = 0, brokenOff } = sessions!;
    assert.ok(completed + waiting >= 30 && brokenOff === 0, JSON.stringify(sessions));
  });

  it('are counted so where connections are closed and opened again', async () => {
    const result = await cluster.result(3, {
      useCase: 'broadcast',
      parameters: { sendingInterval: '100ms' },
      config: { ...moving, connections: 30, baseSending: 6, lifetime: '1s', repair: true },
    });
    const { expected, received, lost } = onlyStep(result);
    assert.deepEqual([received, lost], [expected, 0]);
    assert.ok(result.connections.life!.closed > 10, `${result.connections.life?.closed} closed`);
  });
});
