import assert from 'node:assert/strict';
import type { HubMessage } from '../../../src/wire/message/hubMessage';
import { planOf } from '../../fakes/plan';
import { StreamBench } from '../../fakes/streamBench';

/** Two connections that send every 500 ms, streams of three items 100 ms apart. */
function bench(parameters: Readonly<Record<string, string | number>>, warmupMs = 0): StreamBench {
  const plan = planOf({
    connections: 2,
    useCase: 'invoke',
    parameters: {
      ...{ method: 'Count', arguments: '["{senderIndex}",7]', messageSize: 6 },
      ...{ sendingInterval: 500, streamingItemCount: 3, streamingItemSendDelay: 100 },
      ...{ reply: 'stream', ...parameters },
    },
  });
  return new StreamBench(undefined, plan, warmupMs);
}

const up = '[{"n":"{sequence}"},"of {senderIndex}"]';
const item = (invocationId: string, value: unknown = 1): HubMessage => ({
  type: 2,
  invocationId,
  item: value,
});
const isOpening = ({ type }: HubMessage): boolean => type === 4 || type === 1;

/** Whichever connection is first in this plan; the other is due half an interval later. */
function firstSender(test: StreamBench): number {
  test.to(0);
  return test.sent(0).length > 0 ? 0 : 1;
}

/** With the first stream of whoever is first. */
function opened(...how: Parameters<typeof bench>) {
  const test = bench(...how);
  const index = firstSender(test);
  return { test, index, invocationId: test.call(index).invocationId };
}

function assertCounts(
  { reported }: StreamBench,
  expected: number,
  received: number,
  extra: number,
): void {
  const { expected: owed, received: came, extra: more } = reported;
  assert.deepEqual([owed, came, more], [expected, received, extra]);
}

