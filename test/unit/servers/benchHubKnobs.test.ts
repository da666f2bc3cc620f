import assert from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { startBenchHub, type BenchHub } from '../../../src/servers/hub/benchHub';
import type { BenchHubOptions } from '../../../src/servers/hub/benchHubOptions';
import { RawClient, upgradeStatus } from './rawClient';

const call = {
  type: 4,
  invocationId: '1',
  target: 'StreamingEcho',
  arguments: [0],
  streamIds: ['s'],
};
const item = (n: number): object => ({ type: 2, invocationId: 's', item: { n } });
const uploaded = { type: 3, invocationId: 's' };

describe('bench hub knobs', () => {
  let hub: BenchHub;
  const start = async (options: BenchHubOptions): Promise<RawClient> => {
    hub = await startBenchHub(options);
    return RawClient.connect(hub.url);
  };
  afterEach(() => hub.dispose());

  /** Numbers of the payloads received until the hub has nothing more for this client. */
  async function received(client: RawClient): Promise<unknown[]> {
    const messages = await client.settle();
    return messages.map(({ arguments: args }) => (args?.[0] as { n: number } | undefined)?.n);
  }

  it('--drop-every loses exactly every n-th delivery', async () => {
    const client = await start({ dropEvery: 3 });
    for (let n = 1; n <= 10; n++) client.send('Echo', { n });
    assert.deepEqual(await received(client), [1, 2, 4, 5, 7, 8, 10]);
    assert.equal(hub.counts.deliveries, 10);
    assert.equal(hub.counts.dropped, 3);
  });

  it('--dup-every doubles exactly every n-th delivery', async () => {
    const client = await start({ dupEvery: 4 });
    for (let n = 1; n <= 9; n++) client.send('Echo', { n });
    assert.deepEqual(await received(client), [1, 2, 3, 4, 4, 5, 6, 7, 8, 8, 9]);
    assert.equal(hub.counts.duplicated, 2);
  });

  it('deliveries of a broadcast are counted one by one over all receivers', async () => {
    const a = await start({ dropEvery: 2, dupEvery: 3 });
    const b = await RawClient.connect(hub.url);
    for (let n = 1; n <= 3; n++) a.send('Broadcast', { n });
    // 1:a 2:b dropped 3:a twice 4:b dropped 5:a 6:b dropped
    assert.deepEqual(await received(a), [1, 2, 2, 3]);
    assert.deepEqual(await received(b), []);
  });

  it('--delay holds deliveries and their completions back, in order, and nothing else', async () => {
    const client = await start({ delayMs: 50 });
    const startMs = performance.now();
    client.sendJson({ type: 1, invocationId: '1', target: 'Echo', arguments: [{ n: 1 }] });
    client.send('Echo', { n: 2 });
    client.sendJson({ type: 1, invocationId: '2', target: 'GetConnectionId', arguments: [] });
    assert.equal((await client.message()).invocationId, '2');
    assert.deepEqual((await client.message()).arguments, [{ n: 1 }]);
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs >= 50, `${tookMs} ms`);
    assert.equal((await client.message()).invocationId, '1');
    assert.deepEqual((await client.message()).arguments, [{ n: 2 }]);
  });

  it('--delay of 50 ms is 50 ms, not a few more', async () => {
    const client = await start({ delayMs: 50 });
    const tookMs: number[] = [];
    const sentMs: number[] = [];
    const arrived = (async () => {
      while (tookMs.length < 60) {
        await client.text();
        tookMs.push(performance.now() - (sentMs[tookMs.length] ?? 0));
      }
    })();
    while (sentMs.length < 60) {
      sentMs.push(performance.now());
      client.send('Echo', {});
      await new Promise((resolve) => setTimeout(resolve, 7));
    }
    await arrived;
    // The fastest is what a busy machine lets be.
    const fastestMs = Math.min(...tookMs);
    assert.ok(fastestMs >= 50 && fastestMs < 53, `fastest ${fastestMs} ms`);
  });

  it('--capacity lets deliveries leave one after the other, in order', async () => {
    const client = await start({ capacity: { perSecond: 100 } });
    const startMs = performance.now();
    for (let n = 1; n <= 6; n++) client.send('Echo', { n });
    for (let n = 1; n <= 6; n++) assert.deepEqual((await client.message()).arguments, [{ n }]);
    // The sixth waits for five turns of 10 ms.
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs >= 50, `${tookMs} ms`);
    assert.equal(hub.counts.dropped, 0);
  });

  it('--capacity with a longest wait never sends what would wait longer', async () => {
    const client = await start({ capacity: { perSecond: 0.001, mostWaitMs: 500 } });
    for (let n = 1; n <= 6; n++) client.send('Echo', { n });
    assert.deepEqual(await received(client), [1]);
    assert.deepEqual([hub.counts.deliveries, hub.counts.dropped], [6, 5]);
  });

  it('--stall stops once and then serves everything in order', async () => {
    const client = await start({ stall: { afterMs: 50, forMs: 300 } });
    const other = await RawClient.connect(hub.url);
    const arrivals: number[] = [];
    const startMs = performance.now();
    let sent = 0;
    const timer = setInterval(() => client.send('Echo', { n: ++sent }), 10);
    while (performance.now() - startMs < 500) {
      const { arguments: args } = await client.message();
      assert.deepEqual(args, [{ n: arrivals.length + 1 }]);
      arrivals.push(performance.now() - startMs);
    }
    clearInterval(timer);
    const gaps = arrivals.map((at, index) => at - (arrivals[index - 1] ?? 0));
    const longest = Math.max(...gaps);
    assert.ok(longest > 270 && longest < 450, `longest gap ${longest} ms`);
    const pending = await client.settle();
    assert.equal(arrivals.length + pending.length, sent, 'nothing is lost');
    assert.deepEqual(await other.settle(), []);
  });

  it('a stall also holds delayed deliveries back', async () => {
    const client = await start({ delayMs: 30, stall: { afterMs: 10, forMs: 200 } });
    const startMs = performance.now();
    client.send('Echo', { n: 1 });
    await client.message();
    assert.ok(performance.now() - startMs >= 200);
    assert.equal(hub.connectionCount, 1);
  });

  it('items of a stream are deliveries: dropped and doubled', async () => {
    const client = await start({ dropEvery: 3, dupEvery: 4 });
    client.sendJson(call, ...[1, 2, 3, 4, 5, 6].map(item), uploaded);
    const messages = await client.settle();
    assert.deepEqual(
      messages.map((message) => (message.item as { n: number } | undefined)?.n),
      [1, 2, 4, 4, 5, undefined],
    );
    assert.deepEqual(messages.at(-1), { type: 3, invocationId: '1' });
    assert.deepEqual([hub.counts.deliveries, hub.counts.dropped, hub.counts.duplicated], [6, 2, 1]);
    assert.equal(hub.counts.invocations, 2, 'the stream, and the call behind it');
  });

  it('--delay holds items and the completion of their stream back, in order', async () => {
    const client = await start({ delayMs: 50 });
    const startMs = performance.now();
    client.sendJson(call, item(1), item(2), uploaded);
    assert.deepEqual((await client.message()).item, { n: 1 });
    assert.ok(performance.now() - startMs >= 50);
    assert.deepEqual((await client.message()).item, { n: 2 });
    assert.deepEqual(await client.message(), { type: 3, invocationId: '1' });
  });

  it('--stall starts with the first item and holds items whose own delay ends in it', async () => {
    const client = await start({ stall: { afterMs: 30, forMs: 200 } });
    client.sendJson({ ...call, arguments: [60] });
    await new Promise((resolve) => setTimeout(resolve, 60));
    assert.deepEqual(await client.settle(), [], 'no stall before the first item');
    const startMs = performance.now();
    client.sendJson(item(1), item(2), uploaded);
    assert.deepEqual((await client.message()).item, { n: 1 });
    const tookMs = performance.now() - startMs;
    assert.ok(tookMs >= 220 && tookMs < 600, `${tookMs} ms`);
    assert.deepEqual((await client.message()).item, { n: 2 });
    assert.equal((await client.message()).type, 3);
    assert.deepEqual(await client.settle(), []);
  });

  it('--close-after serves n invocations of each connection, then closes with a reason', async () => {
    const client = await start({ closeAfter: 3 });
    const other = await RawClient.connect(hub.url);
    client.sendJson(...[1, 2, 3, 4].map((n) => ({ type: 1, target: 'Echo', arguments: [{ n }] })));
    assert.equal(await client.closed, 1000);
    const messages = client.texts.map(
      (text) => JSON.parse(text) as { type: number; error?: string; allowReconnect?: boolean },
    );
    assert.deepEqual(
      messages.map(({ type }) => type),
      [1, 1, 1, 7],
    );
    assert.match(messages[3]?.error ?? '', /after 3 invocations/);
    assert.equal(messages[3]?.allowReconnect, true);
    assert.equal(hub.counts.invocations, 3);
    assert.deepEqual(await other.settle(), []);
  });

  it('--refuse and --throttle turn away the first connects, negotiated or direct', async () => {
    hub = await startBenchHub({ refuse: 2, throttle: { count: 2, retryAfterS: 3 } });
    const negotiate = (): Promise<Response> =>
      fetch(`${hub.url}/negotiate?negotiateVersion=1`, { method: 'POST' });
    assert.equal((await negotiate()).status, 503);
    assert.equal(await upgradeStatus(hub.url), 503);
    const throttled = await negotiate();
    assert.equal(throttled.status, 429);
    assert.equal(throttled.headers.get('retry-after'), '3');
    assert.equal(await upgradeStatus(hub.url), 429);
    const { connectionToken } = (await (await negotiate()).json()) as { connectionToken: string };
    await RawClient.connect(`${hub.url}?id=${connectionToken}`);
    await RawClient.connect(hub.url);
    assert.equal(hub.counts.refused, 2);
    assert.equal(hub.counts.throttled, 2);
  });

  it('--refuse all refuses for ever', async () => {
    hub = await startBenchHub({ refuse: Infinity });
    for (let n = 0; n < 5; n++) assert.equal(await upgradeStatus(hub.url), 503);
  });
});
