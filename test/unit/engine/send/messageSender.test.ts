import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Plan } from '../../../../src/plan/plan';
import { jsonCodec } from '../../../../src/wire/message/hubCodec';
import type { MessageShape } from '../../../../src/wire/message/messageLayout';
import { holeLengths, MessageTemplate } from '../../../../src/wire/message/messageTemplate';
import type { WeakServerConnection } from '../../../../src/wire/service/persistentSends';
import { onlyClientFrame } from '../../../fakes/frames';
import { planOf, shortStep } from '../../../fakes/plan';
import { SenderBench, sentIn } from '../../../fakes/senderBench';

describe('MessageSender', () => {
  it('offers and sends exactly what the step asks for, over all workers, whatever the clock does', () => {
    const runs = fc.record({
      connections: fc.integer({ min: 1, max: 12 }),
      workers: fc.integer({ min: 1, max: 4 }),
      senders: fc.nat(),
      pauses: fc.array(fc.integer({ min: 10, max: 300_000 }), { minLength: 1, maxLength: 5 }),
    });
    const exact = fc.property(runs, ({ connections, workers, senders: some, pauses }) => {
      const senders = some % (connections + 1);
      const plan = planOf({ connections }, workers);
      let offered = 0;
      let sent = 0;
      let warmups = 0;
      for (let worker = 0; worker < workers; worker++) {
        const bench = new SenderBench(plan, worker).run({ ...shortStep, senders }, pauses);
        offered += bench.recorder.offered;
        sent += bench.recorder.sent;
        assert.equal(bench.recorder.sent, bench.measured.length);
        assert.equal(bench.recorder.expected, bench.measured.length);
        warmups += bench.sent.length - bench.measured.length;
      }
      // 100 ms between messages: 10 in the measured second, 2 in 200 ms of warm-up.
      assert.deepEqual([offered, sent, warmups], [senders * 10, senders * 10, senders * 2]);
    });
    fc.assert(exact, { numRuns: 60 });
  });

  it('numbers the messages of each source from 0 on without a gap, warm-up and steps included', () => {
    const bench = new SenderBench(planOf());
    bench.run().run({ ...shortStep, index: 2, senders: 5 });
    for (const { frames, index } of bench.connections) {
      const sent = frames.map(sentIn);
      assert.deepEqual(
        sent.map(({ sequence }) => sequence),
        [...sent.keys()],
      );
      assert.ok(sent.every(({ source, runId }) => source === index && runId === 0xdeadbeef));
    }
    assert.deepEqual([...new Set(bench.sent.map(({ step }) => step))], [1, 2]);
  });

  it('asks once on each connection whether the hub takes its messages, whoever they are for', () => {
    const parameters = { messageSize: 20, sendingInterval: 100, targets: 'random' };
    const bench = new SenderBench(planOf({ useCase: 'sendToClient', parameters }));
    bench.run().run({ ...shortStep, index: 2 });
    for (const { frames } of bench.connections) {
      const asking = frames.map((frame) => onlyClientFrame(frame).payload.includes('invocationId'));
      assert.ok(asking.length > 10);
      assert.deepEqual(asking, [true, ...asking.slice(1).fill(false)]);
    }
  });

  it('names a user of its own run where the message itself says whom it is for', () => {
    const receivers: string[] = [];
    const persistent = {
      template: (shape: MessageShape, _: string, receiver = Buffer.alloc(0)) => {
        receivers.push(String(receiver));
        return MessageTemplate.of(shape, holeLengths(receiver), jsonCodec);
      },
      send: () => true,
    } as unknown as WeakServerConnection;
    const plan = planOf({ useCase: 'restPersistSendToUser' });
    new SenderBench(plan, 0, { persistent }).run({ ...shortStep, senders: 1 });
    assert.match(receivers[0] ?? '', /^user_deadbeef_[0-9]+$/);
  });

  it('asks Azure Web PubSub with its first message or with all, under ids that count up', () => {
    const run = (plan: Partial<Plan>): (number | undefined)[][] => {
      const bench = new SenderBench(planOf({ protocol: 'webpubsub', connections: 3, ...plan }));
      bench.run({ ...shortStep, senders: 3 }).run({ ...shortStep, index: 2, senders: 3 });
      return bench.connections.map(({ frames }) =>
        frames.map((frame) => {
          const text = onlyClientFrame(frame).payload.toString('utf8');
          return (JSON.parse(text) as { ackId?: number }).ackId;
        }),
      );
    };
    for (const ids of run({})) assert.deepEqual(ids, [2 ** 35, ...ids.slice(1).fill(undefined)]);
    for (const ids of run({ acks: 'all' })) {
      assert.equal(ids.length, 24);
      assert.deepEqual(
        ids,
        Array.from(ids, (_, at) => 2 ** 35 + at),
      );
    }
  });

  it('stamps when a message was meant to leave and when it left, and records the slip', () => {
    const bench = new SenderBench(planOf({ connections: 1 })).run(
      { ...shortStep, senders: 1 },
      [70_000],
    );
    for (const { intendedUs, sentUs, warmup } of bench.sent) {
      assert.equal(intendedUs % 100_000, 0);
      assert.ok(sentUs >= intendedUs && sentUs < intendedUs + 70_000);
      assert.equal(warmup, intendedUs < 5_200_000);
    }
    const slips = bench.measured.map(({ sentUs, intendedUs }) => sentUs - intendedUs);
    const pairs = [...bench.recorder.slip.times.take(false)!.pairs].filter((_, at) => at % 2 === 1);
    assert.equal(
      pairs.reduce((sum, count) => sum + count, 0),
      slips.length,
    );
  });

  it('lowers its rate when it is late in closed pacing, and intends what it does', () => {
    const plan = planOf({ connections: 2, pacing: 'closed' });
    const bench = new SenderBench(plan).run({ ...shortStep, senders: 2, warmupMs: 0 }, [170_000]);
    assert.ok(bench.recorder.offered < 20 && bench.recorder.offered >= 10);
    assert.ok(bench.sent.every(({ intendedUs, sentUs }) => intendedUs === sentUs));
  });

  it('offers no warm-up message of a backlog that it gives up', () => {
    const bench = new SenderBench(planOf());
    // The first look at the step comes when its grace is over: its very first message is late.
    bench.sender.begin(shortStep, 0, bench.recorder);
    bench.nowUs = 3_000_000;
    assert.equal(bench.sender.pump(), 'done');
    assert.deepEqual([bench.recorder.offered, bench.recorder.sent], [100, 0]);
  });

  it('works a backlog off in bounded turns as long as the grace lasts', () => {
    const plan = planOf({ parameters: { messageSize: 1, sendingInterval: 10 } });
    const bench = new SenderBench(plan);
    bench.sender.begin({ ...shortStep, warmupMs: 0 }, 0, bench.recorder);
    bench.nowUs = 1_900_000;
    const states = [1, 2, 3, 4].map(() => bench.sender.pump());
    assert.deepEqual(states, ['more', 'more', 'more', 'done']);
    assert.equal(bench.recorder.sent, 1000);
    assert.deepEqual([bench.sender.pump(), bench.sender.nextUs], ['idle', Infinity]);
  });

  it('leaves frames alone that a slow socket still holds', () => {
    const bench = new SenderBench(planOf({ connections: 1 }));
    bench.connections[0]!.takes = false;
    bench.run({ ...shortStep, senders: 1 });
    assert.deepEqual(
      bench.sent.map(({ sequence }) => sequence),
      [...Array(12).keys()],
    );
  });
});

