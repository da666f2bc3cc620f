import assert from 'node:assert/strict';
import { assertExact, onlyStep } from '../load/loadRun';
import { AgentsOnBus } from './agentsOnBus';

/** Each sender's messages. */
const perSender = 10;

describe('exact counts of three agents', () => {
  let cluster: AgentsOnBus;

  before(async () => {
    cluster = await AgentsOnBus.start();
  });
  after(() => cluster.dispose());

  for (const [useCase, receivers, parameters] of [
    ['echo', 1, {}],
    ['broadcast', 20, {}],
    ['sendToGroup', 5, { groupCount: 4 }],
    ['sendToClient', 1, {}],
    ['sendToClient', 1, { targets: 'random' }],
  ] as const)
    it(`of ${useCase} ${JSON.stringify(parameters)}`, async () => {
      const config = { baseSending: 9, workers: 1 };
      const result = await cluster.result(3, { useCase, parameters, config });
      assertExact(onlyStep(result), 9 * perSender, 9 * perSender * receivers);
      const { agents = [] } = result;
      assert.deepEqual(
        agents.map(({ index, status, clockErrorUs }) => [index, status, clockErrorUs]),
        [1, 2, 3].map((index) => [index, 'done', 0]),
      );
      const received = agents.map(({ lastStep }) => lastStep?.received ?? 0);
      assert.equal(
        received.reduce((sum, each) => sum + each, 0),
        9 * perSender * receivers,
      );
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
    assert.ok(expected > 1000 && membership!.joins > 50, `${expected}, ${membership?.joins} joins`);
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
