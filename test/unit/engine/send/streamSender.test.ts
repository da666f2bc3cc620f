import assert from 'node:assert/strict';
import type { HubMessage, StreamItem } from '../../../../src/wire/message/hubMessage';
import { emptyStamp, readStamp } from '../../../../src/wire/message/stamp';
import { startUs, StreamBench } from '../../../fakes/streamBench';

const ms = 1000;
const types = (messages: readonly HubMessage[]): number[] => messages.map(({ type }) => type);

describe('StreamSender', () => {
  it('sends each item at its time, in streams with ids of their own, and none after the step', () => {
    const bench = new StreamBench();
    assert.deepEqual(bench.to(2000), ['done']);
    // At 0 and 500 ms; the other connection at 250 and 750 ms, whose third item is due at 950 ms.
    assert.deepEqual(types(bench.sent(0)), [4, 2, 2, 2, 3, 4, 2, 2, 2, 3]);
    const calls = [0, 1].flatMap((index) => [bench.call(index), bench.call(index, 1)]);
    assert.equal(new Set(calls.slice(0, 2).map(({ invocationId }) => invocationId)).size, 2);
    for (const { target, arguments: args, invocationId, streamIds } of calls) {
      assert.deepEqual([target, args], ['StreamingEcho', [100]]);
      assert.notEqual(streamIds![0], invocationId);
    }
    const stamp = emptyStamp();
    const dues = bench.echoes(0).map(({ item }, at) => {
      const text = (item as Record<string, string>)['bench.Stamp']!;
      assert.ok(readStamp(Buffer.from(text), 0, stamp));
      assert.equal(stamp.sequence, at % 3, 'counted within each of the open streams');
      return stamp.intendedUs - Math.floor(startUs);
    });
    assert.ok(dues[0] === 0 || dues[0] === 250 * ms);
    assert.deepEqual(
      dues.map((due) => due - dues[0]!),
      [0, 100, 200, 500, 600, 700].map((at) => at * ms),
    );
    assert.equal(bench.counts.sent, 12);
    for (const index of [0, 1]) bench.hubSends(index, ...bench.echoes(index));
    assert.deepEqual(bench.reported, {
      ...{ offered: 12, sent: 12, expected: 12, received: 12, extra: 0, duplicated: 0 },
    });
  });

  it('leaves out items that are due after the end of the step', () => {
    for (const [streamDirection, sent] of [
      ['both', 2 * 4 + 2 + 3],
      ['download', 4],
    ] as const) {
      const bench = new StreamBench({ streamingItemCount: 4, streamDirection });
      bench.to(2000);
      // At 750, 850 and 950 ms: three of four.
      assert.equal(bench.counts.expected, 4 + 4 + 4 + 3);
      if (streamDirection === 'download') assert.equal(bench.counts.sent, sent);
      const asked = [0, 1].map((index) => bench.call(index, 1).arguments[1] as number);
      if (streamDirection === 'download')
        assert.deepEqual(
          asked.sort((a, b) => a - b),
          [3, 4],
        );
    }
  });

  it('counts items that the hub makes by their own times', () => {
    const bench = new StreamBench({ streamDirection: 'download' });
    bench.to(100);
    const index = bench.connections.findIndex(({ frames }) => frames.length > 0);
    const { invocationId, arguments: args } = bench.call(index);
    assert.deepEqual(args.slice(1), [3, 100]);
    const item = (number: number): StreamItem => ({
      type: 2,
      invocationId,
      item: { 'bench.Item': number.toString(16).padStart(8, '0'), ...(args[0] as object) },
    });
    bench.hubSends(index, item(0), item(1), item(1));
    bench.to(230);
    // Nobody asked for the fourth; one without a number is none of them.
    const bare = { ...item(2), item: args[0] };
    bench.hubSends(index, item(2), item(3), item(0xffffffff), bare, { type: 3, invocationId });
    assert.deepEqual(bench.errors, []);
    assert.deepEqual(bench.reported, {
      ...{ offered: 1, sent: 1, expected: 3, received: 3, extra: 3, duplicated: 1 },
    });
    assert.equal(bench.counts.outOfOrder, 0);
    const latency = bench.counts.sample()!.latency!;
    assert.ok(latency.maxUs >= 99_000 && latency.maxUs <= 101_000, `${latency.maxUs} us`);
  });

  it('takes the answer of an upload for its delivery', () => {
    const bench = new StreamBench({ streamDirection: 'upload' });
    bench.to(480);
    for (const index of [0, 1]) {
      const { type, invocationId, streamIds } = bench.call(index);
      assert.equal(type, 1);
      assert.equal(streamIds!.length, 1);
      const answer = { type: 3, invocationId, result: index === 0 ? 3 : 2 } as const;
      bench.hubSends(index, answer, answer);
    }
    assert.deepEqual(bench.errors, ['invocation: StreamingUpload: the hub counted 2 of 3 items']);
    assert.deepEqual(bench.reported, {
      ...{ offered: 6, sent: 6, expected: 2, received: 1, extra: 0, duplicated: 1 },
    });
  });

  it('cancels behind the last item that is wanted; what comes later is extra', () => {
    const bench = new StreamBench({ streamingItemCount: 10, streamingCancelAfter: 2 });
    bench.to(220);
    const index = bench.connections.findIndex(({ frames }) => frames.length > 0);
    assert.deepEqual(types(bench.sent(index)), [4, 2, 2, 2]);
    bench.hubSends(index, ...bench.echoes(index));
    assert.deepEqual(types(bench.sent(index)), [4, 2, 2, 2, 5]);
    bench.hubSends(index, { type: 3, invocationId: bench.call(index).invocationId, error: 'off' });
    bench.to(450);
    assert.deepEqual(types(bench.sent(index)), [4, 2, 2, 2, 5]);
    assert.deepEqual(bench.errors, []);
    const { expected, received, extra } = bench.counts;
    assert.deepEqual(
      [expected - (bench.sent(1 - index).length > 0 ? 2 : 0), received, extra],
      [2, 2, 1],
    );
  });

  it('gives up streams that are never completed, once each, and takes late answers', () => {
    const bench = new StreamBench({ streamDirection: 'upload' });
    bench.to(8000);
    assert.equal(bench.errors.length, 4);
    assert.match(bench.errors[0]!, /^timeout: StreamingUpload: .* not completed within 5 s/);
    assert.deepEqual(types(bench.sent(0)).slice(-1), [5]);
    assert.equal(bench.sender.nextUs, Infinity);
    bench.hubSends(0, { type: 3, invocationId: bench.call(0, 1).invocationId, result: 3 });
    assert.deepEqual([bench.counts.expected, bench.counts.received], [4, 1]);
  });

  it('owes what a hub ends too early or with an error', () => {
    const bench = new StreamBench();
    bench.to(120);
    const index = bench.connections.findIndex(({ frames }) => frames.length > 0);
    const { invocationId } = bench.call(index);
    bench.hubSends(index, { type: 3, invocationId, error: 'Method does not exist.' });
    bench.hubSends(index, { type: 3, invocationId: 'i99999999' }, { type: 3, invocationId });
    bench.to(240);
    assert.deepEqual(types(bench.sent(index)), [4, 2, 2]);
    assert.deepEqual(bench.errors, ['invocation: Method does not exist.']);
    assert.deepEqual([bench.counts.sent, bench.counts.expected], [2, 3]);
  });

  it('opens a hundred streams of a connection, and owes the others', () => {
    const bench = new StreamBench({ sendingInterval: 4, streamingItemSendDelay: 0 });
    bench.to(1000);
    assert.equal(types(bench.sent(0)).filter((type) => type === 4).length, 100);
    assert.equal(bench.errors.length, 500 - 200);
    assert.match(
      bench.errors[0]!,
      /^timeout: StreamingEcho: 100 streams of a connection were open/,
    );
    assert.deepEqual([bench.counts.sent, bench.counts.expected], [200 * 3, 500 * 3]);
  });

  it('forgets the streams of a lost connection, also of one that is lost by sending', () => {
    const bench = new StreamBench({ streamDirection: 'download' });
    bench.to(120);
    const index = bench.connections.findIndex(({ frames }) => frames.length > 0);
    bench.connections[index]!.isOpen = false;
    bench.sender.lost(index);
    assert.equal(bench.counts.expected, 2, 'what was due until then');
    bench.to(240);
    assert.equal(bench.counts.expected, 2);
    const sending = new StreamBench();
    for (const connection of sending.connections) {
      connection.send = () => {
        connection.isOpen = false;
        sending.sender.lost(connection.index);
        return false;
      };
    }
    assert.deepEqual(sending.to(2000), ['done']);
    assert.equal(sending.counts.sent, 0);
  });

  it('stops when the run is halted, and the hub too: what it still makes is extra', () => {
    const bench = new StreamBench({ streamDirection: 'download' });
    bench.to(120);
    const index = bench.connections.findIndex(({ frames }) => frames.length > 0);
    bench.sender.halt();
    assert.equal(bench.sender.pump(), 'idle');
    assert.deepEqual(bench.sent(index).at(-1), {
      type: 5,
      invocationId: bench.call(index).invocationId,
    });
    bench.nowUs += 100 * ms;
    const { invocationId, arguments: args } = bench.call(index);
    const numbers = ['00000000', '00000001', '00000002'];
    const items = numbers.map((number) => ({ 'bench.Item': number, ...(args[0] as object) }));
    bench.hubSends(index, ...items.map((item) => ({ type: 2, invocationId, item }) as const));
    const { expected, received, extra } = bench.counts;
    assert.deepEqual({ expected, received, extra }, { expected: 2, received: 2, extra: 1 });
  });

  it('counts a backlog that cannot be worked off as offered', () => {
    for (const [streamDirection, offered] of [
      ['both', 12],
      ['download', 4],
    ] as const) {
      const bench = new StreamBench({ streamDirection });
      bench.nowUs = startUs + 5_000_000;
      assert.equal(bench.sender.pump(), 'done');
      assert.deepEqual([bench.counts.offered, bench.counts.sent], [offered, 0]);
    }
  });

  it('learns how another server writes its items', () => {
    const bench = new StreamBench();
    bench.to(40);
    const index = bench.connections.findIndex(({ frames }) => frames.length > 0);
    const [{ invocationId, item }] = bench.echoes(index) as [StreamItem];
    const swapped = { item, type: 2, invocationId } as const;
    const headed = { type: 2, headers: {}, invocationId, item } as const;
    bench.hubSends(index, swapped, headed, headed);
    assert.deepEqual([bench.counts.received, bench.counts.duplicated], [1, 2]);
  });
});