describe('MessageSender to others', () => {
  const message = { messageSize: 20, sendingInterval: 100 };

  it('expects a broadcast at everyone who is open', () => {
    const bench = new SenderBench(planOf({ useCase: 'broadcast' }));
    bench.connections[0]!.isOpen = false;
    bench.run();
    assert.deepEqual([bench.recorder.sent, bench.recorder.expected], [90, 810]);
    assert.equal(bench.sent[0]!.target, 'Broadcast');
  });

  it('writes to its fixed target’s id and expects it only while the target is open', () => {
    const plan = planOf({ useCase: 'sendToClient', parameters: { ...message, targets: 'fixed' } });
    const bench = new SenderBench(plan);
    const closed = bench.population.fixedTargets![0]!;
    bench.connections[closed]!.isOpen = false;
    bench.run();
    for (const { source, fields } of bench.sent)
      assert.equal(
        fields['information.ConnectionId'],
        `id-${bench.population.fixedTargets![source]!}`,
      );
    // The closed one does not send; its own sender still does, to nobody.
    assert.deepEqual([bench.recorder.sent, bench.recorder.expected], [90, 80]);
  });

  it('numbers messages to random targets for each target by itself', () => {
    const plan = planOf({ useCase: 'sendToClient', parameters: { ...message, targets: 'random' } });
    const bench = new SenderBench(plan).run();
    const next = new Map<string, number>();
    for (const { source, sequence, fields } of bench.sent) {
      const to = String(fields['information.ConnectionId']);
      assert.notEqual(to, `id-${source}`);
      assert.equal(sequence, next.get(`${source} ${to}`) ?? 0);
      next.set(`${source} ${to}`, sequence + 1);
    }
    assert.equal(bench.recorder.expected, 100);
  });

  it('writes to one of its groups and expects that group’s open members', () => {
    const groups = { groupCount: 4, groupsPerConnection: 2, sendersPer: 'connection' };
    const plan = planOf({ useCase: 'sendToGroup', parameters: { ...message, ...groups } });
    const bench = new SenderBench(plan);
    bench.connections[1]!.isOpen = false;
    bench.run();
    const next = new Map<number, number>();
    let expected = 0;
    for (const { source, sequence, warmup, fields } of bench.sent) {
      const group = bench.population.groupOf(source >> 1, source & 1);
      assert.equal(fields['information.GroupName'], bench.population.groupName(group));
      assert.equal(sequence, next.get(source) ?? 0);
      next.set(source, sequence + 1);
      const members = bench.connections.filter(
        ({ isOpen, index }) => isOpen && bench.population.isReceiver(source, index),
      );
      if (!warmup) expected += members.length;
    }
    assert.equal(bench.recorder.expected, expected);
    assert.equal(bench.recorder.sent, 90);
  });
});

