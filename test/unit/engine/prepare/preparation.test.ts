import assert from 'node:assert/strict';
import type { Plan } from '../../../../src/plan/plan';
import { populationsOf } from '../../../../src/plan/population';
import { Preparation } from '../../../../src/engine/prepare/preparation';
import { createMemberMemory, SharedMembers } from '../../../../src/engine/prepare/sharedMembers';
import type { HubListener } from '../../../../src/wire/hub/clientConnection';
import type { HubMessage, Invocation } from '../../../../src/wire/message/hubMessage';
import { HubSide, HubSideConnection } from '../../../fakes/hubSide';
import { planOf, shortStep } from '../../../fakes/plan';
import { VirtualTime } from '../../../fakes/virtualTime';

const sending = { messageSize: 20, sendingInterval: 100 };
const toClients = { useCase: 'sendToClient', parameters: { ...sending, targets: 'fixed' } };
const toGroups = {
  useCase: 'sendToGroup',
  parameters: { ...sending, groupCount: 2, groupsPerConnection: 2, targets: 'fixed' },
};

describe('Preparation', () => {
  let time: VirtualTime;
  let hub: HubSide;
  let preparation: Preparation;
  let members: SharedMembers;
  let losses: string[];
  let connections: HubSideConnection[];

  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => time.restore());

  function make(
    changes: Parameters<typeof planOf>[0],
    joinFor?: ConstructorParameters<typeof Preparation>[3],
    connectionId?: string,
  ): void {
    const plan: Plan = planOf({ connections: 3, ...changes });
    const populations = populationsOf(plan);
    members = new SharedMembers(createMemberMemory(3, 4, { ids: true }), populations, () =>
      time.nowUs(),
    );
    preparation = new Preparation(plan, populations, members, joinFor);
    losses = [];
    hub = new HubSide();
    const listener: HubListener = {
      received: (connection, buffer, start, end) => {
        for (const text of buffer.toString('utf8', start, end).split('\x1e').slice(0, -1))
          preparation.handle(connection, JSON.parse(text) as HubMessage);
      },
      lost: (connection, errorClass, text) => {
        losses.push(`${connection.index} ${errorClass}: ${text}`);
        preparation.lost(connection);
        members.leave(connection.index);
      },
    };
    connections = [0, 1, 2].map(
      (index) =>
        new HubSideConnection(index, listener, hub, connectionId && `${connectionId}-${index}`),
    );
  }
  const run = (step = 1): Promise<void> => time.until(preparation.run(connections, step), 120_000);
  const calls = (index: number): string[] =>
    connections[index]!.sent.map((message) => {
      const { target, arguments: args } = message as Invocation;
      return [target, ...args].join(' ');
    });
  const open = (): boolean[] => [0, 1, 2].map((index) => members.isOpen(index));

  it('asks nothing where nothing is needed, and lets all take part', async () => {
    make({});
    await run();
    assert.deepEqual([calls(0), open()], [[], [true, true, true]]);
    assert.equal(members.idOf(0), undefined);
  });

  it('prepares nobody twice', async () => {
    make(toGroups);
    await run();
    await run();
    assert.equal(calls(0).length, 2);
  });

  describe('where ids are needed', () => {
    const idsOf = (): (string | undefined)[] =>
      [0, 1, 2].map((index) => members.idOf(index)?.toString());
    const answering =
      (answers: Readonly<Record<string, (id: string) => readonly HubMessage[]>>) =>
      (connection: HubSideConnection, message: HubMessage): void => {
        const { target, invocationId } = message as Invocation;
        connection.gets(...(answers[target]?.(invocationId!) ?? []));
      };
    const unknown = (invocationId: string): readonly HubMessage[] => [
      { type: 3, invocationId, error: 'no such method' },
    ];

    it('asks for the id', async () => {
      make(toClients);
      hub.onMessage = answering({
        GetConnectionId: (invocationId) => [{ type: 3, invocationId, result: 'abc' }],
      });
      await run();
      assert.deepEqual([calls(0), idsOf()], [['GetConnectionId'], ['abc', 'abc', 'abc']]);
    });

    it('takes the negotiated one, with a hub of the newer contract', async () => {
      make({ ...toClients, dialect: 'measure' }, undefined, 'negotiated');
      await run();
      assert.deepEqual([calls(2), idsOf()[2]], [[], 'negotiated-2']);
    });

    it('waits for the callback of older hubs', async () => {
      make(toClients);
      hub.onMessage = answering({
        GetConnectionId: unknown,
        ConnectionId: (invocationId) => [
          { type: 3, invocationId, result: null },
          { type: 1, target: 'connectionid', arguments: ['older'] },
        ],
      });
      await run();
      assert.deepEqual(calls(0), ['GetConnectionId', 'ConnectionId']);
      assert.deepEqual(idsOf(), ['older', 'older', 'older']);
    });

    it('takes one that came by itself', async () => {
      make(toClients);
      for (const connection of connections)
        connection.gets({ type: 1, target: 'OnConnected', arguments: [`own ${connection.index}`] });
      await run();
      assert.deepEqual([calls(1), idsOf()], [[], ['own 0', 'own 1', 'own 2']]);
    });

    it('gives up a connection whose hub never says it', async () => {
      make(toClients);
      hub.onMessage = answering({
        GetConnectionId: unknown,
        ConnectionId: (invocationId) => [{ type: 3, invocationId, result: null }],
      });
      await run();
      assert.equal(time.nowMs, 10_000);
      assert.equal(losses[0], '0 timeout: ConnectionId: no id within 10 s');
      assert.deepEqual(open(), [false, false, false]);
    });

    it('gives up one whose hub does not answer at all, after both questions', async () => {
      make(toClients);
      hub.onMessage = () => undefined;
      await run();
      assert.equal(time.nowMs, 20_000);
      assert.equal(losses.length, 3);
      assert.match(losses[0]!, /^0 timeout: ConnectionId: no completion within 10 s$/);
    });

    it('gives up one whose id is too long to be kept', async () => {
      make(toClients);
      hub.onMessage = answering({
        GetConnectionId: (invocationId) => [{ type: 3, invocationId, result: 'x'.repeat(256) }],
      });
      await run();
      assert.equal(losses[0], '0 invocation: GetConnectionId: the id is longer than 255 bytes');
    });

    it('asks anew for one that was lost and is back', async () => {
      make(toClients);
      hub.onMessage = answering({
        GetConnectionId: (invocationId) => [{ type: 3, invocationId, result: 'abc' }],
      });
      await run();
      connections[0]!.drop('closed', 'gone');
      const back = connections[0]!;
      back.isOpen = true;
      assert.equal(await time.until(preparation.runOne(back), 100), true);
      assert.equal(calls(0).length, 2);
    });
  });

  describe('where groups are joined', () => {
    it('joins all slots before the connection takes part', async () => {
      make(toGroups);
      const openAtJoin: boolean[] = [];
      hub.onMessage = (...message) => {
        openAtJoin.push(members.isOpen(message[0].index));
        hub.answer(...message);
      };
      await run();
      const name = (group: number): string => `JoinGroup sendToGroup_deadbeef_${group}`;
      assert.deepEqual(calls(1), [name(1), name(0)]);
      assert.deepEqual([...new Set(openAtJoin)], [false]);
      assert.deepEqual([members.count(0), members.count(1)], [3, 3]);
    });

    it('gives up a connection that the hub does not let in', async () => {
      make(toGroups);
      hub.onMessage = (connection, message) => {
        const { invocationId } = message as Invocation & { invocationId: string };
        if (connection.index === 1) connection.gets({ type: 3, invocationId, error: 'full' });
        else hub.answer(connection, message);
      };
      await run();
      assert.deepEqual(losses, ['1 invocation: JoinGroup: full']);
      assert.deepEqual(open(), [true, false, true]);
    });

    it('has the service do it, where it does it from outside', async () => {
      const asked: string[] = [];
      make(toGroups, (index, group) => {
        asked.push(`${index} ${group.slice(-1)}`);
        return Promise.resolve(
          index === 2 ? { errorClass: 'throttled', text: 'too many calls' } : undefined,
        );
      });
      await run();
      assert.deepEqual(calls(0), []);
      assert.deepEqual(asked.sort(), ['0 0', '0 1', '1 0', '1 1', '2 0']);
      assert.deepEqual(losses, ['2 throttled: too many calls']);
    });
  });

  it('leaves those outside that move, until they send', async () => {
    const steps = [1, 3].map((senders, at) => ({ ...shortStep, index: at + 1, senders }));
    make({
      ...toGroups,
      useCase: 'frequentJoinLeaveGroup',
      parameters: { ...toGroups.parameters, joinLeaveInterval: 100 },
      steps,
    });
    await run(1);
    assert.deepEqual(open(), [true, true, true]);
    assert.equal([0, 1, 2].filter((index) => members.isInside(index)).length, 1);
    assert.equal(members.count(0), 1);
    await run(2);
    assert.equal([0, 1, 2].filter((index) => members.isInside(index)).length, 3);
    assert.equal(members.count(0), 3);
  });
});
