import assert from 'node:assert/strict';
import { startHub, withHub, type LoadHub } from '../fakes/loadHub';
import {
  assertConsistent,
  assertExact,
  assertUndisturbed,
  loadRun,
  onlyStep,
  type LoadResult,
  type LoadTest,
} from './loadRun';

/** 20 senders that open a stream of three items every 100 ms of half a second. */
const streams = 20 * 5;
const items = streams * 3;

function streamRun(
  target: string,
  parameters: Readonly<Record<string, unknown>> = {},
  more: Partial<LoadTest> = {},
): Promise<LoadResult> {
  return loadRun({
    target,
    useCase: 'streamingEcho',
    workers: 2,
    ...more,
    config: { warmup: '100ms', ...more.config },
    parameters: { sendingInterval: '100ms', streamingItemCount: 3, ...parameters },
  });
}

describe('streams against the embedded hub', function () {
  this.timeout(60_000);
  let hub: LoadHub;

  before(async () => {
    hub = await startHub();
  });
  after(() => hub.dispose());

  for (const [protocol, transport] of [
    ['json', 'Websockets'],
    ['messagepack', 'Websockets'],
    ['json', 'ServerSentEvents'],
    ['messagepack', 'LongPolling'],
  ] as const) {
    const config = { protocol, transport, skipNegotiation: transport === 'Websockets' };
    it(`up and down, only up, only down: exact counts, ${protocol} over ${transport}`, async () => {
      const both = await streamRun(hub.url, {}, { config });
      assertUndisturbed(both);
      assertExact(onlyStep(both), items, items);
      assert.equal(onlyStep(both).payloadBytesOut, items * 200);

      // The other transports carry all three in the tests against ASP.NET Core.
      if (transport !== 'Websockets') return;
      const up = await streamRun(hub.url, { streamDirection: 'upload' }, { config });
      assertUndisturbed(up);
      assertExact(onlyStep(up), items, streams);

      const down = await streamRun(hub.url, { streamDirection: 'download' }, { config });
      assertUndisturbed(down);
      assertExact(onlyStep(down), streams, items);
      assert.equal(onlyStep(down).payloadBytesOut, items * 200);
    });
  }

  it('items with a time of their own, as far as they are due in the step', async () => {
    // Of the six streams in 500 ms the last two have no room for the third item.
    const perSender = 3 + 3 + 3 + 2 + 1;
    const config = { warmup: 0 };
    const sizes = { messageSizes: '100B 90%, 1KB 10%', streamingItemSendDelay: '100ms' };
    const both = await streamRun(hub.url, sizes, { config });
    assertUndisturbed(both);
    const expected = onlyStep(both).expected;
    // Senders start one after the other within the interval, so that some have one item fewer.
    assert.ok(expected > 20 * (perSender - 3) && expected <= 20 * perSender, `${expected} items`);
    assertExact(onlyStep(both), expected, expected);
    // The hub waits as long again before it gives an item back.
    assert.ok(onlyStep(both).latencyUs.p50 >= 100_000, `${onlyStep(both).latencyUs.p50} us`);

    const down = await streamRun(hub.url, { ...sizes, streamDirection: 'download' }, { config });
    assertUndisturbed(down);
    assertExact(onlyStep(down), streams, expected);
    // Its items are due when the hub sends them.
    assert.ok(onlyStep(down).latencyUs.p50 < 100_000, `${onlyStep(down).latencyUs.p50} us`);
  });

  it('streams that are cancelled: the hub stops, and what comes all the same is extra', async () => {
    const config = { drain: '1s' };
    const few = { streamingItemCount: 50, streamingCancelAfter: 2 };
    // Far longer than a cancellation takes on its way, on a busy machine too.
    const pause = { streamingItemSendDelay: '300ms', sendingInterval: '300ms' };
    const down = await streamRun(
      hub.url,
      { ...few, ...pause, streamDirection: 'download' },
      { config: { ...config, singleStepDuration: '1500ms' }, workers: 1 },
    );
    assertUndisturbed(down);
    const step = onlyStep(down);
    assert.equal(step.sent, 20 * 5);
    assert.ok(step.expected > 20 * 5 && step.expected <= 20 * 10, `${step.expected} expected`);
    assert.equal(step.lost + step.duplicated + step.outOfOrder + step.extra, 0);

    // Without a pause all items come before the hub can read that they are not wanted.
    const both = await streamRun(hub.url, { ...few, streamingItemCount: 4 }, { config });
    assertUndisturbed(both);
    const { expected, received, extra, sent } = onlyStep(both);
    assert.deepEqual({ expected, received, sent }, { expected: 200, received: 200, sent: 400 });
    assert.ok(extra <= 200, `${extra} extra`);
  });
});

describe('what a target does wrong with streams is counted exactly', function () {
  this.timeout(60_000);
  /** Warm-up items are deliveries too, so the hub's every n-th is known only without them. */
  const config = { warmup: 0, drain: '700ms' };

  it('lost items', () =>
    withHub('--drop-every 7', async ({ url }) => {
      for (const streamDirection of ['both', 'download']) {
        const run = await streamRun(url, { streamDirection }, { config });
        const { expected, lost, duplicated, outOfOrder, extra } = onlyStep(run);
        assert.equal(expected, items);
        // Every seventh over both runs: 300 = 42 × 7 + 6.
        assert.equal(lost, streamDirection === 'both' ? 42 : 43);
        assert.equal(duplicated + outOfOrder + extra, 0);
        assertConsistent(run);
        assert.deepEqual(run.errors, {});
      }
    }));

  it('items and answers that come twice', () =>
    withHub('--dup-every 7', async ({ url }) => {
      for (const [streamDirection, expected, duplicated] of [
        ['both', items, 42],
        ['upload', streams, 15],
      ] as const) {
        const run = await streamRun(url, { streamDirection }, { config });
        const step = onlyStep(run);
        assert.equal(step.received, expected);
        // 300 = 42 × 7 + 6, and 6 + 100 = 15 × 7 + 1.
        assert.equal(step.duplicated, duplicated);
        assert.equal(step.lost + step.outOfOrder + step.extra, 0);
        assertConsistent(run);
      }
    }));

  it('answers that never come', () =>
    withHub('--drop-every 10', async ({ url }) => {
      const run = await streamRun(url, { streamDirection: 'upload' }, { config });
      const { expected, received, lost } = onlyStep(run);
      assert.deepEqual({ expected, received, lost }, { expected: 100, received: 90, lost: 10 });
      assertConsistent(run);
    }));

  it('connections that are closed in the middle of their streams', () =>
    withHub('--close-after 3', async ({ url }) => {
      const run = await streamRun(url, { streamingItemSendDelay: '20ms' }, { config });
      assert.equal(run.connections.dropped, 20);
      assert.deepEqual(run.errors, { closed: 20 });
      assertConsistent(run);
      const { extra, duplicated } = onlyStep(run);
      assert.equal(extra + duplicated, 0);
    }));
});
