import assert from 'node:assert/strict';
import { startBenchHub, type BenchHub } from '../../../src/servers/hub/benchHub';
import type { BenchHubOptions } from '../../../src/servers/hub/benchHubOptions';
import { VirtualTime } from '../../fakes/virtualTime';
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
  let time: VirtualTime;
  beforeEach(() => (time = new VirtualTime()));
  const start = async (options: BenchHubOptions): Promise<RawClient> => {
    hub = await startBenchHub(options);
    return RawClient.connect(hub.url);
  };
  afterEach(async () => {
    time.restore();
    await hub.dispose();
  });

  /** Numbers of the payloads received until the hub has nothing more for this client. */
  async function received(client: RawClient): Promise<unknown[]> {
    const messages = await client.settle();
    return messages.map(({ arguments: args }) => (args?.[0] as { n: number } | undefined)?.n);
  }

  it('deliveries of a broadcast are counted one by one over all receivers', async () => {
    const a = await start({ dropEvery: 2, dupEvery: 3 });
    const b = await RawClient.connect(hub.url);
    for (let n = 1; n <= 3; n++) a.send('Broadcast', { n });
    // 1:a 2:b dropped 3:a twice 4:b dropped 5:a 6:b dropped
    assert.deepEqual(await received(a), [1, 2, 2, 3]);
    assert.deepEqual(await received(b), []);
  });

  it('--delay holds deliveries and their completions back, in order, and nothing else', async () => {
    time.install();
    const client = await start({ delayMs: 50 });
    client.sendJson({ type: 1, invocationId: '1', target: 'Echo', arguments: [{ n: 1 }] });
    client.send('Echo', { n: 2 });
    assert.deepEqual(await client.settle(), []);
    await time.to(50);
    assert.deepEqual((await client.message()).arguments, [{ n: 1 }]);
    assert.equal((await client.message()).invocationId, '1');
    assert.deepEqual((await client.message()).arguments, [{ n: 2 }]);
  });

  it('--stall stops once, reads nothing meanwhile, and then serves everything in order', async () => {
    time.install();
    const client = await start({ stall: { afterMs: 50, forMs: 300 } });
    const other = await RawClient.connect(hub.url);
    client.send('Echo', { n: 1 });
    assert.deepEqual((await client.message()).arguments, [{ n: 1 }]);
    await time.to(50);
    for (const n of [2, 3]) client.send('Echo', { n });
    await time.to(349);
    // What has come before this request would have been read.
    assert.equal((await fetch(hub.url, { method: 'PUT' })).status, 405);
    assert.equal(hub.counts.invocations, 1);
    await time.to(350);
    assert.deepEqual(await received(client), [2, 3]);
    assert.deepEqual(await other.settle(), []);
    assert.equal(hub.connectionCount, 2);
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
    time.install();
    const client = await start({ delayMs: 50 });
    client.sendJson(call, item(1), item(2), uploaded);
    assert.deepEqual(await client.settle(), []);
    await time.to(50);
    assert.deepEqual((await client.message()).item, { n: 1 });
    assert.deepEqual((await client.message()).item, { n: 2 });
    assert.deepEqual(await client.message(), { type: 3, invocationId: '1' });
  });

  it('--stall starts with the first item and holds items whose own delay ends in it', async () => {
    time.install();
    const client = await start({ stall: { afterMs: 30, forMs: 200 } });
    client.sendJson({ ...call, arguments: [60] });
    await client.settle();
    await time.to(60);
    assert.deepEqual(await client.settle(), [], 'no stall before the first item');
    client.sendJson(item(1), item(2), uploaded);
    await client.settle();
    await time.to(60 + 30 + 199);
    assert.equal(hub.counts.deliveries, 0);
    await time.to(60 + 30 + 200);
    assert.deepEqual((await client.message()).item, { n: 1 });
    await time.to(60 + 30 + 200 + 60);
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
