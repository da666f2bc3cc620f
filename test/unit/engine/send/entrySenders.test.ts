import assert from 'node:assert/strict';
import { populationsOf } from '../../../../src/plan/population';
import { EntrySenders, GroupMover } from '../../../../src/engine/send/entrySenders';
import { Recorder, StepRecorder } from '../../../../src/engine/recorder';
import { jsonCodec } from '../../../../src/wire/message/hubCodec';
import { FakeConnection } from '../../../fakes/connection';
import { onlyClientFrame } from '../../../fakes/frames';
import { planOf, shortStep } from '../../../fakes/plan';
import type { InvocationOutcome } from '../../../../src/wire/hub/clientConnection';

const outside = { version: () => 0, isOpen: () => true, idOf: () => undefined };

describe('EntrySenders', () => {
  const parameters = { messageSize: 20, sendingInterval: 100 };
  const entries = [
    { useCase: 'echo', parameters },
    { useCase: 'broadcast', parameters: { ...parameters, sendingInterval: 50 } },
    { useCase: 'echo', parameters: { ...parameters, sendingInterval: 10 } },
  ];
  const step = { ...shortStep, senders: 9, perEntry: [4, 3, 2], warmupMs: 0 };

  function bench(): { senders: EntrySenders; recorder: StepRecorder; clock: { nowUs: number } } {
    const plan = planOf({ entries, steps: [step] });
    const clock = { nowUs: 0 };
    const connections = Array.from({ length: 10 }, (_, at) => new FakeConnection(at));
    const senders = new EntrySenders(plan, 0, populationsOf(plan), {
      connection: (index) => connections[index]!.asHub,
      members: { ...outside, count: () => 10 },
      framed: true,
      recorder: { delivered: () => assert.fail(), error: () => assert.fail() },
      nowUs: () => clock.nowUs,
    });
    return { senders, recorder: new StepRecorder(1, 3), clock };
  }

  it('sends for each entry at its own interval and is done once, when all are', () => {
    const { senders, recorder, clock } = bench();
    senders.begin(step, 0, recorder);
    let done = 0;
    while (senders.nextUs < Infinity) {
      assert.ok(senders.nextUs >= clock.nowUs);
      clock.nowUs = senders.nextUs;
      if (senders.pump() === 'done') done += 1;
    }
    assert.equal(done, 1);
    assert.equal(clock.nowUs, 1_000_000);
    const counts = recorder.entries.map(({ sent, expected }) => [sent, expected]);
    assert.deepEqual(counts, [
      [40, 40],
      [60, 600],
      [200, 200],
    ]);
    const sample = recorder.sample()!;
    assert.deepEqual([sample.sent, sample.expected, sample.entries!.length], [300, 840, 3]);
    assert.equal(senders.pump(), 'idle');
  });

  it('lets each entry work on its backlog in turn', () => {
    const { senders, recorder, clock } = bench();
    const longer = { ...step, measureMs: 10_000 };
    senders.begin(longer, 0, recorder);
    clock.nowUs = 9_000_000;
    const states = Array.from({ length: 3 }, () => senders.pump());
    assert.deepEqual(states, ['more', 'more', 'more']);
    assert.ok(recorder.entries.every(({ sent }) => sent >= 256));
  });

  it('hands the end of a stream to the entry that has opened it', () => {
    const upload = {
      useCase: 'streamingEcho',
      parameters: {
        ...{ ...parameters, streamDirection: 'upload' },
        ...{ streamingItemCount: 2, streamingItemSendDelay: 0 },
      },
    };
    const oneEach = { ...step, senders: 2, perEntry: [1, 1] };
    const plan = planOf({ connections: 2, entries: [upload, upload], steps: [oneEach] });
    const recorder = new Recorder(0, undefined, 2);
    const connections = [new FakeConnection(0), new FakeConnection(1)];
    const senders = new EntrySenders(plan, 0, populationsOf(plan), {
      connection: (index) => connections[index]!.asHub,
      members: { ...outside, count: () => 2 },
      framed: true,
      recorder: Object.assign(recorder, { error: () => assert.fail() }),
      nowUs: () => 150_000,
    });
    const counts = recorder.beginStep(1);
    senders.begin(oneEach, 0, counts);
    while (senders.pump() === 'more');
    for (const connection of connections) {
      const calls = connection.frames
        .map((frame) => onlyClientFrame(frame).payload)
        .map((payload) => jsonCodec.read(payload, 0, payload.length - 1)!);
      for (const call of calls) {
        if (call.type !== 1) continue;
        const answer = { type: 3, invocationId: call.invocationId!, result: 2 } as const;
        assert.ok(senders.completed(connection.asHub, answer, 150_000));
      }
    }
    const stranger = { type: 3, invocationId: 'i00000080', error: 'no' } as const;
    assert.equal(senders.completed(new FakeConnection(2).asHub, stranger, 150_000), false);
    for (const { expected, received, duplicated } of counts.entries) {
      assert.ok(expected > 0);
      assert.deepEqual([received, duplicated], [expected, 0]);
    }
  });
});

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
