import assert from 'node:assert/strict';
import { ConnectFailure } from '../../../src/wire/connectFailure';
import { defaultSlo, type Slo } from '../../../src/base/slo';
import type { StepTotals } from '../../../src/measure/total/stepTotals';
import { planOf, shortStep } from '../../fakes/plan';
import { HeldBytes } from '../../../src/wire/socket/frameReader';
import { WorkerBench } from '../../fakes/workerBench';

/** 10 senders, each every 100 ms: 20 messages in 200 ms of warm-up, 100 in the measured second. */
const step = shortStep;
const overMs = step.warmupMs + step.measureMs;

describe('WorkerRun', () => {
  let bench: WorkerBench;
  const start = async (changes: Parameters<typeof planOf>[0] = {}, workers = 1): Promise<void> => {
    bench = new WorkerBench(planOf(changes, workers));
    await bench.ready();
  };
  afterEach(() => bench.dispose());

  it('sends each message that is due and counts each that comes back', async () => {
    await start();
    bench.hub.delayMs = 7;
    const totals = await bench.step(1, overMs + 20);
    await bench.flush();
    const { offered, sent, expected, received, duplicated, extra, outOfOrder } = totals;
    assert.deepEqual(
      { offered, sent, expected, received, duplicated, extra, outOfOrder },
      {
        offered: 100,
        sent: 100,
        expected: 100,
        received: 100,
        duplicated: 0,
        extra: 0,
        outOfOrder: 0,
      },
    );
    assert.equal(totals.payloadBytesIn, 100 * 20);
    assert.equal(totals.payloadBytesOut, 100 * 20);
    assert.equal(totals.latency.count, 100);
    const { min, max } = {
      min: totals.latency.valueAtShare(0),
      max: totals.latency.valueAtShare(1),
    };
    // The answer takes 7 ms, and the loop ends its last nap within 0.05 ms of the moment.
    assert.ok(min >= 6990 && max <= 7120, `${min} to ${max} us`);
    const messages = bench.hub.connections.map(({ sent: all }) => all.length - pingsIn(all));
    assert.deepEqual(messages, Array(10).fill(12));
    assert.deepEqual(bench.facts, ['0 connected', '0 prepared', '0 stepSent']);
  });

  it('measures when a message has reached the last of its receivers, whose ever they are', async () => {
    const broadcast = { useCase: 'broadcast', parameters: { sendingInterval: 100 } };
    await start({ ...broadcast, timeToAll: true }, 3);
    let [sent, lost] = [0, 0];
    bench.hub.onMessage = (_from, message) => {
      if (message.type !== 1 || message.target !== 'Broadcast') return;
      const delivery = { type: 1, target: 'RecordLatency', arguments: message.arguments } as const;
      sent += 1;
      for (const to of bench.hub.connections) {
        // One in fifty never reaches the slowest; the 20 of the warm-up are the first ones.
        if (to.index === 9 && sent > 20 && sent % 50 === 0) lost += 1;
        else setTimeout(() => to.gets(delivery), 2 * to.index);
      }
    };
    const totals = await bench.step(1, overMs + 40);
    await bench.flush();
    assert.deepEqual([sent, lost], [120, 2]);
    const { timeToAllUs, timeToAllMissed, received } = totals.summary(defaultSlo, {
      ...{ status: 'incomplete', reasons: [] },
    });
    assert.deepEqual([timeToAllUs?.count, timeToAllMissed, received], [98, 2, 998]);
    // Answers that wait for the same timer come in one go, so the last one takes the 18 ms it waits.
    const { min, max } = timeToAllUs!;
    assert.ok(min >= 18_000 && max <= 18_200, `${min} to ${max} us`);
    const deliveries = totals.latency.summary();
    assert.ok(deliveries.p50 < 11_000 && deliveries.max === max);
  });

  it('sends as many as the stages of its step say, over all workers', async () => {
    const stages = {
      from: 0,
      stages: [
        { to: 10, overMs: 400, holdMs: 200 },
        { to: 3, overMs: 0, holdMs: 400 },
      ],
    };
    await start({ steps: [{ ...step, warmupMs: 0, stages }] }, 3);
    const totals = await bench.step(1, step.measureMs + 20);
    await bench.flush();
    const bySender = bench.hub.connections.map(({ sent: all }) => all.length - pingsIn(all));
    // Each sends every 100 ms: the first three to the end, the last one in the 200 ms at the top and a moment before.
    const most = Math.max(...bySender);
    assert.equal(bySender.filter((count) => count >= most - 1).length, 3, bySender.join(' '));
    assert.ok(most >= 9 && Math.min(...bySender) >= 2, bySender.join(' '));
    // Half of ten for 400 ms, all for 200 ms, three for 400 ms; a sender more or less each time.
    assert.ok(Math.abs(totals.sent - (20 + 20 + 12)) <= 10, `${totals.sent}`);
    assert.deepEqual([totals.offered, totals.received], [totals.sent, totals.sent]);
  });

  for (const arrivals of ['poisson', 'jitter'] as const) {
    it(`sends with ${arrivals} arrivals the same messages whatever the workers`, async () => {
      const sentBy = async (workers: number): Promise<number[]> => {
        await start({ arrivals }, workers);
        const totals = await bench.step(1, overMs + 20);
        await bench.flush();
        assert.equal(totals.received, totals.sent);
        return bench.hub.connections.map(({ sent: all }) => all.length - pingsIn(all));
      };
      const one = await sentBy(1);
      await bench.dispose();
      assert.deepEqual(await sentBy(3), one);
      // Twelve intervals; with jitter one message in each.
      if (arrivals === 'jitter') assert.deepEqual(one, Array(10).fill(12));
      else assert.ok(new Set(one).size > 1, one.join(' '));
    });
  }

  it('pings each connection every 15 s, at moments spread over them', async () => {
    await start({ connections: 300 }, 2);
    const pings = (): number =>
      bench.hub.connections.reduce((sum, { sent: all }) => sum + pingsIn(all), 0);
    await bench.time.to(bench.time.nowMs + 1000);
    let before = pings();
    const counts: number[] = [];
    for (let moment = 0; moment < 150; moment++) {
      await bench.time.to(bench.time.nowMs + 100);
      counts.push(pings() - before);
      before += counts.at(-1)!;
    }
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      300,
    );
    // 2 of 300 in a tenth of a second, and as many more where the loop comes by late.
    assert.ok(Math.max(...counts) <= 4, counts.join(' '));
  });

  it('samples once a second, and at the borders of the measured time', async () => {
    await start();
    await bench.step(1, 2500);
    const due = bench.samples.filter((sample) => sample.due);
    const ticks = due.map(({ sample }) => sample.tick);
    assert.deepEqual(
      ticks,
      ticks.map((_, at) => ticks[0]! + at),
    );
    const measured = bench.samples.filter(({ sample }) => sample.generator.step === 1);
    // One up to the tick of the second, one up to the end.
    assert.equal(measured.length, 2);
    assert.equal(bench.samples.filter((sample) => !sample.due).length, 2);
  });

  it('counts errors of the warm-up apart', async () => {
    await start();
    bench.hub.onMessage = (connection, message) => {
      if (message.type === 1)
        connection.gets({ type: 3, invocationId: 'unknown', error: 'no such method' });
    };
    const totals = await bench.step(1, overMs + 20);
    await bench.flush();
    assert.deepEqual(totals.errors, { invocation: 100 });
    assert.deepEqual(totals.warmupErrors, { invocation: 20 });
    assert.deepEqual([totals.received, totals.expected], [0, 100]);
  });

  for (const [protocol, allowReconnect] of [
    ['json', true],
    ['messagepack', false],
  ] as const) {
    const end = allowReconnect ? 'ends, and opens it again where that is allowed' : 'ends for good';
    it(`counts as dropped what a Close message in ${protocol} ${end}`, async () => {
      const policy = { repair: true, policy: 'atOnce' as const, delayMs: 0 };
      await start({ life: policy, protocol });
      const totals = await bench.step(1, step.warmupMs + 455);
      const [first] = bench.hub.connections;
      const lateWord = { type: 3, invocationId: '1', error: 'nobody hears it' } as const;
      first!.gets({ type: 7, error: 'too many', allowReconnect }, lateWord);
      const sent = first!.sent.length;
      await bench.time.to(bench.time.nowMs + 1000);
      await bench.flush();
      const { dropped } = bench.totals.connections();
      assert.deepEqual([dropped, first!.over, first!.sent.length], [1, 'dropped', sent]);
      assert.equal(bench.hub.opened.length, allowReconnect ? 11 : 10);
      assert.deepEqual(totals.errors, { closed: 1 });
    });
  }

  it('has 256 MB for messages without an end, and twice what each connection is sent', async () => {
    await start();
    const { unfinished } = bench.hub.context!.options;
    const given: string[] = [];
    const most = 256 * 1024 * 1024 + 10 * 2 * 20;
    const [large, small] = ['large', 'small'].map(
      (name) => new HeldBytes(unfinished, ({ message }) => given.push(`${name}: ${message}`)),
    );
    large!.set(most - 10);
    small!.set(10);
    assert.equal(given.length, 0);
    small!.set(11);
    await Promise.resolve();
    assert.deepEqual([unfinished!.bytes, large!.bytes, given.length], [11, 0, 1]);
    assert.equal(
      given[0]!.replace(/,.*,/, ','),
      `large: its message had no end after ${most - 10} bytes, which had ${most + 1} together`,
    );
  });

  it('stops sending at a halt, wherever the step is', async () => {
    await start();
    const totals = await bench.step(1, step.warmupMs + 455);
    await bench.obeyed({ type: 'halt' });
    const sent = totals.sent;
    assert.equal(sent, 46, 'one each 10 ms from 0 to 450');
    await bench.time.to(bench.time.nowMs + 1000);
    await bench.flush();
    assert.equal(totals.sent, sent);
    assert.ok(!bench.facts.includes('0 stepSent'));
  });

  it('counts as late what comes after the drain, at what time ever it is read', async () => {
    await start();
    bench.hub.delayMs = 1500;
    const totals = await bench.step(1, overMs + 20);
    const untilUs = (Math.floor(bench.time.nowMs) + 100) * 1000;
    await bench.time.to(untilUs / 1000);
    await bench.flush();
    assert.equal(totals.received, 0, 'the first measured one comes 300 ms after the end');
    await bench.obeyed({ type: 'drained', index: 1 });
    await bench.time.to(bench.time.nowMs + 3000);
    await bench.flush();
    assert.deepEqual([totals.received, totals.late, totals.latency.count], [0, 100, 0]);
  });

  describe('that stands still', () => {
    const judged = (totals: StepTotals, slo: Slo = defaultSlo): [string, ...string[]] => {
      const { status, reasons } = totals.judge(slo);
      return [status, ...reasons.map(({ code }) => code)];
    };

    it('leaves open what it did not read before the drain ended', async () => {
      await start();
      bench.hub.delayMs = 95;
      const totals = await bench.step(1, overMs + 30);
      // The last six answers come until 85 ms after the end, the drain takes 100.
      bench.time.pass(170);
      await bench.flush();
      const { received, late, expected } = totals;
      assert.deepEqual([received + late, expected], [100, 100]);
      assert.equal(late, 6);
      const { readGapMaxUs = 0, slipMaxUs = 0 } = totals.generator();
      assert.ok(readGapMaxUs >= 170_000 && readGapMaxUs < 190_000, `${readGapMaxUs} us unread`);
      assert.ok(slipMaxUs < 1000, `${slipMaxUs} us late`);
      assert.deepEqual(judged(totals), ['invalid', 'starved', 'unread', 'unread']);
    });

    it('fails for what came after the drain by its own clock', async () => {
      await start();
      bench.hub.delayMs = 195;
      const totals = await bench.step(1, overMs + 110);
      await bench.time.to(bench.time.nowMs + 200);
      await bench.flush();
      assert.ok(totals.late >= 5, `${totals.late} late`);
      assert.deepEqual(judged(totals), ['fail', 'slo-p99', 'slo-delivered']);
    });

    it('says how late it sent and read, also in the warm-up, and answers for no more', async () => {
      await start();
      bench.hub.delayMs = 5;
      const totals = bench.totals.beginStep({ index: 1, senders: 10 });
      const atMs = Math.ceil(bench.time.nowMs);
      await bench.obeyed({ type: 'step', index: 1, atUs: atMs * 1000 });
      await bench.time.to(atMs + 105);
      bench.time.pass(60);
      await bench.time.to(atMs + step.warmupMs + 500);
      bench.time.pass(20);
      await bench.time.to(atMs + overMs + 20);
      await bench.flush();
      const { slipMaxUs = 0, readGapMaxUs = 0 } = totals.generator();
      // Messages are due each 10 ms.
      assert.ok(slipMaxUs >= 50_000 && slipMaxUs < 61_000, `${slipMaxUs} us late`);
      assert.ok(readGapMaxUs >= 10_000 && readGapMaxUs < 25_000, `${readGapMaxUs} us unread`);
      const max = totals.latency.valueAtShare(1);
      assert.ok(max > 8000 && max < 30_000, `${max}`);
      const limits = (us: number): Slo => ({ latencyUs: { max: us } });
      assert.deepEqual(judged(totals, limits(max)), ['pass']);
      assert.deepEqual(judged(totals, limits(max - 1)), ['invalid', 'starved', 'slip']);
    });
  });

  it('expects nothing of a connection that is lost, and reports the loss', async () => {
    await start();
    const totals = await bench.step(1, step.warmupMs + 505);
    const lost = bench.hub.connections[3]!;
    lost.drop('closed', 'the server went away');
    await bench.time.to(bench.time.nowMs + 1000);
    await bench.flush();
    const summary = bench.totals.connections();
    assert.deepEqual([summary.connected, summary.dropped, summary.failed], [10, 1, 0]);
    assert.deepEqual(
      summary.drops?.map(({ connection }) => connection),
      [3],
    );
    // It sent 5 or 6 of its 10, by its place among the senders; all others sent all of theirs.
    const { sent, expected, received } = totals;
    assert.deepEqual([sent, received], [expected, expected]);
    assert.ok(sent === 95 || sent === 96, `${sent} sent`);
    assert.equal(totals.skipped, 100 - sent);
    assert.equal(bench.members[0]!.isOpen(3), false);
  });

  it('runs steps with those that could be opened', async () => {
    bench = new WorkerBench(planOf());
    bench.hub.refuses = (index) =>
      index === 4 ? new ConnectFailure('refused', 'not you') : undefined;
    await bench.ready();
    const totals = await bench.step(1, overMs + 20);
    await bench.flush();
    assert.deepEqual([totals.sent, totals.skipped, totals.received], [90, 10, 90]);
    const { connected, failed } = bench.totals.connections();
    assert.deepEqual([connected, failed], [9, 1]);
  });

  it('counts a message that comes twice once, and a stranger’s not at all', async () => {
    await start();
    bench.hub.onMessage = (connection, message) => {
      if (message.type !== 1) return;
      const answer = { type: 1, target: 'RecordLatency', arguments: message.arguments } as const;
      connection.gets(answer, answer);
      const other = bench.hub.connections[(connection.index + 1) % 10]!;
      other.gets(answer);
    };
    const totals = await bench.step(1, overMs + 20);
    await bench.flush();
    const { received, duplicated, extra } = totals;
    assert.deepEqual(
      { received, duplicated, extra },
      { received: 100, duplicated: 100, extra: 100 },
    );
  });

  it('closes everything and says so last', async () => {
    await start();
    await bench.obeyed({ type: 'close' });
    assert.deepEqual([...new Set(bench.hub.opened.map(({ over }) => over))], ['closed']);
    assert.equal(bench.facts.at(-1), '0 closed');
    const { length } = bench.samples;
    await bench.time.to(bench.time.nowMs + 5000);
    assert.equal(bench.samples.length, length, 'nothing follows');
  });
});

const pingsIn = (messages: readonly { readonly type: number }[]): number =>
  messages.filter(({ type }) => type === 6).length;
