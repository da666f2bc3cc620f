import assert from 'node:assert/strict';
import { LatencyHistogram } from '../../../src/measure/histogram';
import type { Plan } from '../../../src/plan/plan';
import { jsonCodec } from '../../../src/wire/message/hubCodec';
import { holeLengths, MessageTemplate } from '../../../src/wire/message/messageTemplate';
import { restBodyLayout, type RestCalls } from '../../../src/wire/rest/restCalls';
import { emptyStamp, readStamp, stampKey, type Stamp } from '../../../src/wire/message/stamp';
import { planOf, shortStep } from '../../fakes/plan';
import { SenderBench } from '../../fakes/senderBench';

/** REST calls that leave when the test says so. */
class FakeCalls {
  takesMessages = true;
  readonly waiting: (() => Buffer)[] = [];
  /** Indexes of the users that were sent to. */
  readonly users: number[] = [];
  template: RestCalls['template'] = (shape) => {
    const codec = { ...jsonCodec, layout: restBodyLayout('signalr') };
    return MessageTemplate.of(shape, holeLengths(undefined), codec, false);
  };
  send: RestCalls['send'] = (receiver, body) => {
    assert.ok(receiver.kind === 'user');
    this.users.push(receiver.index);
    this.waiting.push(body);
  };

  /** Stamps of those that leave now. */
  leave(): Stamp[] {
    return this.waiting.splice(0).map((body) => {
      const stamp = emptyStamp();
      const { arguments: args } = JSON.parse(body().toString('utf8')) as { arguments: [object] };
      const [reported] = args as [Record<string, string>];
      assert.ok(readStamp(Buffer.from(reported[stampKey]!), 0, stamp));
      return stamp;
    });
  }
}

describe('MessageSender by REST', () => {
  const step = { ...shortStep, warmupMs: 0, senders: 1 };
  const started = (plan: Partial<Plan> = {}): { calls: FakeCalls; bench: SenderBench } => {
    const calls = new FakeCalls();
    const rest = calls as unknown as RestCalls;
    const bench = new SenderBench(planOf({ useCase: 'restSendToUser', ...plan }), 0, { rest });
    bench.nowUs = 5_000_000;
    bench.sender.begin(step, bench.nowUs, bench.recorder);
    return { calls, bench };
  };

  for (const pacing of ['open', 'closed'] as const)
    it(`leaves late, which its slip shows, when no socket of ours is free: ${pacing}`, () => {
      const { calls, bench } = started({ pacing });
      calls.takesMessages = false;
      bench.nowUs += 400_000;
      assert.equal(bench.sender.pump(), 'idle');
      assert.deepEqual([calls.waiting.length, bench.recorder.offered], [0, 0]);
      // Nothing to do before a socket is free, or before the step is given up.
      assert.equal(bench.sender.nextUs, 7_000_001);
      calls.takesMessages = true;
      assert.ok(bench.sender.nextUs < bench.nowUs);
      bench.sender.pump();
      const [first] = calls.leave();
      assert.equal(first?.sentUs, 5_400_000);
      const { slip, ...counts } = bench.recorder.sample()!;
      assert.deepEqual([counts.offered, counts.sent], [counts.expected, counts.offered]);
      const late = new LatencyHistogram();
      late.add(slip!);
      assert.ok(late.summary().max >= 290_000);
    });

  for (const targets of ['fixed', 'random'] as const)
    it(`names one other user for each message: ${targets}`, () => {
      const connections = 5;
      const everybody = { ...step, senders: connections };
      const parameters = { messageSize: 100, sendingInterval: 100, targets };
      const calls = new FakeCalls();
      const rest = calls as unknown as RestCalls;
      const plan = planOf({ useCase: 'restSendToUser', connections, parameters });
      const bench = new SenderBench(plan, 0, { rest }).run(everybody);
      const senders = calls.leave().map(({ source }) => source);
      assert.equal(senders.length, 50);
      assert.ok(senders.every((sender, at) => sender !== calls.users[at]));
      const pairs = new Set(senders.map((sender, at) => `${sender} ${calls.users[at]!}`));
      if (targets === 'fixed') assert.equal(pairs.size, connections);
      else assert.ok(pairs.size > connections);
      const { offered, sent, expected } = bench.recorder;
      assert.deepEqual([offered, sent, expected], [50, 50, 50]);
    });

  it('counts what never found a socket as offered, not as sent', () => {
    const { calls, bench } = started();
    calls.takesMessages = false;
    bench.nowUs = bench.sender.nextUs;
    assert.equal(bench.sender.pump(), 'done');
    assert.deepEqual([bench.recorder.offered, bench.recorder.sent], [10, 0]);
  });

  it('stamps what a service puts off when it leaves, unless somebody has come or gone since', () => {
    const { calls, bench } = started();
    bench.nowUs += 99_999;
    bench.sender.pump();
    bench.nowUs += 1_000_000;
    const [put] = calls.leave();
    assert.equal(put?.sentUs, 6_099_999);
    assert.ok(put.intendedUs < 5_100_000);
    const { calls: others, bench: changed } = started();
    changed.nowUs += 99_999;
    changed.sender.pump();
    changed.versions.push(1);
    changed.nowUs += 1_000_000;
    assert.equal(others.leave()[0]?.sentUs, 5_099_999);
  });
});