describe('payloads of different sizes', () => {
  const parameters = {
    messageSize: 46,
    messageSizes: '10B 50%, 40B 30%, 140B 20%',
    sendingInterval: 10,
  };
  const blobsOf = (bench: SenderBench): string[] =>
    bench.measured.map(({ fields }) => String(fields['payload.MessageBlob']));

  it('are those that were asked for, as often as they were', () => {
    const bench = new SenderBench(planOf({ parameters })).run();
    const blobs = blobsOf(bench);
    const share = (length: number): number =>
      blobs.filter((blob) => blob.length === length).length / blobs.length;
    assert.equal(blobs.length, 1000);
    assert.equal(share(10) + share(40) + share(140), 1);
    assert.ok(Math.abs(share(10) - 0.5) < 0.06, `${share(10)} of 10 B`);
    assert.ok(Math.abs(share(140) - 0.2) < 0.05, `${share(140)} of 140 B`);
    const bytes = blobs.reduce((sum, blob) => sum + blob.length, 0);
    assert.equal(bench.recorder.payloadBytesIn, bytes);
  });

  it('are text, or of a file, with every character whole', () => {
    const fixed = { messageSize: 50, sendingInterval: 100 };
    const [text] = blobsOf(
      new SenderBench(planOf({ parameters: { ...fixed, payload: 'text' } })).run(),
    );
    assert.match(text!, /^[a-z ]{50}$/);
    const payloadText = '{"say": "gr\u00fc\u00df \u{1f600}"}\n';
    for (const messageSize of [1, 17, 18, 19, 20, 50]) {
      const plan = planOf({ parameters: { ...fixed, messageSize }, payloadText });
      const [blob] = blobsOf(new SenderBench(plan).run());
      assert.equal(Buffer.byteLength(blob!), messageSize);
      assert.ok(payloadText.repeat(3).startsWith(blob!.trimEnd()), JSON.stringify(blob));
    }
  });
});
