import assert from 'node:assert/strict';
import { populationsOf } from '../../../../src/plan/population';
import { GroupMover } from '../../../../src/engine/send/entrySenders';
import { Recorder } from '../../../../src/engine/recorder';
import type { InvocationOutcome } from '../../../../src/wire/hub/clientConnection';
import { FakeConnection } from '../../../fakes/connection';
import { planOf, shortStep } from '../../../fakes/plan';

const refused = { ok: false, errorClass: 'invocation', text: 'no\u001b!' } as const;
const silent = { ok: false, errorClass: 'timeout', text: 'JoinGroup: no completion' } as const;
const lost = { ok: false, errorClass: 'closed', text: 'the connection was lost' } as const;

describe('GroupMover', () => {
  it('reports each call that failed once, and nothing of lost connections', async () => {
    const step = { ...shortStep, senders: 0, warmupMs: 0 };
    const plan = planOf({
      steps: [step],
      connections: 3,
      useCase: 'frequentJoinLeaveGroup',
      parameters: {
        ...{ messageSize: 20, sendingInterval: 100, joinLeaveInterval: 100 },
        ...{ groupCount: 1, groupsPerConnection: 1 },
      },
    });
    const outcomes: InvocationOutcome[] = [refused, silent, lost];
    const reported: string[] = [];
    let nowUs = 0;
    const mover = new GroupMover(plan, 0, 0, populationsOf(plan), {
      nowUs: () => nowUs,
      members: { version: () => 0, isOpen: () => true, count: () => 1, idOf: () => undefined },
      framed: true,
      connection: (index) => new FakeConnection(index).asHub,
      invoke: (_connection, method) => {
        assert.equal(method, 'JoinGroup');
        return Promise.resolve(outcomes.shift()!);
      },
      recorder: {
        delivered: () => assert.fail(),
        error: (errorClass, text) => reported.push(`${errorClass}: ${text}`),
      },
    });
    const recorder = new Recorder().beginStep(1);
    mover.begin(step, 0, recorder);

    nowUs = 99_999;
    assert.equal(mover.pump(), 'idle');
    await new Promise(setImmediate);

    assert.deepEqual(reported, ['invocation: no !', 'timeout: JoinGroup: no completion']);
    const { joins, joinsFailed, skipped } = recorder.membership!;
    assert.deepEqual({ joins, joinsFailed, skipped }, { joins: 0, joinsFailed: 3, skipped: 0 });
  });
});