describe('streams of the own methods', () => {
  it('are asked for with the own arguments, under ids of their own', () => {
    const test = bench({});
    test.to(2000);
    for (const index of [0, 1]) {
      const messages = test.sent(index);
      assert.deepEqual(
        messages.filter(isOpening).map(({ type }) => type),
        [4, 4],
      );
      const [first, second] = [test.call(index), test.call(index, 1)];
      assert.deepEqual([first.target, first.arguments], ['Count', [index, 7]]);
      assert.equal(first.streamIds?.length ?? 0, 0);
      assert.notEqual(first.invocationId, second.invocationId);
    }
  });

  it('go up with the own items in turn, numbered by sender', () => {
    for (const reply of ['stream', 'completion']) {
      const test = bench({ reply, streamingItems: up });
      test.to(2000);
      const messages = test.sent(0);
      assert.equal(messages[0]!.type, reply === 'stream' ? 4 : 1);
      const [streamId] = test.call(0).streamIds!;
      const items = messages.filter((message) => message.type === 2);
      assert.deepEqual(
        items.slice(0, 4).map((message) => message.item),
        [{ n: 0 }, 'of 0', { n: 2 }, { n: 3 }],
      );
      assert.deepEqual(
        items.slice(0, 3).map(({ invocationId }) => invocationId),
        [streamId, streamId, streamId],
      );
      assert.equal(messages[4]!.type, 3);
    }
  });

  it('bring items that are distinguished by their order alone, whatever they hold', () => {
    const { test, index, invocationId } = opened({});
    for (const [position, value] of [5, null, { a: ['x'] }].entries()) {
      test.to(position * 100 + 10);
      test.hubSends(index, item(invocationId, value));
    }
    assertCounts(test, 3, 3, 0);
    // `5`, `null`, `{"a":["x"]}`
    assert.equal(test.counts.payloadBytesOut, 1 + 4 + 11);
    test.hubSends(index, { type: 3, invocationId });
    assert.deepEqual(test.errors, []);
    // Each came 10 ms after it was due.
    const { maxUs, pairs } = test.counts.sample()!.latency!;
    assert.ok(maxUs >= 9_900 && maxUs <= 10_100, `${maxUs} us`);
    assert.deepEqual([...pairs].slice(1), [3]);
  });

  it('read items that do not begin as usual', () => {
    const { test, index, invocationId } = opened({});
    const text = `{"item":[1],"invocationId":"${invocationId}","type":2}\x1e`;
    test.hubSendsText(index, text);
    assert.equal(test.reported['received'], 1);
  });

  it('end with an error when items are missing, and owe them', () => {
    const { test, index, invocationId } = opened({});
    test.hubSends(index, item(invocationId), { type: 3, invocationId });
    assert.deepEqual(test.errors, ['invocation: Count: completed after 1 of 3 items']);
    test.to(240);
    const { expected, received } = test.reported;
    assert.deepEqual({ expected, received }, { expected: 3, received: 1 });
  });

  it('count what comes beyond their number, after their end, or to nobody', () => {
    const { test, index, invocationId } = opened({});
    test.to(210);
    const one = item(invocationId);
    test.hubSends(index, one, one, one, one, { type: 3, invocationId }, one);
    assertCounts(test, 3, 3, 2);
    assert.deepEqual(test.errors, []);
  });

  it('that go up and down count what comes before its item went as extra, and no later one', () => {
    const { test, index, invocationId } = opened({ streamingItems: up });
    const back = item(invocationId);
    test.hubSends(index, back, back);
    assert.deepEqual([test.reported['received'], test.reported['extra']], [1, 1]);
    test.to(110);
    test.hubSends(index, back);
    test.to(210);
    test.hubSends(index, back, { type: 3, invocationId });
    assertCounts(test, 3, 3, 1);
    assert.deepEqual(test.errors, []);
    // From when each was sent: at once, 10 ms and 10 ms later.
    const { maxUs } = test.counts.sample()!.sendLatency!;
    assert.ok(maxUs >= 9_900 && maxUs <= 10_100, `${maxUs} us`);
  });

  it('do not count what comes of an ended stream in the warm-up', () => {
    const { test, index, invocationId } = opened({}, 5000);
    const one = item(invocationId);
    test.hubSends(index, one, one, one, one, { type: 3, invocationId }, one);
    assertCounts(test, 0, 0, 0);
  });

  it('report once items that come long before they are due', () => {
    const { test, index, invocationId } = opened({});
    const one = item(invocationId);
    test.to(60);
    // 60 ms late, and 40 ms and 140 ms early.
    test.hubSends(index, one, one);
    assert.deepEqual(test.errors, []);
    test.hubSends(index, one, { type: 3, invocationId });
    assert.equal(test.errors.length, 1);
    assert.match(test.errors[0]!, /^other: Count: an item came 140 ms before it was due; /);
  });

  it('do not take items of the other direction: an upload brings none', () => {
    const { test, index, invocationId } = opened({ reply: 'completion', streamingItems: up });
    test.to(210);
    test.hubSends(index, { type: 3, invocationId, result: 'whatever' });
    assertCounts(test, 1, 1, 0);
    assert.deepEqual(test.errors, []);
  });

  it('are cancelled with the wanted item, even if that is the last', () => {
    for (const streamingCancelAfter of [2, 3]) {
      const { test, index, invocationId } = opened({ streamingCancelAfter });
      for (let count = 0; count < streamingCancelAfter; count++) {
        assert.ok(test.sent(index).every(({ type }) => type !== 5));
        test.to(count * 100 + 10);
        test.hubSends(index, item(invocationId));
      }
      assert.deepEqual(test.sent(index).at(-1), { type: 5, invocationId });
      // .NET ends a cancelled stream with an error.
      test.hubSends(index, { type: 3, invocationId, error: 'cancelled' });
      assert.deepEqual(test.errors, []);
      assert.equal(test.reported['expected'], streamingCancelAfter);
    }
  });

  it('that reach beyond the step are cancelled, and nothing more of them counts', () => {
    const test = bench({ streamingItemCount: 50 });
    assert.deepEqual(test.to(1000), ['done']);
    const index = 0;
    const { invocationId } = test.call(index);
    const before = test.reported['expected']!;
    const due = Math.round(before / 4);
    for (let count = 0; count < 50; count++) test.hubSends(index, item(invocationId));
    assert.deepEqual(test.sent(index).at(-1), { type: 5, invocationId });
    const { expected, extra, received } = test.reported;
    assert.equal(expected, before);
    assert.equal(extra, 0);
    assert.ok(received! >= due && received! <= 10, `${received} received`);
  });

  it('that are halted still count what was due, and are asked to end', () => {
    const down = bench({});
    const index = firstSender(down);
    const { invocationId } = down.call(index);
    down.to(110);
    down.sender.halt();
    down.hubSends(index, item(invocationId));
    assert.ok(down.sent(index).every(({ type }) => type !== 5));
    down.hubSends(index, item(invocationId));
    assert.deepEqual(down.sent(index).at(-1), { type: 5, invocationId });
    // On its way before the hub could know.
    down.hubSends(index, item(invocationId), { type: 3, invocationId });
    const reported = { offered: 1, sent: 1, expected: 2, received: 2, extra: 0, duplicated: 0 };
    assert.deepEqual(down.reported, reported);
    assert.deepEqual(down.errors, []);

    const both = bench({ streamingItems: up });
    const first = firstSender(both);
    const call = both.call(first);
    both.to(110);
    both.sender.halt();
    assert.deepEqual(both.sent(first).at(-1), { type: 3, invocationId: call.streamIds![0] });
    const back = item(call.invocationId);
    both.hubSends(first, back, back, { type: 3, invocationId: call.invocationId });
    assert.deepEqual(both.reported, { ...reported, offered: 2, sent: 2 });
    assert.deepEqual(both.errors, []);
  });

  it('of a connection that is about to go still count what was due before', () => {
    const { test, index, invocationId } = opened({});
    test.to(90);
    // It takes part no more, and is closed a moment later.
    test.leaving.add(index);
    test.to(240);
    test.hubSends(index, item(invocationId));
    assert.deepEqual(test.sent(index).at(-1), { type: 5, invocationId });
    test.hubSends(index, item(invocationId), { type: 3, invocationId });
    assertCounts(test, 1, 1, 0);
    assert.deepEqual(test.errors, []);
  });

  it('keep what came early when the connection is lost or the run is halted', () => {
    for (const end of ['lost', 'halt'] as const) {
      const { test, index, invocationId } = opened({});
      test.hubSends(index, item(invocationId), item(invocationId));
      if (end === 'halt') test.sender.halt();
      else test.sender.lost(index);
      assertCounts(test, 2, 2, 0);
    }
  });

  it('that are given up still count what comes, as long as nothing else is in their place', () => {
    const { test, index, invocationId } = opened({});
    test.to(4000);
    test.hubSends(index, item(invocationId));
    // The clock begins again with what comes.
    const ofFirst = () => test.sent(index).filter((message) => message.type === 5)[0];
    test.to(9000);
    assert.notEqual((ofFirst() as { invocationId?: string }).invocationId, invocationId);
    test.to(9500);
    assert.ok(
      test
        .sent(index)
        .some((message) => message.type === 5 && message.invocationId === invocationId),
    );
    const { received = 0 } = test.reported;
    test.hubSends(index, item(invocationId), item(invocationId), item(invocationId));
    const { received: later, extra } = test.reported;
    assert.deepEqual([later, extra], [received + 2, 1]);
  });
});
